#pragma once
// BpfSource: who ran, to the nanosecond, from the kernel's own clock of every thread: one pass over the living at each
// scan, one record for each that died (docs/ARCHITECTURE.md, bpf/activity.bpf.c). Needs BTF, CAP_BPF and CAP_PERFMON;
// nothing runs when the kernel switches from task to task, unless hardware counters are asked for.
#include <memory>
#include <string>

#include "activity/activity_source.h"
#include "activity/bpf/perf_counters.h"
#include "base/clock.h"
#include "base/result.h"
#include "os/proc_stat.h"

namespace kepler::activity::bpf {

struct BpfOptions {
  std::string procfs;  // host.procfs
  std::string sysfs;   // host.sysfs; the cgroup trees are below its fs/cgroup
  CounterKind counters = CounterKind::kOff;
  TimeAccounting time = {};
  std::shared_ptr<os::ProcStatReader> proc_stat = nullptr;  // null: one of its own
  std::string btf_path = {};  // types of a kernel that does not report them itself; "": the running kernel's
};

class BpfSource final : public ActivitySource {
 public:
  /// Loads and attaches, whatever any probe would say. An error says in one sentence what the kernel said and what
  /// is missing here. Counters that cannot be had are said in the log and left out. `clock` must outlive the source.
  static Result<std::unique_ptr<BpfSource>> Create(const BpfOptions& options, const Clock& clock);
  ~BpfSource() override;

  Status Sample(ActivitySample& out) override;
  /// The ring is memory: records of the dead are there although the kernel refuses everything else.
  Handover HandOver(ActivitySample& last) override;
  [[nodiscard]] int WakeFd() const override;
  void Drain() override;
  [[nodiscard]] std::span<const cgroup::CgroupPtr> LivingCgroups() const override;
  [[nodiscard]] const snapshot::ActivityStatus& status() const override;

 private:
  struct Impl;
  explicit BpfSource(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kepler::activity::bpf
