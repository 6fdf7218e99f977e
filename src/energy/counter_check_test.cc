#include "energy/counter_check.h"

#include <gtest/gtest.h>

namespace kepler::energy {
namespace {

using namespace std::chrono_literals;

constexpr Energy kWh = Energy::Joules(3'600'000);

/// A machine that uses 300 W and is read every 15 s.
class CounterCheckTest : public ::testing::Test {
 protected:
  static CounterCheck::Interval Gap(Nanoseconds elapsed, std::optional<Energy> integral) {
    return {.integral = integral, .elapsed = elapsed, .is_gap = true, .max = Power::Watts(10'000)};
  }
  /// A reading after 15 s, in which the power sensor shows `watts`; the counter has `resolution`.
  void Read(Energy resolution, int64_t watts = 300) {
    truth_ += Energy::Joules(300 * 15);
    const Energy integral = Energy::Joules(watts * 15);
    EXPECT_EQ(check_.Add(Counter(resolution),
                         {.integral = integral, .elapsed = 15s, .is_gap = false, .max = Power::Watts(10'000)}),
              integral);
  }
  void Run(Energy resolution, int readings) {
    check_.Begin(Counter(resolution));
    for (int i = 0; i < readings; ++i) Read(resolution);
  }
  [[nodiscard]] Energy Counter(Energy resolution) const {
    return Energy::Microjoules(truth_.microjoules() / resolution.microjoules() * resolution.microjoules());
  }

  CounterCheck check_;
  Energy truth_ = Energy::Joules(999'999'000);
};

TEST_F(CounterCheckTest, CoarseStep_IsNoReadingOf240Kilowatts) {
  Run(kWh, 5'000);
  EXPECT_EQ(check_.result().refused, 0U);
  EXPECT_LE(std::abs(check_.result().difference.microjoules()), kWh.microjoules());
}

TEST_F(CounterCheckTest, IntegralThatIsTooLow_IsShown) {
  check_.Begin(Counter(Energy::Joules(3'600)));
  for (int i = 0; i < 1'000; ++i) Read(Energy::Joules(3'600), 270);
  EXPECT_NEAR(check_.result().difference.ToJoules(), 30 * 15'000, 3'600);
}

TEST_F(CounterCheckTest, LongGap_FineCounter_GivesItsEnergy) {
  const Energy fine = Energy::Joules(3'600);
  Run(fine, 100);
  truth_ += Energy::Joules(300 * 900);
  const auto energy = check_.Add(Counter(fine), Gap(15min, std::nullopt));
  ASSERT_TRUE(energy);
  EXPECT_NEAR(energy->ToJoules(), 300 * 900, 3'600);
  EXPECT_EQ(check_.result().bridged, 1U);
}

TEST_F(CounterCheckTest, LongGap_CoarseCounter_GivesTheStepWithoutWhatWasCounted) {
  check_.Begin(Energy());
  const auto read = [&](Energy counter) {
    return check_.Add(
        counter, {.integral = Energy::Joules(4'500), .elapsed = 15s, .is_gap = false, .max = Power::Watts(10'000)});
  };
  static_cast<void>(read(kWh));  // a step: from here on the phase is known
  for (int i = 0; i < 700; ++i) static_cast<void>(read(kWh));
  EXPECT_EQ(check_.Add(kWh + kWh, Gap(30min, std::nullopt)), kWh - Energy::Joules(700 * 4'500));
  EXPECT_EQ(check_.Add(kWh + kWh + kWh, Gap(4h, std::nullopt)), std::nullopt)
      << "the time of the latest step is not known";
}

TEST_F(CounterCheckTest, LongGap_UnchangedOrUnknownCounter_BridgesNothing) {
  check_.Begin(kWh);
  EXPECT_EQ(check_.Add(kWh + kWh, Gap(15min, std::nullopt)), std::nullopt) << "no resolution is known";
  EXPECT_EQ(check_.Add(kWh + kWh, Gap(15min, std::nullopt)), std::nullopt) << "it is unchanged";
  EXPECT_EQ(check_.result().bridged, 0U);
  EXPECT_EQ(check_.result().difference, Energy()) << "an unknown interval is not compared";
}

TEST_F(CounterCheckTest, LongGap_UnknownTimeOfTheLatestStep_IsAtMostTheResolutionTooLow) {
  const Energy fine = Energy::Joules(3'600);
  Run(fine, 100);
  const Energy before = Counter(fine);
  EXPECT_TRUE(check_.Add(before + fine, Gap(15min, std::nullopt)));
  EXPECT_EQ(check_.Add(before + Energy::Joules(10 * 3'600), Gap(15min, std::nullopt)), Energy::Joules(8 * 3'600));
}

/// A BMC that updates its counter once a minute: at 1,000 W a step is 60 kJ, and at idle it was 18 kJ.
TEST_F(CounterCheckTest, ShortGap_CounterThatIsUpdatedRarely_KeepsTheIntegral) {
  check_.Begin(Energy());
  Energy counter;
  const auto read = [&](int64_t watts, Energy step) {
    counter += step;
    static_cast<void>(check_.Add(
        counter,
        {.integral = Energy::Joules(watts * 15), .elapsed = 15s, .is_gap = false, .max = Power::Watts(10'000)}));
  };
  for (int i = 0; i < 40; ++i) read(300, i % 4 == 3 ? Energy::Joules(18'000) : Energy());
  read(1'000, Energy());
  EXPECT_EQ(check_.Add(counter, Gap(30s, Energy::Joules(30'000))), Energy::Joules(30'000));
  counter += Energy::Joules(60'000);
  EXPECT_EQ(check_.Add(counter, Gap(30s, Energy::Joules(30'000))), Energy::Joules(30'000));
  EXPECT_EQ(check_.result().bridged, 0U);
}

TEST_F(CounterCheckTest, CounterThatFallsOrJumps_IsRefusedAndCounted) {
  const Energy fine = Energy::Joules(3'600);
  Run(fine, 100);
  const Energy difference = check_.result().difference;
  EXPECT_EQ(check_.Add(Energy(), Gap(15min, std::nullopt)), std::nullopt) << "a reset";
  EXPECT_EQ(check_.Add(Energy::Joules(100'000'000'000), Gap(2min, Energy::Joules(36'000))), Energy::Joules(36'000));
  EXPECT_EQ(check_.result().refused, 2U);
  EXPECT_EQ(check_.result().difference, difference) << "a refused step is not compared";
}

}  // namespace
}  // namespace kepler::energy
