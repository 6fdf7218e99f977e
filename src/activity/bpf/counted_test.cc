// What the kernel side makes of two readings of a hardware counter, where the kernel shares it among several.
#include "bpf/counted.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>

namespace kepler::activity::bpf {
namespace {

constexpr uint64_t kMilliseconds = 1'000'000;
constexpr bpf_perf_event_value kBegin = {
    .counter = 5'000, .enabled = 700 * kMilliseconds, .running = 600 * kMilliseconds};

/// A reading after kBegin.
bpf_perf_event_value After(uint64_t counter, uint64_t enabled, uint64_t running) {
  return {
      .counter = kBegin.counter + counter, .enabled = kBegin.enabled + enabled, .running = kBegin.running + running};
}

TEST(Counted, OnItsOwnAllTheTime_IsTheDifference) {
  const auto end = After(1'234'567, 40 * kMilliseconds, 40 * kMilliseconds);
  EXPECT_EQ(counted(&kBegin, &end), 1'234'567U);
}

TEST(Counted, SharedWithOthers_IsScaledByTheTimeItRan) {
  auto end = After(1'000'000, 40 * kMilliseconds, 10 * kMilliseconds);
  EXPECT_NEAR(static_cast<double>(counted(&kBegin, &end)), 4e6, 4e6 * 2e-4);
  end = After(999, 3 * kMilliseconds, 2 * kMilliseconds);
  EXPECT_NEAR(static_cast<double>(counted(&kBegin, &end)), 1498.5, 2);
}

TEST(Counted, DidNotRun_IsNothing) {
  const auto end = After(0, 40 * kMilliseconds, 0);
  EXPECT_EQ(counted(&kBegin, &end), 0U);
}

TEST(Counted, NoTimeBetween_IsTheDifference) {
  auto end = After(0, 0, 0);
  EXPECT_EQ(counted(&kBegin, &end), 0U);
  end = After(17, 300, 200);  // below the resolution
  EXPECT_EQ(counted(&kBegin, &end), 17U);
}

TEST(Counted, OneOfTheTwoCouldNotBeRead_IsNothing) {
  const bpf_perf_event_value none = {};
  EXPECT_EQ(counted(&none, &kBegin), 0U);
  EXPECT_EQ(counted(&kBegin, &none), 0U);
}

TEST(Counted, AnyFigureFell_IsNothing) {
  for (int which = 0; which < 3; ++which) {
    auto end = After(100, kMilliseconds, kMilliseconds);
    (which == 0 ? end.counter : which == 1 ? end.enabled : end.running) = 1;
    EXPECT_EQ(counted(&kBegin, &end), 0U) << which;
  }
}

TEST(Counted, AnHourAtFourGigahertz_DoesNotOverflow) {
  constexpr uint64_t kHour = 3600 * 1000 * kMilliseconds;
  const auto end = After(uint64_t{4} * kHour / 2, kHour, kHour / 2);
  EXPECT_NEAR(static_cast<double>(counted(&kBegin, &end)), 4.0 * kHour, 4.0 * kHour * 1e-6);
}

RC_GTEST_PROP(Counted, AnySlice_IsNeverLessThanCountedAndNearTheShare, ()) {
  const auto enabled = *rc::gen::inRange<uint64_t>(2, 60'000) * kMilliseconds;
  const auto running = *rc::gen::inRange<uint64_t>(1, 60'000) * kMilliseconds;
  const auto counter = *rc::gen::inRange<uint64_t>(0, 1'000'000'000'000);
  const auto end = After(counter, enabled, running);
  const uint64_t got = counted(&kBegin, &end);
  const double share = running < enabled ? static_cast<double>(enabled) / static_cast<double>(running) : 1;
  RC_ASSERT(got >= counter);
  // The resolution is 1.024 us; times here are at least 1 ms.
  const double expected = static_cast<double>(counter) * share;
  RC_ASSERT(std::abs(static_cast<double>(got) - expected) <= 2 + expected * 2.1e-3);
}

}  // namespace
}  // namespace kepler::activity::bpf
