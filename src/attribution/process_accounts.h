#pragma once
// ProcessAccounts: the accounts of processes. If two processes would have the same labels (a reused pid), only the
// younger one is listed. Pure; collection thread only.
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "attribution/accounts.h"
#include "base/ids.h"

namespace kepler::attribution {

class ProcessAccounts : public Accounts<snapshot::ProcessIdentity> {
 public:
  using IdentityPtr = std::shared_ptr<const snapshot::ProcessIdentity>;
  using Accounts::Accounts;

  /// Opens the account of a living process at 0. An ended process with the same labels departs.
  Row OpenLiving(IdentityPtr identity, const Groups& groups, bool kernel_thread, uint32_t uid);
  /// Opens an account that represents other processes and never ends.
  Row OpenLasting(IdentityPtr identity) { return OpenAccount(std::move(identity), {}); }
  /// Opens the account of a process that has already ended, and calls EndLater() for it.
  Row OpenEnded(IdentityPtr identity, const Groups& groups);
  [[nodiscard]] const Groups& groups(Row process) const { return groups_[process]; }
  /// The user of its next charges; kUnknownUid by default.
  void SetUid(Row process, uint32_t uid) { uids_[process] = uid; }
  [[nodiscard]] uint32_t uid(Row process) const { return uids_[process]; }
  [[nodiscard]] bool kernel_thread(Row process) const { return kernel_threads_[process] != 0; }
  /// Call if the labels or the groups changed. The series departs now, or ends if the policy keeps it.
  void Close(Row process);
  /// Call if the process has ended. EndAll() ends the account, after the last slice was charged.
  void EndLater(Row process);
  /// Processes for which EndLater() was called.
  [[nodiscard]] std::span<const Row> ending() const { return ending_; }
  /// Ends these processes, and the listing of ended processes after their retention.
  void EndAll(BootTime now, size_t primary_zone);

 private:
  using TerminatedPids = std::unordered_multimap<int32_t, Row>;

  Row OpenAccount(IdentityPtr identity, const Groups& groups);
  void ForgetLiving(Row process);
  void ForgetTerminated(Row process);
  [[nodiscard]] TerminatedPids::iterator FindTerminatedTwin(const snapshot::ProcessIdentity& labels);
  [[nodiscard]] bool IsReused(const snapshot::ProcessIdentity& labels);

  std::vector<Groups> groups_;           // by row
  std::vector<uint8_t> kernel_threads_;  // by row
  std::vector<uint32_t> uids_;           // by row
  boost::unordered_flat_map<int32_t, Row> living_pids_;
  TerminatedPids terminated_pids_;
  std::vector<Row> ending_;
};

}  // namespace kepler::attribution
