#pragma once
// ProcessAccounts: the accounts of processes. Of two that would share their labels (a pid that was used again) only the
// younger is listed. Pure; collection thread only.
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "attribution/accounts.h"

namespace kepler::attribution {

class ProcessAccounts : public Accounts<snapshot::ProcessIdentity> {
 public:
  using IdentityPtr = std::shared_ptr<const snapshot::ProcessIdentity>;
  using Accounts::Accounts;

  /// One that lives, with an account that starts at 0. An ended one that is still listed under its labels departs.
  Row OpenLiving(IdentityPtr identity, const Groups& groups, bool kernel_thread);
  /// One that stands for others, as long as the agent runs.
  Row OpenLasting(IdentityPtr identity) { return OpenAccount(std::move(identity), {}); }
  /// One that has come and gone: EndLater() is called for it too.
  Row OpenEnded(IdentityPtr identity, const Groups& groups);
  [[nodiscard]] const Groups& groups(Row process) const { return groups_[process]; }
  [[nodiscard]] bool kernel_thread(Row process) const { return kernel_threads_[process] != 0; }
  /// Its labels or its groups changed: its series departs now.
  void Close(Row process);
  /// It is gone; takes effect in EndAll(), after its last slice was charged.
  void EndLater(Row process);
  /// Those of EndLater().
  [[nodiscard]] std::span<const Row> ending() const { return ending_; }
  /// Ends those of EndLater(), and the listing of those whose time is over.
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
  boost::unordered_flat_map<int32_t, Row> living_pids_;
  TerminatedPids terminated_pids_;
  std::vector<Row> ending_;
};

}  // namespace kepler::attribution
