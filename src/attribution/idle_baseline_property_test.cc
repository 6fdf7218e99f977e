// Whatever a zone shows: the baseline stays within what was seen, and the split adds up.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "attribution/idle_baseline.h"
#include "attribution/usage_list.h"
#include "attribution/weights.h"

namespace kepler::attribution {
namespace {

using snapshot::Confidence;

Nanoseconds AnyTime() {
  const auto longest = *rc::gen::element<int64_t>(1'000'000, 5'000'000'000, 60'000'000'000, 40'000'000'000'000);
  return Nanoseconds(*rc::gen::inRange<int64_t>(0, longest + 1));
}
Ratio AnyRatio() {
  const double most = *rc::gen::element(0.01, 0.05, 1.0);
  return Ratio::Clamped(most * *rc::gen::inRange(0, 1001) / 1000);
}
Power AnyPower() { return Power::Watts(*rc::gen::inRange(0, 1'000'000) / 1e3); }

RC_GTEST_PROP(IdleBaseline, AnyHistory_StaysWithinWhatWasSeen, ()) {
  IdleBaselineFit fit;
  double highest = 0;
  bool known = false;
  const int steps = *rc::gen::inRange(1, 400);
  for (int i = 0; i < steps; ++i) {
    const Power power = AnyPower();
    const int what = *rc::gen::inRange(0, 10);
    if (what == 0) {
      fit.Skip(AnyTime());
    } else if (what == 1) {
      fit.Learn(std::nullopt, AnyRatio(), AnyTime());
    } else {
      highest = std::max(highest, power.watts());
      fit.Learn(power, AnyRatio(), AnyTime());
    }
    const snapshot::IdleBaseline& now = fit.latest();
    const bool says = now.confidence != Confidence::kLearning;
    RC_ASSERT(says || !known);
    known = says;
    RC_ASSERT(std::isfinite(now.power.watts()) && std::isfinite(now.uncertainty.watts()));
    RC_ASSERT(now.power.watts() >= 0 && now.power.watts() <= highest * (1 + 1e-9));
    RC_ASSERT(now.uncertainty.watts() >= -1e-9 * highest);
  }
}

RC_GTEST_PROP(IdleBaseline, AnyInterval_IdleIsWhatTheBaselineTookOrAllThereWas, ()) {
  const UsageList usage;
  CpuTimeWeights weights(usage);
  const Nanoseconds elapsed(*rc::gen::inRange<int64_t>(1'000'000, 300'000'000'000));
  const Energy total = Energy::Microjoules(*rc::gen::inRange<int64_t>(0, 300'000'000'000));
  const Power power = total / elapsed;
  const Power baseline = AnyPower();
  const ZoneCharge charge = SplitByRatio(total, power, true, ShareAbove(baseline, power), weights);
  const Energy idle = charge.total - charge.active;
  RC_ASSERT(charge.total == total);
  RC_ASSERT(charge.active >= Energy{} && idle >= Energy{});
  const double wanted = baseline.watts() * static_cast<double>(elapsed.count()) / 1e3;
  const double expected = std::min(wanted, static_cast<double>(total.microjoules()));
  RC_ASSERT(std::abs(static_cast<double>(idle.microjoules()) - expected) <= 1.001);
  RC_ASSERT(std::abs(power.watts() - charge.active_power.watts() - std::min(baseline.watts(), power.watts())) < 1e-6);
}

RC_GTEST_PROP(RatioPolicy, ActiveIsTheFlooredShare, ()) {
  const UsageList usage;
  CpuTimeWeights weights(usage);
  const auto microjoules = *rc::gen::inRange<int64_t>(0, int64_t{1} << 50);
  const double busy = *rc::gen::inRange(-500, 1501) / 1000.0;
  const ZoneCharge charge =
      SplitByRatio(Energy::Microjoules(microjoules), Power(), true, Ratio::Clamped(busy), weights);
  const long double exact =
      static_cast<long double>(microjoules) * static_cast<long double>(std::clamp(busy, 0.0, 1.0));
  RC_ASSERT(charge.active == Energy::Microjoules(static_cast<int64_t>(std::floor(exact))));
}

}  // namespace
}  // namespace kepler::attribution
