#pragma once
// BpfSource: measures CPU time to the nanosecond from the kernel's clock of every thread. Each scan is one pass over
// the living threads, plus one record per exited thread (docs/ARCHITECTURE.md, bpf/activity.bpf.c). Needs BTF, CAP_BPF
// and CAP_PERFMON. No program runs on a context switch unless hardware counters are enabled.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "activity/activity_source.h"
#include "activity/bpf/awaited_ends.h"
#include "activity/bpf/cgroup_directory.h"
#include "activity/bpf/hidden_processes.h"
#include "activity/bpf/perf_counters.h"
#include "activity/bpf/process_files.h"
#include "activity/bpf/programs.h"
#include "activity/bpf/row_reader.h"
#include "activity/bpf/task_table.h"
#include "activity/bpf/unreported_ends.h"
#include "activity/bpf/usage_audit.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "os/proc_stat.h"

namespace kepler::activity::bpf {

struct BpfOptions {
  std::string procfs;  // host.procfs
  std::string sysfs;   // host.sysfs; the cgroup trees are below its fs/cgroup
  CounterKind counters = CounterKind::kOff;
  bool with_uids = false;  // report users of processes; otherwise they are unknown
  TimeAccounting time = {};
  std::shared_ptr<os::ProcStatReader> proc_stat = nullptr;  // null: the source creates a reader
};

class BpfSource final : public ActivitySource {
 public:
  BpfSource(BpfSource&&) = delete;  // its members refer to each other
  /// Loads and attaches the programs without probing first. An error contains the kernel's message and the missing
  /// requirement. Unavailable counters are logged and left out. `clock` must outlive the source.
  static Result<std::unique_ptr<BpfSource>> Create(const BpfOptions& options, const Clock& clock);

  Status Sample(ActivitySample& out) override;
  /// The ring is in memory: records of exited processes can be read even if the kernel refuses all other calls.
  Handover HandOver(ActivitySample& last) override;
  [[nodiscard]] int WakeFd() const override { return programs_->ring_fd(); }
  void Drain() override;
  [[nodiscard]] std::span<const cgroup::CgroupPtr> LivingCgroups() const override { return cgroups_.living(); }
  [[nodiscard]] const status::ActivityStatus& status() const override { return status_; }

 private:
  BpfSource(const BpfOptions& options, const Clock& clock, const cgroup::Trees& trees);

  void Take(std::span<const std::byte> bytes);
  void TakeIn(const kepler_task_freed& record);
  void TakeIn(const kepler_exec& record);
  void TakeIn(const kepler_moved& record);
  void TakeIn(const kepler_cgroup& record);
  [[nodiscard]] bool MustWalk();
  void SplitSlices();
  Status Pass(ActivitySample& out);
  void ReportExecutables(BootTime begin);
  [[nodiscard]] uint64_t Losses();
  /// Total CPU time whose owner was in a dropped record.
  [[nodiscard]] Nanoseconds Lost(const kepler_totals& totals) const;
  void Account(ActivitySample& out);
  void UpdateStatus(const kepler_totals& totals);

  const Clock& clock_;
  std::shared_ptr<os::ProcStatReader> proc_stat_;
  std::optional<PerfCounters> counters_;
  std::unique_ptr<Programs> programs_;  // never null after creation
  status::ActivityStatus status_;
  CgroupDirectory cgroups_;
  ProcessFiles files_;
  TaskTable table_;
  AwaitedEnds awaited_;
  HiddenProcesses hidden_;
  UsageAudit audit_;
  RowReader rows_;
  UnreportedEnds unreported_ends_;
  std::optional<uint64_t> made_;  // tasks created since boot, at the begin of the latest pass
  uint64_t living_ = 0;           // rows of the latest pass
  BootTime scanned_at_{};         // start of the latest good scan
  BootTime pass_begin_{};         // start of the latest pass
  Programs::Visit take_ = [this](std::span<const std::byte> bytes) { Take(bytes); };
  kepler_totals before_{};        // totals at the previous scan
  uint64_t cgroups_dropped_ = 0;  // number of dropped cgroup records at the latest walk
  bool walked_ = false;
  uint64_t executables_since_ = 0;
  uint64_t malformed_ = 0;
  Nanoseconds lost_seen_{0};     // lost time at the previous scan
  Nanoseconds lost_in_root_{0};  // since the previous scan: lost time that no usage shows
  uint64_t skipped_ = 0;         // program runs that the kernel skipped
  log::LogLimiter limiter_;
};

}  // namespace kepler::activity::bpf
