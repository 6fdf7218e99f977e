#include "energy/meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "energy/scripted_source.h"
#include "testing/fake_clock.h"

namespace kepler::energy {
namespace {

using namespace std::chrono_literals;
using testing::FakeClock;
using ::testing::HasSubstr;

constexpr uint64_t kRange = 262'143'328'850;
const Error kIoError{ErrorKind::kIo, "read energy_uj: Input/output error"};
const Error kGoneError{ErrorKind::kGone, "read energy_uj: No such device"};

RawCounter Uj(uint64_t microjoules) { return {microjoules}; }
Energy Joules(int64_t joules) { return Energy::Joules(joules); }

Domain Package(int socket = 0) {
  const std::string n = std::to_string(socket);
  return {"package", "/s/class/powercap/intel-rapl:" + n, "package@" + n, kRange, {}, {}};
}

class MeterTest : public ::testing::Test {
 protected:
  Meter& Open() {
    meter_ = std::make_unique<Meter>(std::make_unique<ScriptedSource>(script_, clock_), clock_);
    const Status status = meter_->Open();
    EXPECT_TRUE(status) << status.error().message;
    return *meter_;
  }
  /// One interval: time passes, then the meter looks.
  const ZoneDelta& After(Nanoseconds time) {
    clock_.Advance(time);
    meter_->Sample();
    return meter_->deltas()[0];
  }

