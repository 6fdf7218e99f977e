#include "base/counter_delta.h"

#include <algorithm>
#include <limits>

namespace kepler {
namespace {

Energy Clamp(uint64_t microjoules) {
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return Energy::Microjoules(static_cast<int64_t>(std::min(microjoules, kMax)));
}

}  // namespace

CounterDelta DeltaBetween(std::optional<RawCounter> previous, RawCounter now, const DeltaLimits& limits) {
  if (!previous) return {DeltaKind::kFirst, {}, {}};
  if (now >= *previous) {
    const Energy delta = Clamp(now.microjoules - previous->microjoules);
    if (delta > limits.max) return {DeltaKind::kRejected, {}, delta};
    return {DeltaKind::kNormal, delta, {}};
  }
  if (limits.range && previous->microjoules <= *limits.range) {
    // Cannot overflow: now < previous <= range.
    const Energy delta = Clamp(*limits.range - previous->microjoules + now.microjoules + 1);
    if (delta <= limits.max) return {DeltaKind::kWrapped, delta, {}};
  }
  return {DeltaKind::kReset, {}, {}};
}

}  // namespace kepler
