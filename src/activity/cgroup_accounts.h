#pragma once
// CgroupAccounts: the cgroup trees of the machine as one book. One tree is the main one and holds every process; where
// the kernel has two that count the same time (hybrid), the second is only a carve-out: containers that no line of the
// main tree names. What is given out there is known to the main tree, so nothing is counted twice.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "activity/activity_source.h"
#include "activity/cgroup_ledger.h"
#include "activity/membership.h"
#include "cgroup/tree.h"

namespace kepler::activity {

/// What the sources differ in.
struct AccountRules {
  /// Memberships have the paths of the trees; else those of /proc/PID/cgroup, as this process sees them.
  bool paths_of_trees = false;
  /// Residuals are how the source knows of short-lived processes; else they are what its records should have told.
  bool residual_is_known = true;
  /// Less is left for a later time.
  Nanoseconds min_residual{1};
  /// So long a residual may be doubted before it is none.
  Nanoseconds doubt_for{0};
  /// Of the first cgroup.
  uint32_t first_number = 1;
};

enum class Residuals : uint8_t {
  kGiven,
  kDoubted  // kept for a later look, and forgotten once none has given it for long enough
};

class CgroupAccounts {
 public:
  /// Less than that is no base for a ratio: clocks and usages are read some milliseconds apart.
  static constexpr Nanoseconds kMinCompared = std::chrono::seconds(1);

  /// `own`: our own membership in <procfs>/self/cgroup, for cgroup::Paths.
  CgroupAccounts(const cgroup::Trees& trees, const os::CgroupMembership& own, int32_t own_pid,
                 const AccountRules& rules = {});

  /// False: there is no tree that could be used, and nothing is given out.
  [[nodiscard]] bool any() const { return main_ != nullptr; }
  /// First thing of a look: before the clocks of the processes. Appends the numbers of cgroups that are gone.
  void ReadUsages(BootTime now, snapshot::ActivityStatus& status, std::vector<uint32_t>& gone);
  /// A process of `membership` used `time`.
  void Book(Membership& membership, Nanoseconds time);
  /// Somebody used `time` in an unknown cgroup: the topmost one answers for it.
  void BookRoot(Nanoseconds time) {
    if (main_) main_->AddKnown(CgroupLedger::kRoot, time);
  }
  /// A record has come for `time` that may have been given out as residual: how much of it was, and is settled now.
  [[nodiscard]] Nanoseconds Repay(Membership& membership, Nanoseconds time);
  /// Last thing of a look: residuals of what was read, less what was booked. Returns the sum of those given.
  Nanoseconds Settle(std::span<Membership> memberships, ActivitySample& out, Residuals residuals = Residuals::kGiven);

  [[nodiscard]] const snapshot::AuditStatus& audit() const { return audit_; }
  [[nodiscard]] std::span<const LivingCgroup> living() const { return living_; }
  /// While v1 lines of a dying process read "/", its first look cannot tell whose time it is.
  [[nodiscard]] bool has_cpuacct() const { return main_ && main_version_ == cgroup::Version::kCpuacct; }

 private:
  std::unique_ptr<CgroupLedger> MakeLedger(const cgroup::Tree& tree, const os::CgroupMembership& own, int32_t own_pid,
                                           CgroupLedger::Scope scope);
  /// `add`: cgroups that the walk has not met are added; otherwise the place may stay unknown.
  void Locate(Membership& membership, bool add);
  uint32_t NodeOf(CgroupLedger& ledger, const os::CgroupLine& line, bool add);
  void ActivateCarveOuts(std::span<Membership> memberships);
  [[nodiscard]] std::optional<cgroup::Paths> PathsOf(const cgroup::Tree& tree, const os::CgroupMembership& own,
                                                     int32_t own_pid) const;
  void Compare(ResidualAccount& account, Nanoseconds exclusive);
  void Doubt();
  void ListLiving();
  [[nodiscard]] uint64_t Epoch() const;

  AccountRules rules_;
  uint32_t next_number_;
  cgroup::Version main_version_ = cgroup::Version::kUnified;
  std::unique_ptr<CgroupLedger> main_;
  std::unique_ptr<CgroupLedger> second_;
  std::vector<NodeId> main_of_;  // by node of the second tree: where its processes are in the main one
  uint64_t main_of_epoch_ = 0;
  std::vector<LivingCgroup> living_;
  uint64_t living_changes_ = 0;
  bool told_outside_ = false;
  snapshot::AuditStatus audit_;
  BootTime now_{};
  BootTime doubted_at_{};
  BootTime worst_since_{};   // when the present minute began
  double worst_now_ = 0;     // of it
  double worst_before_ = 0;  // of the one before
};

}  // namespace kepler::activity
