#include "energy/meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "energy/meter_test_util.h"

namespace kepler::energy {
namespace {

using namespace std::chrono_literals;
using testing::FakeClock;
using ::testing::HasSubstr;

TEST_F(MeterTest, Sample_FirstScan_IsOnlyTheBaseline) {
  script_.Add(Package(), Uj(5'000'000'000));
  Open().Sample();
  ASSERT_EQ(meter_->deltas().size(), 1u);
  EXPECT_EQ(meter_->deltas()[0].energy, Energy());
  EXPECT_FALSE(meter_->deltas()[0].fresh);
  EXPECT_FALSE(meter_->has_moved());
  EXPECT_TRUE(meter_->status().up);
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
  EXPECT_EQ(meter_->status().last_success, clock_.Wall());
}

TEST_F(MeterTest, Sample_CounterWraps_AddsAcrossTheRange) {
  script_.Add(Package(), Uj(kRange - 9));
  Open().Sample();
  script_.values[0] = Uj(90);
  EXPECT_EQ(After(5s).energy, Energy::Microjoules(100));
  EXPECT_EQ(meter_->status().resets, 0u);
}

TEST_F(MeterTest, Sample_NothingButWithheldReadings_HasNoWatts) {
  script_.Add(Package(0), Uj(1'000));
  script_.Add(Package(1), Uj(1'000));
  Open().Sample();
  script_.values = {Withheld{}, Withheld{}};
  const ZoneDelta& delta = After(5s);
  EXPECT_FALSE(delta.fresh);
  EXPECT_EQ(delta.energy, Energy());
}

TEST_F(MeterTest, Sample_CounterResets_RebasesAndInventsNothing) {
  script_.Add(Package(), Uj(100'000'000'000));
  Open().Sample();
  script_.values[0] = Uj(1'000);  // as a wrap it would be 162 kJ in 5 s
  EXPECT_FALSE(After(5s).fresh);
  EXPECT_EQ(meter_->deltas()[0].energy, Energy());
  EXPECT_EQ(meter_->status().resets, 1u);
  script_.values[0] = Uj(10'001'000);
  EXPECT_EQ(After(5s).energy, Joules(10));
}

TEST_F(MeterTest, Sample_CounterJumpsAbovePhysics_IsRejectedAndCounted) {
  script_.Add(Package(), Uj(0));
  Open().Sample();
  script_.values[0] = Uj(60'000'000'000);  // 60 kJ in 5 s: 12 kW
  EXPECT_FALSE(After(5s).fresh);
  EXPECT_EQ(meter_->status().rejected_readings, 1u);
  EXPECT_EQ(meter_->status().rejected_energy, Joules(60'000));
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
  EXPECT_EQ(meter_->status().rejected_energy.microjoules(), INT64_MAX);
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
  EXPECT_FALSE(meter_->status().up);
  EXPECT_EQ(meter_->status().failed_reads, 1u);
  script_.values[0] = Uj(18'000'000'000);  // 1.8 kW over 10 s: above the gate of 5 s
  const ZoneDelta& delta = After(5s);
  EXPECT_EQ(delta.energy, Joules(18'000));
  EXPECT_DOUBLE_EQ(delta.power.watts(), 1'800.0);
  EXPECT_TRUE(meter_->status().up);
}

TEST_F(MeterTest, Sample_OneDomainOfAZoneFails_TheOtherOneGoesOn) {
  script_.Add(Package(0), Uj(0));
  script_.Add(Package(1), Uj(0));
  Open().Sample();
  script_.values = {Uj(50'000'000), kIoError};
  EXPECT_EQ(After(5s).energy, Joules(50));
  EXPECT_FALSE(meter_->deltas()[0].fresh) << "the watts of one socket are not those of the machine";
  EXPECT_EQ(meter_->deltas()[0].power, Power());
  EXPECT_TRUE(meter_->status().up);
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
  EXPECT_EQ(meter_->status().failed_reads, 0u);
}

TEST_F(MeterTest, Sample_DomainWasUnused_ItsWattsAreOfTheTimeSince) {
  script_.Add(Package(0), Uj(0));
  Open().Sample();
  script_.values = {Withheld{.unused = true}};
  EXPECT_EQ(After(1h).energy, Joules(0));
  script_.values = {Uj(50'000'000)};
  EXPECT_EQ(After(5s).energy, Joules(50));
  EXPECT_TRUE(meter_->deltas()[0].fresh);
  EXPECT_DOUBLE_EQ(meter_->deltas()[0].power.watts(), 10.0);
}

TEST_F(MeterTest, Zones_SeveralDomains_AreSummedUnderAnAggregatedPath) {
  script_.Add(Package(0), Uj(0));
  script_.Add({"psys", "/s/psys", "psys@0", kRange, {}, {}}, Uj(0));
  script_.Add(Package(1), Uj(0));
  Open().Sample();
  ASSERT_EQ(meter_->zones().size(), 2u);
  EXPECT_EQ(meter_->zones()[0], (status::Zone{"package", "aggregated-package", "scripted"}));
  EXPECT_EQ(meter_->zones()[1], (status::Zone{"psys", "/s/psys", "scripted"}));
  script_.values = {Uj(10'000'000), Uj(100'000'000), Uj(20'000'000)};
  After(1s);
  EXPECT_EQ(meter_->deltas()[0].energy, Joules(30));
  EXPECT_DOUBLE_EQ(meter_->deltas()[0].power.watts(), 30.0);
  EXPECT_EQ(meter_->deltas()[1].energy, Joules(100));
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
  EXPECT_TRUE(Open().status().up);
}

TEST_F(MeterTest, HasMoved_FrozenCounter_StaysFalse) {
  script_.Add(Package(), Uj(77));
  Open();
  for (int i = 0; i < 5; ++i) After(5s);
  EXPECT_FALSE(meter_->has_moved());
  EXPECT_TRUE(meter_->deltas()[0].fresh) << "an unchanged counter was read all the same";
}

/// Whatever the counter shows: no energy is negative, and accepted energy is plausible.
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

TEST_F(MeterTest, ThousandsOfZones_TheFirstAreLoggedWithTheNumberOfTheOthers) {
  for (int i = 0; i < 3000; ++i) {
    const std::string name = "z" + std::to_string(i);
    script_.Add({name, "/" + name, name, kRange, {}, "a note"}, Uj(1));
  }
  ::testing::internal::CaptureStdout();
  Open().Announce();
  const std::string log = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::ranges::count(log, '\n'), 2 * static_cast<int>(Meter::kMaxAnnounced) + 1);
  EXPECT_THAT(log, HasSubstr("more energy zones are not listed"));
  EXPECT_THAT(log, HasSubstr("zones=2980"));
}

TEST_F(MeterTest, Problem_OfTheFirstDomainThatFails) {
  script_.Add(Package(0), Uj(1'000));
  script_.Add(Package(1), Uj(1'000));
  Open().Sample();
  EXPECT_FALSE(meter_->status().problem);
  script_.values[1] = kIoError;
  After(5s);
  ASSERT_TRUE(meter_->status().problem);
  EXPECT_EQ(meter_->status().problem->message, kIoError.message);
  script_.values[1] = Uj(2'000);
  After(5s);
  EXPECT_FALSE(meter_->status().problem);
}

TEST_F(MeterTest, Doubt_IsThatOfTheLatestSearch) {
  script_.Add(Package(0), Uj(1'000));
  script_.domains[0].doubt = "another sensor may be right";
  EXPECT_EQ(Open().status().doubt, "another sensor may be right");
  script_.domains[0].doubt.clear();
  ASSERT_TRUE(meter_->Open());
  EXPECT_EQ(meter_->status().doubt, "");
}

}  // namespace
}  // namespace kepler::energy
