#pragma once
// ProcfsSource: who ran, from /proc and the cgroup trees alone. Needs no privilege and keeps one descriptor.
#include <memory>
#include <string>

#include "activity/activity_source.h"
#include "base/clock.h"
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
  ~ProcfsSource() override;

  Status Sample(ActivitySample& out) override;
  [[nodiscard]] std::span<const cgroup::CgroupPtr> LivingCgroups() const override;
  [[nodiscard]] const snapshot::ActivityStatus& status() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kepler::activity::procfs
