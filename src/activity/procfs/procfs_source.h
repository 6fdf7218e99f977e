#pragma once
// ProcfsSource: CPU time of processes from /proc and the cgroup trees. Needs no privilege and keeps one descriptor.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "activity/activity_source.h"
#include "activity/cgroup_accounts.h"
#include "activity/procfs/invisible_time.h"
#include "activity/procfs/membership_table.h"
#include "activity/procfs/process_table.h"
#include "base/clock.h"
#include "os/dirents.h"
#include "os/proc_stat.h"

namespace kepler::activity::procfs {

struct ProcfsOptions {
  std::string procfs;      // host.procfs
  std::string sysfs;       // host.sysfs; the cgroup trees are below its fs/cgroup
  bool with_uids = false;  // report users of processes; otherwise they are unknown
  TimeAccounting time = {};
  std::shared_ptr<os::ProcStatReader> proc_stat = nullptr;  // null: the source creates a reader
  Handover before = {};                                     // state of the source that this one replaces
};

class ProcfsSource final : public ActivitySource {
 public:
  /// `clock` must outlive the source. Finds the cgroup trees and checks whether /proc hides processes. Limits are
  /// logged. The constructor never fails: a missing procfs is an error of Sample(), which retries at each scan.
  ProcfsSource(ProcfsOptions options, const Clock& clock);
  ProcfsSource(ProcfsSource&&) = delete;  // its members refer to each other

  Status Sample(ActivitySample& out) override;
  [[nodiscard]] std::span<const cgroup::CgroupPtr> LivingCgroups() const override { return accounts_.living(); }
  [[nodiscard]] const status::ActivityStatus& status() const override { return status_; }

 private:
  Status List();
  Status ListOpened();
  Nanoseconds Invisible(Nanoseconds seen);

  ProcfsOptions options_;
  const Clock& clock_;
  status::ActivityStatus status_;
  CgroupAccounts accounts_;
  MembershipTable memberships_;
  ProcessTable table_;
  std::optional<os::PidLister> lister_;
  std::vector<os::ListedPid> listed_;
  std::optional<BootTime> previous_;  // time of the previous list, including that of a replaced source
  bool booked_ = false;               // true after the first booking of cgroup usages
  std::shared_ptr<os::ProcStatReader> proc_stat_;
  std::optional<os::ProcStat> machine_;  // as of the latest scan
  InvisibleTime invisible_;
  bool reported_invisible_ = false;
};

}  // namespace kepler::activity::procfs
