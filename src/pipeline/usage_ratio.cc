#include "pipeline/usage_ratio.h"

#include <utility>

namespace kepler::pipeline {

void UsageRatio::UpdateProcStat(const Result<os::ProcStat>& now, const TimeAccounting& time) {
  apart_ = {};
  known_ = now && last_ && method_ == snapshot::RatioMethod::kProcStat;
  if (!now || last_ == now->cpu) return;
  if (last_) {
    proc_stat_ = os::UsageRatio(*last_, now->cpu);
    if (time.interrupts == KeptApart::kYes) apart_.interrupts = os::InterruptTime(*last_, now->cpu);
    if (time.steal == KeptApart::kYes) apart_.steal = os::StolenTime(*last_, now->cpu);
  }
  last_ = now->cpu;
}

/// Sums all CPU time since the previous scan. Time of invisible tasks is included, because a machine with hidden tasks
/// would otherwise look idle.
void UsageRatio::UpdateExact(const activity::ActivitySample& sample) {
  const auto previous = std::exchange(last_scan_, sample.taken_at);
  if (!previous || sample.taken_at <= *previous || !last_ || last_->cpus == 0) return;
  Nanoseconds ran = sample.invisible + sample.lost + apart_.interrupts;
  for (const auto& process : sample.processes) ran += process.cpu;
  for (const auto& exited : sample.exited) ran += exited.cpu;
  for (const auto& process : sample.short_lived) ran += process.cpu;
  for (const auto& residual : sample.residuals) ran += residual.cpu;
  const auto had = static_cast<double>((sample.taken_at - *previous).count()) * last_->cpus;
  exact_ = Ratio::Clamped(static_cast<double>(ran.count()) / had);
  known_ = known_ || method_ == snapshot::RatioMethod::kExact;
}

/// Stolen time is active in upstream's ratio, but not in the exact ratio.
Nanoseconds UsageRatio::OfNobody() const {
  const bool with_steal = method_ == snapshot::RatioMethod::kProcStat;
  return apart_.interrupts + (with_steal ? apart_.steal : Nanoseconds{0});
}

}  // namespace kepler::pipeline