  FakeClock clock_;
  Script script_;
  std::unique_ptr<Meter> meter_;
};

TEST_F(MeterTest, Sample_FirstLook_IsOnlyTheBaseline) {
  script_.Add(Package(), Uj(5'000'000'000));
  Open().Sample();
  ASSERT_EQ(meter_->deltas().size(), 1u);
  EXPECT_EQ(meter_->deltas()[0].energy, Energy());
  EXPECT_FALSE(meter_->deltas()[0].fresh);
  EXPECT_FALSE(meter_->has_moved());
  EXPECT_TRUE(meter_->health().up);
}

TEST_F(MeterTest, Sample_CounterMoved_GivesEnergyAndMeanPower) {
  script_.Add(Package(), Uj(1'000));
  Open().Sample();
  script_.values[0] = Uj(250'001'000);
  const ZoneDelta& delta = After(5s);
  EXPECT_EQ(delta.energy, Joules(250));
  EXPECT_DOUBLE_EQ(delta.power.watts(), 50.0);
  EXPECT_TRUE(delta.fresh);
  EXPECT_TRUE(meter_->has_moved());
  EXPECT_EQ(meter_->taken_at(), clock_.Now());
  EXPECT_EQ(meter_->health().last_success, clock_.Wall());
}

TEST_F(MeterTest, Sample_CounterWraps_AddsAcrossTheRange) {
  script_.Add(Package(), Uj(kRange - 9));
  Open().Sample();
  script_.values[0] = Uj(90);
  EXPECT_EQ(After(5s).energy, Energy::Microjoules(100));
  EXPECT_EQ(meter_->health().resets, 0u);
}

TEST_F(MeterTest, Sample_CounterResets_RebasesAndInventsNothing) {
  script_.Add(Package(), Uj(100'000'000'000));
  Open().Sample();
  script_.values[0] = Uj(1'000);  // as a wrap it would be 162 kJ in 5 s
  EXPECT_FALSE(After(5s).fresh);
  EXPECT_EQ(meter_->deltas()[0].energy, Energy());
  EXPECT_EQ(meter_->health().resets, 1u);
  script_.values[0] = Uj(10'001'000);
  EXPECT_EQ(After(5s).energy, Joules(10));
}

TEST_F(MeterTest, Sample_CounterJumpsAbovePhysics_IsRejectedAndCounted) {
  script_.Add(Package(), Uj(0));
  Open().Sample();
  script_.values[0] = Uj(60'000'000'000);  // 60 kJ in 5 s: 12 kW
  EXPECT_FALSE(After(5s).fresh);
  EXPECT_EQ(meter_->health().rejected_readings, 1u);
  EXPECT_EQ(meter_->health().rejected_energy, Joules(60'000));
  script_.values[0] = Uj(60'010'000'000);
  EXPECT_EQ(After(5s).energy, Joules(10)) << "must have re-based";
}

TEST_F(MeterTest, Sample_RefusedEnergyOfTwoHugeJumps_DoesNotOverflow) {
  script_.domains.clear();
  for (int i = 0; i < 3; ++i) {
    Domain domain = Package(i);
    domain.range.reset();
    script_.Add(domain, Uj(0));
  }
  Open().Sample();
  for (auto& value : script_.values) value = Uj(UINT64_MAX);
  After(5s);
  EXPECT_EQ(meter_->health().rejected_energy.microjoules(), INT64_MAX);
}

TEST_F(MeterTest, Sample_TenMinuteStall_EnergyOfTheWholeGapIsBelieved) {
  script_.Add(Package(), Uj(0));
  Open().Sample();
  script_.values[0] = Uj(60'000'000'000);  // 100 W for 10 min
  const ZoneDelta& delta = After(10min);
  EXPECT_EQ(delta.energy, Joules(60'000));
  EXPECT_DOUBLE_EQ(delta.power.watts(), 100.0);
}

TEST_F(MeterTest, Sample_FailedReading_IsCaughtUpByTheNextGoodOne) {
  script_.Add(Package(), Uj(0));
  Open().Sample();
  script_.values[0] = kIoError;
  EXPECT_FALSE(After(5s).fresh);
  EXPECT_FALSE(meter_->health().up);
  EXPECT_EQ(meter_->health().failed_reads, 1u);
  script_.values[0] = Uj(18'000'000'000);  // 1.8 kW over 10 s: above the gate of 5 s
  const ZoneDelta& delta = After(5s);
  EXPECT_EQ(delta.energy, Joules(18'000));
  EXPECT_DOUBLE_EQ(delta.power.watts(), 1'800.0);
  EXPECT_TRUE(meter_->health().up);
}

TEST_F(MeterTest, Sample_OneDomainOfAZoneFails_TheOtherOneGoesOn) {
  script_.Add(Package(0), Uj(0));
  script_.Add(Package(1), Uj(0));
  Open().Sample();
  script_.values = {Uj(50'000'000), kIoError};
  EXPECT_EQ(After(5s).energy, Joules(50));
  EXPECT_FALSE(meter_->deltas()[0].fresh) << "the watts of one socket are not those of the machine";
  EXPECT_EQ(meter_->deltas()[0].power, Power());
  EXPECT_TRUE(meter_->health().up);
  script_.values = {Uj(100'000'000), Uj(70'000'000)};
  EXPECT_EQ(After(5s).energy, Joules(50 + 70));
  EXPECT_TRUE(meter_->deltas()[0].fresh);
  EXPECT_DOUBLE_EQ(meter_->deltas()[0].power.watts(), 10 + 7) << "each over the time since its last good reading";
}

TEST_F(MeterTest, Sample_OneDomainOfAZoneRejected_WattsAreUnknown) {
  script_.Add(Package(0), Uj(0));
  script_.Add(Package(1), Uj(0));
  Open().Sample();
  script_.values = {Uj(50'000'000), Uj(60'000'000'000)};
  EXPECT_EQ(After(5s).energy, Joules(50));
  EXPECT_FALSE(meter_->deltas()[0].fresh);
}

TEST_F(MeterTest, Sample_DomainIsWithheld_ItsZoneIsCompleteWithoutIt) {
  script_.Add(Package(0), Uj(0));
  script_.Add(Package(1), Uj(0));
  Open().Sample();
  script_.values = {Uj(50'000'000), Withheld{}};
  EXPECT_EQ(After(5s).energy, Joules(50));
  EXPECT_TRUE(meter_->deltas()[0].fresh);
  EXPECT_DOUBLE_EQ(meter_->deltas()[0].power.watts(), 10.0);
  EXPECT_EQ(meter_->health().failed_reads, 0u);
}

TEST_F(MeterTest, Zones_SeveralDomains_AreSummedUnderAnAggregatedPath) {
  script_.Add(Package(0), Uj(0));
  script_.Add({"psys", "/s/psys", "psys@0", kRange, {}, {}}, Uj(0));
  script_.Add(Package(1), Uj(0));
  Open().Sample();
  ASSERT_EQ(meter_->zones().size(), 2u);
  EXPECT_EQ(meter_->zones()[0], (Zone{"package", "aggregated-package"}));
  EXPECT_EQ(meter_->zones()[1], (Zone{"psys", "/s/psys"}));
  script_.values = {Uj(10'000'000), Uj(100'000'000), Uj(20'000'000)};
  After(1s);
  EXPECT_EQ(meter_->deltas()[0].energy, Joules(30));
  EXPECT_DOUBLE_EQ(meter_->deltas()[0].power.watts(), 30.0);
  EXPECT_EQ(meter_->deltas()[1].energy, Joules(100));
}

TEST_F(MeterTest, Rediscovery_DomainComesBack_GoesOnFromItsLastValue) {
  script_.Add(Package(0), Uj(0));
  script_.Add(Package(1), Uj(1'000'000));
  Open().Sample();
  script_.values[1] = kGoneError;
  After(5s);
  script_.domains.pop_back();
  script_.values.pop_back();
  After(5s);  // looks again and does not find it
  EXPECT_EQ(script_.discoveries, 2);
  EXPECT_FALSE(meter_->deltas()[0].fresh) << "a part of the zone is missing";
  EXPECT_EQ(meter_->zones()[0].path, "aggregated-package") << "the series must not change its identity";
  script_.Add(Package(1), Uj(101'000'000));
  After(5s);
  EXPECT_EQ(script_.discoveries, 2) << "an absent domain is looked for every 10 s only";
}

TEST_F(MeterTest, Rediscovery_DomainStaysAway_TheRestIsTheZone) {
  script_.Add(Package(0), Uj(0));
  script_.Add(Package(1), Uj(0));
  Open().Sample();
  script_.values[1] = kGoneError;
  After(5s);
  script_.domains.pop_back();
  script_.values.pop_back();
  EXPECT_FALSE(After(5s).fresh);
  EXPECT_FALSE(After(55s).fresh) << "a driver that is reloaded comes back";
  script_.values[0] = Uj(100'000'000);
  EXPECT_TRUE(After(5s).fresh);
}

TEST_F(MeterTest, Rediscovery_AbsentDomainReturns_CountsWhatItMissed) {
  script_.Add(Package(0), Uj(0));
  script_.Add(Package(1), Uj(1'000'000));
  Open().Sample();
  script_.values[1] = kGoneError;
  After(5s);
  script_.domains.pop_back();
  script_.values.pop_back();
  After(5s);
  script_.Add(Package(1), Uj(101'000'000));
  EXPECT_EQ(After(10s).energy, Joules(100));
  EXPECT_EQ(meter_->health().resets, 0u);
}

TEST_F(MeterTest, Rediscovery_DriverReloaded_CounterAtZeroIsAReset) {
  script_.Add(Package(), Uj(50'000'000'000));
  Open().Sample();
  script_.values[0] = kGoneError;
  After(5s);
  script_.values[0] = Uj(3'000'000);
  EXPECT_FALSE(After(5s).fresh);
  EXPECT_EQ(meter_->health().resets, 1u);
  script_.values[0] = Uj(4'000'000);
  EXPECT_EQ(After(5s).energy, Joules(1));
}

TEST_F(MeterTest, Rediscovery_Fails_KeepsTheZonesAndSaysDown) {
  script_.Add(Package(), Uj(0));
  Open().Sample();
  script_.values[0] = kGoneError;
  script_.discover_error = Error{ErrorKind::kNotFound, "list powercap: No such file or directory"};
  After(5s);
  After(5s);
  After(5s);
  EXPECT_EQ(script_.discoveries, 3) << "once per sample at most";
  EXPECT_EQ(meter_->zones().size(), 1u);
  EXPECT_FALSE(meter_->health().up);
  script_.discover_error.reset();
  script_.values[0] = Uj(9'000'000);
  EXPECT_EQ(After(5s).energy, Joules(9));
  EXPECT_TRUE(meter_->health().up);
}

TEST_F(MeterTest, Rediscovery_NewZoneAppears_IsAppended) {
  script_.Add(Package(0), Uj(0));
  Open().Sample();
  script_.values[0] = kGoneError;
  After(5s);
  script_.domains.insert(script_.domains.begin(), Domain{"dram", "/s/dram", "dram@0", kRange, {}, {}});
  script_.values = {Uj(0), Uj(5'000'000)};
  After(5s);
  ASSERT_EQ(meter_->zones().size(), 2u);
  EXPECT_EQ(meter_->zones()[0].name, "package");
  EXPECT_EQ(meter_->zones()[1], (Zone{"dram", "/s/dram"}));
  EXPECT_EQ(meter_->deltas()[0].energy, Joules(5));
}

TEST_F(MeterTest, PowerSensor_TwoReadings_AreIntegratedAsATrapezoid) {
  script_.Add({"power_meter_power1", "/s/power1_average", "p", {}, {}, {}}, Power::Watts(100));
  Open().Sample();
  EXPECT_TRUE(meter_->has_moved());
  EXPECT_FALSE(meter_->deltas()[0].fresh);
  script_.values[0] = Power::Watts(200);
  const ZoneDelta& delta = After(4s);
  EXPECT_EQ(delta.energy, Joules(600));
  EXPECT_DOUBLE_EQ(delta.power.watts(), 150.0) << "the mean over the interval, as of a counter";
}

TEST_F(MeterTest, PowerSensor_SilentForMoreThanFiveMinutes_InventsNothing) {
  script_.Add({"p", "/s/p", "p", {}, {}, {}}, Power::Watts(100));
  Open().Sample();
  EXPECT_FALSE(After(8h).fresh);
  EXPECT_EQ(meter_->health().resets, 1u);
  EXPECT_EQ(After(1s).energy, Joules(100));
}

TEST_F(MeterTest, PowerSensor_FailedReading_TheNextOneSpansTheGap) {
  script_.Add({"p", "/s/p", "p", {}, {}, {}}, Power::Watts(100));
  Open().Sample();
  script_.values[0] = kIoError;
  After(5s);
  script_.values[0] = Power::Watts(100);
  EXPECT_EQ(After(5s).energy, Joules(1'000));
}

TEST_F(MeterTest, PowerSensor_NegativeOrImpossible_CountsNothing) {
  script_.Add({"p", "/s/p", "p", {}, {}, {}}, Power::Watts(-5));
  Open().Sample();
  EXPECT_FALSE(meter_->has_moved());
  EXPECT_EQ(After(5s).energy, Energy());
  script_.values[0] = Power::Watts(60e6);
  EXPECT_FALSE(After(5s).fresh);
  EXPECT_EQ(meter_->health().rejected_readings, 1u);
  EXPECT_EQ(meter_->health().rejected_energy, Joules(300'000'000));
}

TEST_F(MeterTest, PowerSensor_ImpossibleSeveralTimes_EachRefusalHasItsOwnTime) {
  script_.Add({"p", "/s/p", "p", {}, {}, {}}, Power::Watts(100));
  Open().Sample();
  script_.values[0] = Power::Watts(60e6);
  After(5s);
  After(5s);
  EXPECT_EQ(meter_->health().rejected_readings, 2u);
  EXPECT_EQ(meter_->health().rejected_energy, Joules(600'000'000)) << "10 s in all, not 15";
  script_.values[0] = Power::Watts(100);
  EXPECT_EQ(After(5s).energy, Joules(1'500)) << "the next good one spans the gap";
  script_.values[0] = Power::Watts(60e6);
  After(1s);
  EXPECT_EQ(meter_->health().rejected_energy, Joules(660'000'000)) << "since the good one";
}

TEST_F(MeterTest, PowerSensor_ManyShortIntervals_LoseNoFraction) {
  script_.Add({"p", "/s/p", "p", {}, {}, {}}, Power::Microwatts(333));
  Open().Sample();
  Energy total;
  for (int i = 0; i < 1'000; ++i) total += After(1ms).energy;  // 0.333 µJ each
  EXPECT_NEAR(static_cast<double>(total.microjoules()), 333.0, 1.0);
}

TEST_F(MeterTest, Open_NoDomainReadable_FailsWithTheReasonAndTheRemedy) {
  script_.Add(Package(), Error{ErrorKind::kPermission, "open energy_uj: Permission denied"});
  Meter meter(std::make_unique<ScriptedSource>(script_, clock_), clock_);
  const Status status = meter.Open();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::kPermission);
  EXPECT_THAT(status.error().message, HasSubstr("CAP_DAC_READ_SEARCH"));
}

TEST_F(MeterTest, Open_OneOfTwoDomainsReadable_Works) {
  script_.Add(Package(0), kIoError);
  script_.Add(Package(1), Uj(1));
  EXPECT_TRUE(Open().health().up);
}

TEST_F(MeterTest, HasMoved_FrozenCounter_StaysFalse) {
  script_.Add(Package(), Uj(77));
  Open();
  for (int i = 0; i < 5; ++i) After(5s);
  EXPECT_FALSE(meter_->has_moved());
  EXPECT_TRUE(meter_->deltas()[0].fresh) << "a counter that stands still was read all the same";
}

/// Whatever the counter shows: nothing is negative, and what is believed fits through the gate.
RC_GTEST_PROP(MeterProperty, AnyCounterValues_EnergyStaysWithinPhysics, (const std::vector<uint64_t>& values)) {
  FakeClock clock;
  Script script;
  script.Add(Package(), Uj(0));
  Meter meter(std::make_unique<ScriptedSource>(script, clock), clock);
  RC_ASSERT(meter.Open().has_value());
  for (const uint64_t value : values) {
    script.values[0] = Uj(value);
    clock.Advance(1s);
    meter.Sample();
    RC_ASSERT(meter.deltas()[0].energy >= Energy());
    RC_ASSERT(meter.deltas()[0].energy <= Energy::Joules(2'200));
  }
}

/// A counter that rises by possible steps, is wrapped by its range and fails now and then: nothing is lost.
RC_GTEST_PROP(MeterProperty, WrapsAndFailedReads_TotalEqualsTheTruth, (std::vector<std::pair<uint32_t, bool>> steps)) {
  FakeClock clock;
  Script script;
  Domain domain = Package();
  domain.range = 10'000'000'000;
  uint64_t truth = 9'000'000'000;
  script.Add(domain, Uj(truth));
  Meter meter(std::make_unique<ScriptedSource>(script, clock), clock);
  RC_ASSERT(meter.Open().has_value());
  meter.Sample();
  Energy total;
  uint64_t used = 0;
  int failures_in_a_row = 0;
  steps.emplace_back(1, false);
  for (const auto& [step, fails] : steps) {
    const uint64_t rise = step % 1'000'000'000;  // up to 1 kW
    used += rise;
    truth = (truth + rise) % (*domain.range + 1);
    clock.Advance(1s);
    // Nobody can see two wraps in one gap.
    const bool broken = fails && failures_in_a_row < 3;
    failures_in_a_row = broken ? failures_in_a_row + 1 : 0;
    if (broken)
      script.values[0] = kIoError;
    else
      script.values[0] = Uj(truth);
    meter.Sample();
    total += meter.deltas()[0].energy;
  }
  RC_ASSERT(total.microjoules() == static_cast<int64_t>(used));
}

}  // namespace
}  // namespace kepler::energy
