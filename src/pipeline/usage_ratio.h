#pragma once
// UsageRatio: computes the usage ratio since the previous tick by both methods. Collection thread only.
#include <optional>

#include "activity/activity_source.h"
#include "base/time_accounting.h"
#include "base/units.h"
#include "os/proc_stat.h"
#include "snapshot/snapshot.h"

namespace kepler::pipeline {

/// Time that the kernel accounts separately from the time of tasks. No workload is charged for it.
struct MachineTime {
  Nanoseconds interrupts{0};
  Nanoseconds steal{0};
};

class UsageRatio {
 public:
  explicit UsageRatio(snapshot::RatioMethod method) : method_(method) {}

  /// Updates the ratio of upstream's method. A repeated reading changes nothing. After a failed reading the last ratio
  /// stays, which is more accurate than 0.
  void UpdateProcStat(const Result<os::ProcStat>& now, const TimeAccounting& time);
  /// Updates the exact ratio from the CPU time in `sample`, which must be of a good scan. Call after UpdateProcStat().
  void UpdateExact(const activity::ActivitySample& sample);

  [[nodiscard]] Ratio value() const { return method_ == snapshot::RatioMethod::kExact ? exact_ : proc_stat_; }
  /// Empty if value() is an older one, because its source could not be read in this tick.
  [[nodiscard]] std::optional<Ratio> known() const { return known_ ? std::optional(value()) : std::nullopt; }
  [[nodiscard]] snapshot::RatioMethod method() const { return method_; }
  [[nodiscard]] Ratio proc_stat() const { return proc_stat_; }
  [[nodiscard]] Ratio exact() const { return exact_; }
  /// Time of this tick that is included in the ratio, but not in the time of any task.
  [[nodiscard]] Nanoseconds OfNobody() const;

 private:
  snapshot::RatioMethod method_;
  std::optional<os::ProcStatCpu> last_;
  MachineTime apart_;
  Ratio proc_stat_;
  Ratio exact_;
  bool known_ = false;
  std::optional<BootTime> last_scan_;  // latest good scan
};

}  // namespace kepler::pipeline
