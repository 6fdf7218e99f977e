#pragma once
// The busy share of the machine's time since the previous tick, by both methods. Collection thread only.
#include <optional>

#include "activity/activity_source.h"
#include "base/time_accounting.h"
#include "base/units.h"
#include "os/proc_stat.h"
#include "snapshot/snapshot.h"

namespace kepler::pipeline {

/// What no task ran, and the kernel keeps apart from their time: nobody else is charged for it.
struct MachineTime {
  Nanoseconds interrupts{0};
  Nanoseconds steal{0};
};

class UsageRatio {
 public:
  explicit UsageRatio(snapshot::RatioMethod method) : method_(method) {}

  /// By upstream's method. A reading that is the previous one reports nothing new, and no reading leaves the last known
  /// ratio, which is nearer to the truth than "all idle".
  void UpdateProcStat(const Result<os::ProcStat>& now, const TimeAccounting& time);
  /// By what ran, where `sample` is of a good scan. After UpdateProcStat().
  void UpdateExact(const activity::ActivitySample& sample);

  [[nodiscard]] Ratio value() const { return method_ == snapshot::RatioMethod::kExact ? exact_ : proc_stat_; }
  /// Empty if value() is an older one, because its source could not be read in this tick.
  [[nodiscard]] std::optional<Ratio> known() const { return known_ ? std::optional(value()) : std::nullopt; }
  [[nodiscard]] snapshot::RatioMethod method() const { return method_; }
  [[nodiscard]] Ratio proc_stat() const { return proc_stat_; }
  [[nodiscard]] Ratio exact() const { return exact_; }
  /// Of this tick that is part of the ratio but of no task's time.
  [[nodiscard]] Nanoseconds OfNobody() const;

 private:
  snapshot::RatioMethod method_;
  std::optional<os::ProcStatCpu> last_;
  MachineTime apart_;
  Ratio proc_stat_;
  Ratio exact_;
  bool known_ = false;
  std::optional<BootTime> last_scan_;  // the last good one
};

}  // namespace kepler::pipeline
