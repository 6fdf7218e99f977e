#include "base/counter_delta.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace kepler {
namespace {

constexpr uint64_t kRange = 262'143'328'850;
const DeltaLimits kLimits{kRange, Energy::Joules(10'000)};

TEST(CounterDelta, NoPrevious_IsFirst) {
  const auto delta = DeltaBetween(std::nullopt, RawCounter{5}, kLimits);
  EXPECT_EQ(delta.kind, DeltaKind::kFirst);
  EXPECT_EQ(delta.energy, Energy{});
}

TEST(CounterDelta, Grown_IsNormal) {
  const auto delta = DeltaBetween(RawCounter{5}, RawCounter{12}, kLimits);
  EXPECT_EQ(delta.kind, DeltaKind::kNormal);
  EXPECT_EQ(delta.energy.microjoules(), 7);
}

TEST(CounterDelta, PastTheRange_IsWrappedAndCountsTheStepOverZero) {
  const auto delta = DeltaBetween(RawCounter{kRange}, RawCounter{0}, kLimits);
  EXPECT_EQ(delta.kind, DeltaKind::kWrapped);
  EXPECT_EQ(delta.energy.microjoules(), 1);
}

TEST(CounterDelta, FellFarBelowTheRange_IsReset) {
  const auto delta = DeltaBetween(RawCounter{90'000'000'000}, RawCounter{12}, kLimits);
  EXPECT_EQ(delta.kind, DeltaKind::kReset);
  EXPECT_EQ(delta.energy, Energy{});
}

TEST(CounterDelta, FellWithoutRange_IsReset) {
  EXPECT_EQ(DeltaBetween(RawCounter{9}, RawCounter{2}, {std::nullopt, Energy::Joules(1)}).kind, DeltaKind::kReset);
}

TEST(CounterDelta, PreviousAboveItsRange_IsReset) {
  EXPECT_EQ(DeltaBetween(RawCounter{kRange + 5}, RawCounter{2}, kLimits).kind, DeltaKind::kReset);
}

TEST(CounterDelta, MoreThanPhysicsAllows_IsRejectedAndSaysHowMuch) {
  const auto delta = DeltaBetween(RawCounter{0}, RawCounter{20'000'000'000}, kLimits);
  EXPECT_EQ(delta.kind, DeltaKind::kRejected);
  EXPECT_EQ(delta.energy, Energy{});
  EXPECT_EQ(delta.refused, Energy::Joules(20'000));
}

TEST(CounterDelta, Unchanged_IsNormalAndNothing) {
  // Not a whole turn, even where one would be within the limit.
  const auto delta = DeltaBetween(RawCounter{40}, RawCounter{40}, {99, Energy::Microjoules(1000)});
  EXPECT_EQ(delta.kind, DeltaKind::kNormal);
  EXPECT_EQ(delta.energy, Energy{});
}

TEST(CounterDelta, ExactlyTheLimit_IsAllowed) {
  const DeltaLimits limits{99, Energy::Microjoules(30)};
  EXPECT_EQ(DeltaBetween(RawCounter{20}, RawCounter{50}, limits).kind, DeltaKind::kNormal);
  EXPECT_EQ(DeltaBetween(RawCounter{20}, RawCounter{51}, limits).kind, DeltaKind::kRejected);
  const auto wrapped = DeltaBetween(RawCounter{80}, RawCounter{10}, limits);
  EXPECT_EQ(wrapped.kind, DeltaKind::kWrapped);
  EXPECT_EQ(wrapped.energy.microjoules(), 30);
  EXPECT_EQ(DeltaBetween(RawCounter{80}, RawCounter{11}, limits).kind, DeltaKind::kReset);
}

RC_GTEST_PROP(CounterDelta, ACounterThatWrapsAddsUpToTheTruth, ()) {
  const auto range = *rc::gen::inRange<uint64_t>(1'000, 1'000'000);
  const auto steps = *rc::gen::container<std::vector<uint64_t>>(rc::gen::inRange<uint64_t>(0, range / 2));
  const DeltaLimits limits{range, Energy::Microjoules(static_cast<int64_t>(range / 2))};
  uint64_t raw = *rc::gen::inRange<uint64_t>(0, range + 1);
  uint64_t truth = 0;
  Energy sum;
  for (const uint64_t step : steps) {
    const RawCounter before{raw};
    raw = (raw + step) % (range + 1);
    truth += step;
    const auto delta = DeltaBetween(before, RawCounter{raw}, limits);
    RC_ASSERT(delta.kind == DeltaKind::kNormal || delta.kind == DeltaKind::kWrapped);
    sum += delta.energy;
  }
  RC_ASSERT(sum.microjoules() == static_cast<int64_t>(truth));
}

}  // namespace
}  // namespace kepler
