// Plausibility checks of a Meter: limits that change while it runs, and counters that may have wrapped unseen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "energy/meter_test_util.h"

namespace kepler::energy {
namespace {

using namespace std::chrono_literals;

class MeterLimitsTest : public MeterTest {
 protected:
  void Open(std::optional<uint64_t> range, std::optional<Power> max, Answer first) {
    script_.Add({"package", "/s/package", "package@0", range, max, {}}, std::move(first));
    MeterTest::Open().Sample();
  }
  const ZoneDelta& After(Nanoseconds time, Answer shown) {
    script_.values[0] = std::move(shown);
    return MeterTest::After(time);
  }
};

TEST_F(MeterLimitsTest, Gate_DomainStatesItsMaxPower_TwiceThatIsBelieved) {
  Open(kRange, Power::Watts(100), Uj(0));
  EXPECT_EQ(After(5s, Uj(1'000'000'000)).energy, Joules(1'000)) << "200 W";
  EXPECT_FALSE(After(5s, Uj(2'100'000'000)).fresh) << "220 W";
  EXPECT_EQ(meter_->status().rejected_readings, 1u);
}

TEST_F(MeterLimitsTest, Gate_VeryShortInterval_DoesNotRejectACounterThatMovesInSteps) {
  Open(kRange, {}, Uj(0));
  EXPECT_EQ(After(1us, Uj(100'000)).energy, Energy::Microjoules(100'000)) << "0.1 J: the counter's last millisecond";
}

TEST_F(MeterLimitsTest, LimitRaisedSinceTheStart_TheReadingIsBelievedAfterAll) {
  Open(kRange, Power::Watts(20), Uj(0));
  script_.max = {Power::Watts(64)};
  EXPECT_EQ(After(4s, Uj(240'000'000)).energy, Joules(240));
  EXPECT_TRUE(meter_->deltas()[0].fresh);
  EXPECT_EQ(meter_->status().rejected_readings, 0u);
}

TEST_F(MeterLimitsTest, LimitLifted_WhatIsBelievedWithoutOneCounts) {
  Open(kRange, Power::Watts(20), Uj(0));
  script_.max = {Power::Watts(1'000)};
  EXPECT_EQ(After(1s, Uj(1'900'000'000)).energy, Joules(1'900));
  After(1s, Uj(4'900'000'000));
  EXPECT_EQ(meter_->status().rejected_readings, 1u);
}

TEST_F(MeterLimitsTest, LimitRaised_AWrapAboveTheOldOneIsNoReset) {
  Open(kRange, Power::Watts(20), Uj(kRange - 99));
  script_.max = {Power::Watts(64)};
  EXPECT_EQ(After(4s, Uj(239'999'900)).energy, Joules(240));
  EXPECT_EQ(meter_->status().resets, 0u);
}

TEST_F(MeterLimitsTest, LimitRaisedTooLittle_IsStillRejected) {
  Open(kRange, Power::Watts(20), Uj(0));
  script_.max = {Power::Watts(25)};
  After(4s, Uj(240'000'000));
  EXPECT_EQ(meter_->status().rejected_energy, Joules(240));
}

TEST_F(MeterLimitsTest, LimitLowered_TheFormerOneAppliedForAPartOfTheTime) {
  Open(kRange, Power::Watts(64), Uj(0));
  script_.max = {Power::Watts(5)};
  After(1s, Uj(1'000'000'000));
  EXPECT_EQ(meter_->status().rejected_readings, 1u);
  EXPECT_EQ(After(4s, Uj(1'240'000'000)).energy, Joules(240));
}

TEST_F(MeterLimitsTest, LimitLoweredAndRediscovered_WhatWasUsedBeforeIsBelieved) {
  Open(kRange, Power::Watts(200), Uj(0));
  script_.domains[0].max_power = Power::Watts(80);
  script_.max = {Power::Watts(80)};
  After(1s, Error{ErrorKind::kGone, "driver reloaded"});
  EXPECT_EQ(After(5s, Uj(1'200'000'000)).energy, Joules(1'200));
  EXPECT_EQ(meter_->status().rejected_readings, 0u);
}

TEST_F(MeterLimitsTest, LimitAboveTheDefault_StatedAtRediscoveryOrLater_IsBelieved) {
  for (const bool rediscovered : {true, false}) {
    script_ = {};
    Open(kRange, {}, Uj(0));
    if (rediscovered)
      script_.domains[0].max_power = Power::Watts(3'000);
    else
      script_.max = {Power::Watts(3'000)};
    After(1s, Error{ErrorKind::kGone, "driver reloaded"});
    EXPECT_EQ(After(5s, Uj(18'000'000'000)).energy, Joules(18'000)) << rediscovered;
    EXPECT_EQ(meter_->status().rejected_readings, 0u);
  }
}

TEST_F(MeterLimitsTest, StatedLimitThatIsGoneAtRediscovery_StaysIfItIsAboveTheDefault) {
  Open(kRange, Power::Watts(3'000), Uj(0));
  script_.domains[0].max_power.reset();
  After(1s, Error{ErrorKind::kGone, "driver reloaded"});
  EXPECT_EQ(After(5s, Uj(18'000'000'000)).energy, Joules(18'000));
}

TEST_F(MeterLimitsTest, LimitCannotBeRead_TheKnownOneStays) {
  Open(kRange, Power::Watts(20), Uj(200'000'000'000));
  script_.max = {std::nullopt};
  EXPECT_FALSE(After(60s, Uj(5'000'000'000)).fresh) << "a reset, not a wrap at more than a kilowatt";
  EXPECT_EQ(meter_->status().resets, 1u);
}

TEST_F(MeterLimitsTest, UnknownWraps_LimitRaisedSinceTheStart_IsAskedFor) {
  Open(kRange, Power::Watts(20), Uj(0));
  script_.max = {Power::Watts(64)};
  EXPECT_EQ(After(2h, Uj(170'000'000'000)).energy, Joules(170'000));
  EXPECT_EQ(meter_->status().unknown_wraps, 1u) << "60 W would fit";
}

TEST_F(MeterLimitsTest, SensorsLimitRaised_TheReadingIsBelievedAfterAll) {
  Open({}, Power::Watts(20), Power::Watts(40));
  script_.max = {Power::Watts(64)};
  EXPECT_EQ(After(4s, Power::Watts(60)).energy, Joules(200));
  EXPECT_EQ(meter_->status().rejected_readings, 0u);
}

TEST_F(MeterLimitsTest, UnknownWraps_OnlyWhereOneMoreWouldFit) {
  // At 100 W the range of 262 kJ takes 2,621 s.
  Open(kRange, Power::Watts(100), Uj(0));
  EXPECT_EQ(After(2'600s, Uj(100)).energy, Energy::Microjoules(100));
  EXPECT_EQ(meter_->status().unknown_wraps, 0u);
  EXPECT_EQ(After(1h, Uj(200'000'000'100)).energy, Joules(200'000)) << "with one more it would be 128 W";
  EXPECT_EQ(meter_->status().unknown_wraps, 0u);
  const ZoneDelta& delta = After(1h, Uj(250'000'000'100));
  EXPECT_EQ(delta.energy, Joules(50'000)) << "what is certain";
  EXPECT_TRUE(delta.fresh);
  EXPECT_EQ(meter_->status().unknown_wraps, 1u) << "with one more it would be 87 W";
  After(10s, Uj(250'100'000'100));
  EXPECT_EQ(meter_->status().unknown_wraps, 1u);
}

TEST_F(MeterLimitsTest, UnknownWraps_AcrossOneWrapAnotherMayHide) {
  Open(kRange, Power::Watts(150), Uj(kRange));
  EXPECT_EQ(After(1h, Uj(9'999'999)).energy, Joules(10));
  EXPECT_EQ(meter_->status().unknown_wraps, 1u);
}

TEST_F(MeterLimitsTest, SuspendedForHours_LowerCounterIsAReset) {
  Open(kRange, Power::Watts(15), Uj(200'000'000'000));
  suspended_ = 8h;
  EXPECT_EQ(After(8h + 5s, Uj(40'000'000)).energy, Energy()) << "a wrap would be 62 kJ, in 8 hours only 2 W";
  EXPECT_FALSE(meter_->deltas()[0].fresh);
  EXPECT_EQ(meter_->status().resets, 1u);
  EXPECT_EQ(After(5s, Uj(90'000'000)).energy, Joules(50));
}

TEST_F(MeterLimitsTest, SuspendedBefore_WrapCounts) {
  Open(kRange, Power::Watts(15), Uj(200'000'000'000));
  suspended_ = 8h;
  After(8h + 5s, Uj(kRange - 99));
  EXPECT_EQ(After(5s, Uj(49'999'900)).energy, Joules(50));
  EXPECT_EQ(meter_->status().resets, 0u);
}

TEST_F(MeterLimitsTest, SuspendedToIdle_EnergyCounts) {
  Open(kRange, Power::Watts(15), Uj(0));
  suspended_ = 8h;
  EXPECT_EQ(After(8h + 5s, Uj(30'000'000'000)).energy, Joules(30'000)) << "1 W";
  EXPECT_TRUE(meter_->deltas()[0].fresh);
}

TEST_F(MeterLimitsTest, SuspendedWithASummedCounter_FalseWrapOfTheKernelIsAReset) {
  Open({}, Power::Watts(100), Uj(5'000'000));
  script_.domains[0].is_summed = true;
  MeterTest::Open().Sample();
  suspended_ = 8h;
  const ZoneDelta& delta = After(8h + 5s, Uj(5'000'000 + 62'000'000'000));
  EXPECT_EQ(delta.energy, Energy()) << "62 kJ: in 8 hours only 2 W, in 5 s 12 kW";
  EXPECT_FALSE(delta.fresh);
  EXPECT_EQ(meter_->status().resets, 1u);
  EXPECT_EQ(meter_->status().rejected_readings, 0u);
  EXPECT_EQ(After(5s, Uj(5'000'000 + 62'100'000'000)).energy, Joules(100));
}

TEST_F(MeterLimitsTest, SuspendedWithASummedCounter_EnergyOfTheTimeAwakeCounts) {
  script_.Add({"package", "/s/package", "package@0", {}, Power::Watts(100), {}}, Uj(0));
  script_.domains[0].is_summed = true;
  MeterTest::Open().Sample();
  suspended_ = 8h;
  EXPECT_EQ(After(8h + 5s, Uj(300'000'000)).energy, Joules(300));
}

TEST_F(MeterLimitsTest, UnknownWraps_CounterWithoutRange_NeverWraps) {
  Open({}, Power::Watts(100), Uj(0));
  After(24h, Uj(1));
  EXPECT_EQ(meter_->status().unknown_wraps, 0u);
  EXPECT_FALSE(meter_->longest_interval());
}

TEST_F(MeterLimitsTest, UnknownWraps_RangeOfAllBits_IsNoTrouble) {
  Open(UINT64_MAX, Power::Watts(100), Uj(0));
  After(24h, Uj(1));
  EXPECT_EQ(meter_->status().unknown_wraps, 0u);
  EXPECT_GT(*meter_->longest_interval(), 24h * 365);
}

TEST_F(MeterLimitsTest, LongestInterval_IsThatOfTheCounterThatWrapsFirst) {
  script_.Add({"dram", "/s/dram", "dram@0", 65'000'000'000, {}, {}}, Uj(0));
  Open(kRange, Power::Watts(100), Uj(0));
  EXPECT_EQ(meter_->longest_interval(), 65s) << "1 kW where nothing is stated";
}

}  // namespace
}  // namespace kepler::energy
