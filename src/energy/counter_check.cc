#include "energy/counter_check.h"

#include <algorithm>
#include <utility>

#include "energy/power_limits.h"

namespace kepler::energy {
namespace {

/// The coarsest counter that is known.
constexpr Energy kCoarsest = Energy::Joules(3'600'000);

}  // namespace

void CounterCheck::Begin(Energy counter) {
  last_ = counter;
  since_step_.reset();
}

std::optional<Energy> CounterCheck::Bridge(Energy step, const Interval& interval) const {
  if (interval.integral || !interval.is_gap || !resolution_ || step <= Energy()) return interval.integral;
  const Energy least = step - *resolution_;
  if (since_step_) return std::clamp(step - *since_step_, std::max(least, Energy()), step + *resolution_);
  return least > Energy() ? std::optional(least) : std::nullopt;
}

std::optional<Energy> CounterCheck::Add(Energy counter, const Interval& interval) {
  const Energy step = counter - std::exchange(last_, counter).value_or(counter);
  if (step < Energy() || step > PlausibleEnergy(interval.max, interval.elapsed) + resolution_.value_or(kCoarsest)) {
    ++result_.refused;
    since_step_.reset();
    return interval.integral;
  }
  const auto counted = Bridge(step, interval);
  if (step > Energy()) resolution_ = std::min(resolution_.value_or(step), step);
  if (!counted) {
    since_step_.reset();
    return std::nullopt;
  }
  if (!interval.integral) ++result_.bridged;
  result_.difference += step - *counted;
  if (step == Energy() && since_step_)
    *since_step_ += *counted;
  else if (step > Energy())
    since_step_ = interval.is_gap ? std::nullopt : std::optional(Energy());
  return counted;
}

}  // namespace kepler::energy
