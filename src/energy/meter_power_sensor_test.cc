// A Meter above sensors of power instead of counters of energy.
#include <gtest/gtest.h>

#include "energy/meter_test_util.h"

namespace kepler::energy {
namespace {

using namespace std::chrono_literals;

class MeterPowerSensorTest : public MeterTest {};

TEST_F(MeterPowerSensorTest, TwoReadings_AreIntegratedAsATrapezoid) {
  script_.Add({"power_meter_power1", "/s/power1_average", "p", {}, {}, {}}, Power::Watts(100));
  Open().Sample();
  EXPECT_TRUE(meter_->has_moved());
  EXPECT_FALSE(meter_->deltas()[0].fresh);
  script_.values[0] = Power::Watts(200);
  const ZoneDelta& delta = After(4s);
  EXPECT_EQ(delta.energy, Joules(600));
  EXPECT_DOUBLE_EQ(delta.power.watts(), 150.0) << "the mean over the interval, as of a counter";
}

TEST_F(MeterPowerSensorTest, SilentForMoreThanFiveMinutes_InventsNothing) {
  script_.Add({"p", "/s/p", "p", {}, {}, {}}, Power::Watts(100));
  Open().Sample();
  EXPECT_EQ(After(5min).energy, Joules(30'000)) << "the longest accepted interval";
  EXPECT_FALSE(After(5min + 1ns).fresh);
  EXPECT_EQ(meter_->status().resets, 1u);
  EXPECT_EQ(After(1s).energy, Joules(100));
}

TEST_F(MeterPowerSensorTest, FailedReading_TheNextOneSpansTheGap) {
  script_.Add({"p", "/s/p", "p", {}, {}, {}}, Power::Watts(100));
  Open().Sample();
  script_.values[0] = kIoError;
  After(5s);
  script_.values[0] = Power::Watts(100);
  EXPECT_EQ(After(5s).energy, Joules(1'000));
}

TEST_F(MeterPowerSensorTest, NegativeOrImpossible_CountsNothing) {
  script_.Add({"p", "/s/p", "p", {}, {}, {}}, Power::Watts(-5));
  Open().Sample();
  EXPECT_FALSE(meter_->has_moved());
  EXPECT_EQ(After(5s).energy, Energy());
  script_.values[0] = Power::Watts(60e6);
  EXPECT_FALSE(After(5s).fresh);
  EXPECT_EQ(meter_->status().rejected_readings, 1u);
  EXPECT_EQ(meter_->status().rejected_energy, Joules(300'000'000));
}

TEST_F(MeterPowerSensorTest, ImpossibleSeveralTimes_EachRefusalHasItsOwnTime) {
  script_.Add({"p", "/s/p", "p", {}, {}, {}}, Power::Watts(100));
  Open().Sample();
  script_.values[0] = Power::Watts(60e6);
  After(5s);
  After(5s);
  EXPECT_EQ(meter_->status().rejected_readings, 2u);
  EXPECT_EQ(meter_->status().rejected_energy, Joules(600'000'000)) << "10 s in all, not 15";
  script_.values[0] = Power::Watts(100);
  EXPECT_EQ(After(5s).energy, Joules(1'500)) << "the next good one spans the gap";
  script_.values[0] = Power::Watts(60e6);
  After(1s);
  EXPECT_EQ(meter_->status().rejected_energy, Joules(660'000'000)) << "since the good one";
}

TEST_F(MeterPowerSensorTest, ManyShortIntervals_LoseNoFraction) {
  script_.Add({"p", "/s/p", "p", {}, {}, {}}, Power::Microwatts(333));
  Open().Sample();
  Energy total;
  for (int i = 0; i < 1'000; ++i) total += After(1ms).energy;  // 0.333 µJ each
  EXPECT_NEAR(static_cast<double>(total.microjoules()), 333.0, 1.0);
}

}  // namespace
}  // namespace kepler::energy
