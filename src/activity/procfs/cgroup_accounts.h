#pragma once
// CgroupAccounts: the cgroup trees of the machine as one book. One tree is the main one and holds every process; where
// the kernel has two that count the same time (hybrid), the second is only a carve-out: containers that no line of the
// main tree names. What is given out there is known to the main tree, so nothing is counted twice.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "activity/activity_source.h"
#include "activity/procfs/cgroup_ledger.h"
#include "activity/procfs/membership_table.h"
#include "os/cgroupfs.h"

namespace kepler::activity::procfs {

class CgroupAccounts {
 public:
  /// `own`: our own membership in <procfs>/self/cgroup, for CgroupPaths.
  CgroupAccounts(const os::CgroupTrees& trees, const os::CgroupMembership& own, int32_t own_pid, CgroupChooser chooser);

  /// First thing of a look: before the clocks of the processes. Appends the numbers of cgroups that are gone.
  void ReadUsages(BootTime now, ActivityHealth& health, std::vector<uint32_t>& gone);
  /// A process of `membership` used `time`.
  void Book(Membership& membership, Nanoseconds time);
  /// Last thing of a look: residuals of what was read, less what was booked. Returns their sum.
  Nanoseconds Settle(MembershipTable& memberships, ActivitySample& out);

  [[nodiscard]] std::span<const LivingCgroup> living() const { return living_; }
  /// While v1 lines of a dying process read "/", its first look cannot tell whose time it is.
  [[nodiscard]] bool has_cpuacct() const { return main_ && main_version_ == os::CgroupVersion::kCpuacct; }

 private:
  std::unique_ptr<CgroupLedger> MakeLedger(const os::CgroupTree& tree, const os::CgroupMembership& own, int32_t own_pid,
                                           CgroupLedger::Scope scope);
  /// `add`: cgroups that the walk has not met are added; otherwise the place may stay unknown.
  void Locate(Membership& membership, bool add);
  uint32_t NodeOf(CgroupLedger& ledger, const os::CgroupLine& line, bool add);
  void ActivateCarveOuts(MembershipTable& memberships);
  void ListLiving();
  [[nodiscard]] uint64_t Epoch() const;

  CgroupChooser chooser_;
  uint32_t next_number_ = 1;
  os::CgroupVersion main_version_ = os::CgroupVersion::kUnified;
  std::unique_ptr<CgroupLedger> main_;
  std::unique_ptr<CgroupLedger> second_;
  std::vector<NodeId> main_of_;  // by node of the second tree: where its processes are in the main one
  uint64_t main_of_epoch_ = 0;
  std::vector<LivingCgroup> living_;
  uint64_t living_changes_ = 0;
  bool told_outside_ = false;
};

}  // namespace kepler::activity::procfs
