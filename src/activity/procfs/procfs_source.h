#pragma once
// ProcfsSource: who ran, from /proc and the cgroup trees alone. Needs no privilege and keeps one descriptor.
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
  std::string procfs;  // host.procfs
  std::string sysfs;   // host.sysfs; the cgroup trees are below its fs/cgroup
  TimeAccounting time = {};
  std::shared_ptr<os::ProcStatReader> proc_stat = nullptr;  // null: one of its own
  Handover before = {};                                     // of the source in whose place this one goes on
};

class ProcfsSource final : public ActivitySource {
 public:
  /// `clock` must outlive the source. Looks for the cgroup trees and for what of /proc is visible; says in the log what
  /// that costs. Never fails: a missing procfs is Sample's error, and is looked for again at each one.
  ProcfsSource(ProcfsOptions options, const Clock& clock);
  ProcfsSource(ProcfsSource&&) = delete;  // its parts refer to each other

  Status Sample(ActivitySample& out) override;
  [[nodiscard]] std::span<const cgroup::CgroupPtr> LivingCgroups() const override { return accounts_.living(); }
  [[nodiscard]] const snapshot::ActivityStatus& status() const override { return status_; }

 private:
  Status List();
  Status ListOpened();
  Nanoseconds Invisible(Nanoseconds seen);

  ProcfsOptions options_;
  const Clock& clock_;
  snapshot::ActivityStatus status_;
  CgroupAccounts accounts_;
  MembershipTable memberships_;
  ProcessTable table_;
  std::optional<os::PidLister> lister_;
  std::vector<os::ListedPid> listed_;
  std::optional<BootTime> previous_;  // when the previous list was made, by the source before this one too
  bool booked_ = false;               // whether usages of cgroups have a beginning
  std::shared_ptr<os::ProcStatReader> proc_stat_;
  std::optional<os::ProcStat> machine_;  // as of the latest scan
  InvisibleTime invisible_;
  bool reported_invisible_ = false;
};

}  // namespace kepler::activity::procfs
