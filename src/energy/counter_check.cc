#include "energy/counter_check.h"

#include <algorithm>
#include <utility>

namespace kepler::energy {
namespace {

/// The coarsest counter that is known.
constexpr Energy kCoarsest = Energy::Joules(3'600'000);

Energy Most(const CounterCheck::Interval& interval) {
  return Energy::Microjoules(
      static_cast<int64_t>(interval.max.watts() * static_cast<double>(interval.elapsed.count()) / 1e3));
}

}  // namespace

void CounterCheck::Begin(Energy counter) {
  last_ = counter;
  since_step_.reset();
}

std::optional<Energy> CounterCheck::Bridge(Energy step, const Interval& interval) const {
  if (!interval.is_gap || !resolution_ || (!interval.integral && step <= Energy())) return interval.integral;
  const Energy least = std::max(step - *resolution_, Energy());
  const Energy expected = interval.integral.value_or(since_step_ ? step - *since_step_ : least);
  return std::clamp(expected, least, step + *resolution_);
}

std::optional<Energy> CounterCheck::Add(Energy counter, const Interval& interval) {
  const Energy step = counter - std::exchange(last_, counter).value_or(counter);
  if (step < Energy() || step > Most(interval) + resolution_.value_or(kCoarsest)) {
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
