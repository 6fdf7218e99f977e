#include "energy/platform_meters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "energy/meter_set.h"
#include "energy/meter_test_util.h"
#include "energy/polled_source.h"

namespace kepler::energy {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

/// A machine with a BMC that is read every 15 s, an ACPI power meter that is read with each tick of 5 s, and RAPL.
class PlatformMetersTest : public ::testing::Test {
 protected:
  static constexpr size_t kRedfish = 0;
  static constexpr size_t kAcpi = 1;

  PlatformMetersTest() {
    for (size_t i = 0; i < scripts_.size(); ++i) {
      scripts_[i].name = i == kRedfish ? "redfish" : "acpi";
      scripts_[i].domain = status::Domain::kPlatform;
    }
    AddSensor(kRedfish, "chassis", 300);
    AddSensor(kAcpi, "power1", 280);
    rapl_.name = "rapl";
    rapl_.Add({"package", "/s/package", "package", kRange, {}, {}}, Uj(0));
  }
  void AddSensor(size_t meter, const std::string& id, double watts, bool whole = true) {
    Domain domain{id, "/" + id, id, {}, {}, {}};
    domain.sensor.emplace();
    domain.sensor->source_id = id;
    domain.sensor->whole = whole;
    scripts_[meter].Add(std::move(domain), Power::Watts(watts));
  }
  void Open() {
    std::vector<std::unique_ptr<EnergySource>> sources;
    sources.push_back(std::make_unique<ScriptedSource>(rapl_, clock_));
    auto cpu = std::make_unique<MeterSelector>(std::move(sources), nullptr, clock_);
    ASSERT_TRUE(cpu->Open());
    set_ = std::make_unique<MeterSet>(std::move(cpu), clock_);
    std::vector<PlatformMeter> meters;
    for (size_t i = 0; i < scripts_.size(); ++i)
      meters.push_back({scripts_[i].name, [this, i] { return present_[i]; }, [this, i] { return Make(i); }});
    auto platform = std::make_unique<PlatformMeters>(std::move(meters), clock_);
    ASSERT_TRUE(set_->AddPlatform(std::move(platform)));
  }
  Result<std::unique_ptr<EnergySource>> Make(size_t meter) {
    ++made_[meter];
    auto source = std::make_unique<PolledSource>(std::make_unique<ScriptedSource>(scripts_[meter], clock_),
                                                 meter == kRedfish ? 15s : 5s, testing::Lend(clock_));
    polled_[meter] = source.get();
    return source;
  }
  /// Five seconds pass, in which the CPUs use `watts`.
  void Tick(double cpu_watts = 100) {
    clock_.Advance(5s);
    ++ticks_;
    rapl_.values[0] = Uj(std::get<RawCounter>(rapl_.values[0]).microjoules + static_cast<uint64_t>(cpu_watts * 5e6));
    for (size_t i = 0; i < polled_.size(); ++i)
      if (polled_[i] != nullptr && (i == kAcpi || ticks_ % 3 == 0)) polled_[i]->Poll();
    set_->Sample();
    for (size_t z = 0; z < set_->zones().size(); ++z)
      if (set_->zones()[z].name == "platform") total_ += set_->deltas()[z].energy;
  }
  void Ticks(int count) {
    for (int i = 0; i < count; ++i) Tick();
  }
  const ZoneDelta& Platform() {
    for (size_t z = 0; z < set_->zones().size(); ++z)
      if (set_->zones()[z].name == "platform") return set_->deltas()[z];
    ADD_FAILURE() << "no platform zone";
    return set_->deltas()[0];
  }
  std::vector<status::PlatformReading> Sensors() {
    std::vector<status::PlatformReading> readings;
    set_->ReadPlatform(readings);
    return readings;
  }

  testing::FakeClock clock_;
  std::array<Script, 2> scripts_;
  Script rapl_;
  std::array<bool, 2> present_ = {true, true};
  std::array<int, 2> made_ = {0, 0};
  std::array<PolledSource*, 2> polled_ = {nullptr, nullptr};
  std::unique_ptr<MeterSet> set_;
  Energy total_;
  int ticks_ = 0;
};

TEST_F(PlatformMetersTest, TwoMetersOfOneMachine_TheMostTrustedIsTheTotal) {
  Open();
  Ticks(60);
  const auto sensors = Sensors();
  ASSERT_EQ(sensors.size(), 2u);
  EXPECT_EQ(sensors[0].source, "redfish");
  EXPECT_TRUE(sensors[0].is_counted);
  EXPECT_FALSE(sensors[1].is_counted);
  EXPECT_DOUBLE_EQ(Platform().power.watts(), 300);
  EXPECT_DOUBLE_EQ(sensors[1].power.watts(), 280);
  EXPECT_EQ(sensors[1].energy, Energy::Joules(280 * 5 * 59)) << "59 intervals of 60 readings";
  EXPECT_LE(total_, Energy::Joules(300 * 300)) << "counted once";
  EXPECT_GE(total_, Energy::Joules(280 * 280));
}

TEST_F(PlatformMetersTest, SlowMeterBetweenItsReadings_NeverShowsZeroWatts) {
  present_[kAcpi] = false;
  Open();
  Ticks(9);
  for (int i = 0; i < 12; ++i) {
    Tick();
    EXPECT_TRUE(Platform().fresh) << i;
    EXPECT_DOUBLE_EQ(Platform().power.watts(), 300) << i;
  }
  const auto sensors = Sensors();
  ASSERT_EQ(sensors.size(), 1u);
  EXPECT_EQ(total_, sensors[0].energy) << "the total is the sum of its sensors, to the microjoule";
}

TEST_F(PlatformMetersTest, MeterThatIsNotThere_IsNotMadeUntilItAppears) {
  present_[kRedfish] = false;
  Open();
  Ticks(12);
  EXPECT_EQ(made_[kRedfish], 0);
  EXPECT_DOUBLE_EQ(Platform().power.watts(), 280);
  present_[kRedfish] = true;
  Ticks(12);
  EXPECT_EQ(made_[kRedfish], 1);
  EXPECT_DOUBLE_EQ(Platform().power.watts(), 300) << "the more trusted meter took over";
}

TEST_F(PlatformMetersTest, NoMeter_HasNoZone) {
  present_ = {false, false};
  Open();
  Ticks(3);
  EXPECT_EQ(set_->zones().size(), 1u);
  EXPECT_THAT(Sensors(), IsEmpty());
  EXPECT_FALSE(set_->other());
}

TEST_F(PlatformMetersTest, TotalFallsSilent_AnotherMeterFollowsAndNoTimeIsCountedTwice) {
  Open();
  Ticks(12);
  const BootTime begin = clock_.Now();
  const Energy before = total_;
  scripts_[kRedfish].values[0] = kIoError;
  Ticks(6);
  EXPECT_FALSE(Platform().fresh) << "its watts are unknown while it fails";
  Ticks(42);
  EXPECT_DOUBLE_EQ(Platform().power.watts(), 280);
  EXPECT_FALSE(Sensors()[0].fresh);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(clock_.Now() - begin).count();
  EXPECT_LE(total_ - before, Energy::Joules(280 * seconds));
  EXPECT_GE(total_ - before, Energy::Joules(280 * (seconds - 20))) << "the ACPI meter measured during the silence";
  scripts_[kRedfish].values[0] = Power::Watts(300);
  Ticks(60);
  EXPECT_DOUBLE_EQ(Platform().power.watts(), 300);
}

TEST_F(PlatformMetersTest, ShortFault_TheEnergyOfTheGapIsAddedLater) {
  present_[kAcpi] = false;
  Open();
  Ticks(12);
  scripts_[kRedfish].values[0] = kIoError;
  Ticks(6);
  scripts_[kRedfish].values[0] = Power::Watts(300);
  Ticks(12);
  const auto sensors = Sensors();
  EXPECT_EQ(total_, sensors[0].energy);
  EXPECT_GE(total_, Energy::Joules(300 * 5 * 24)) << "of 30 ticks the last reading covers at least 24";
}

/// The BMC has a counter of 1 Wh, and is away for ten minutes.
TEST_F(PlatformMetersTest, LongFault_OwnCounter_TheEnergyOfTheGapIsInTheTotalOnce) {
  present_[kAcpi] = false;
  int64_t joules = 1'000'000;
  const auto ticks = [&](int count) {
    for (int i = 0; i < count; ++i) {
      joules += 300 * 5;
      scripts_[kRedfish].counter = Energy::Joules(joules / 3'600 * 3'600);
      Tick();
    }
  };
  Open();
  ticks(60);
  const status::OtherEnergy before = set_->other().value();
  scripts_[kRedfish].values[0] = kIoError;
  ticks(120);
  scripts_[kRedfish].values[0] = Power::Watts(300);
  ticks(60);
  const auto sensors = Sensors();
  EXPECT_EQ(total_, sensors[0].energy);
  EXPECT_NEAR(total_.ToJoules(), 300 * 5 * 234, 300 * 5 * 3 + 3'600) << "from the first reading to the last";
  EXPECT_EQ(set_->status().back().bridged_gaps, 1U);
  EXPECT_EQ(sensors[0].check->refused, 0U);
  const Energy other = set_->other()->energy - before.energy;
  EXPECT_LE(other, Energy::Joules(200 * 5 * 120)) << "the gap is not compared with the CPUs";
  EXPECT_GE(other, Energy::Joules(200 * 5 * 50));
}

TEST_F(PlatformMetersTest, PartsOfTheMachine_AreShownAndNotAdded) {
  present_[kAcpi] = false;
  AddSensor(kRedfish, "cpu", 120, false);
  AddSensor(kRedfish, "second chassis", 50);
  Open();
  Ticks(12);
  EXPECT_DOUBLE_EQ(Platform().power.watts(), 350);
  EXPECT_THAT(Sensors(), ElementsAre(Field(&status::PlatformReading::is_counted, true),
                                     Field(&status::PlatformReading::is_counted, false),
                                     Field(&status::PlatformReading::is_counted, true)));
}

TEST_F(PlatformMetersTest, OnlyPartsAnswer_NextMeterIsTheTotal) {
  AddSensor(kRedfish, "cpu", 120, false);
  Open();
  Ticks(9);
  scripts_[kRedfish].values[0] = kIoError;
  Ticks(60);
  EXPECT_DOUBLE_EQ(Platform().power.watts(), 280) << "the ACPI meter";
}

TEST_F(PlatformMetersTest, SensorIsListedUnderANewKey_GoesOnBeingTheTotal) {
  present_[kAcpi] = false;
  Open();
  Ticks(9);
  scripts_[kRedfish].domains[0].key = "renumbered";
  Ticks(12);
  const Energy before = total_;
  Ticks(12);
  EXPECT_DOUBLE_EQ(Platform().power.watts(), 300);
  EXPECT_EQ(total_ - before, Energy::Joules(300 * 60));
}

TEST_F(PlatformMetersTest, SensorFailsAtFirst_MayUseMoreThanTheDefaultLimit) {
  AddSensor(kRedfish, "second chassis", 50);
  scripts_[kRedfish].values[0] = kIoError;
  present_[kAcpi] = false;
  Open();
  Ticks(9);
  scripts_[kRedfish].values[0] = Power::Watts(3'000);
  Ticks(30);
  EXPECT_DOUBLE_EQ(Platform().power.watts(), 3'050);
}

TEST_F(PlatformMetersTest, ImpossiblePower_IsRejectedAndCounted) {
  present_[kAcpi] = false;
  Open();
  Ticks(9);
  scripts_[kRedfish].values[0] = Power::Watts(4'294'967);
  Ticks(3);
  std::vector<status::SourceStatus> all = set_->status();
  ASSERT_EQ(all.back().name, "redfish");
  EXPECT_GE(all.back().rejected_readings, 1u);
  EXPECT_GT(all.back().rejected_energy, Energy::Joules(4'294'967));
  scripts_[kRedfish].values[0] = Power::Watts(300);
  Ticks(6);
  EXPECT_DOUBLE_EQ(Platform().power.watts(), 300);
  EXPECT_LE(total_, Energy::Joules(300 * 5 * 18));
}

TEST_F(PlatformMetersTest, OnePowerSupplyRemovedForGood_TheOtherGoesOn) {
  present_[kAcpi] = false;
  AddSensor(kRedfish, "psu 2", 40);
  Open();
  Ticks(9);
  scripts_[kRedfish].domains.pop_back();
  scripts_[kRedfish].values.pop_back();
  scripts_[kRedfish].values[0] = Power::Watts(340);
  Ticks(90);
  const Energy before = total_;
  Ticks(60);
  EXPECT_EQ(total_ - before, Energy::Joules(340 * 300));
}

TEST_F(PlatformMetersTest, OnePowerSupplyFailsForAWhile_NoEnergyIsLost) {
  present_[kAcpi] = false;
  AddSensor(kRedfish, "psu 2", 40);
  Open();
  Ticks(9);
  const Energy before = total_;
  scripts_[kRedfish].values[1] = kIoError;
  Ticks(12);
  scripts_[kRedfish].values[1] = Power::Watts(40);
  Ticks(12);
  EXPECT_EQ(total_ - before, Energy::Joules(340 * 5 * 24));
}

TEST_F(PlatformMetersTest, OnePowerSupplyFails_TheRestIsNotTheMachine) {
  AddSensor(kRedfish, "psu 2", 40);
  Open();
  Ticks(12);
  const Energy begin = total_;
  scripts_[kRedfish].values[1] = kIoError;
  Ticks(6);
  for (int i = 0; i < 12; ++i) {
    Tick();
    EXPECT_FALSE(Platform().fresh) << "neither the watts of one supply nor a false 0 W";
  }
  Ticks(12);
  EXPECT_DOUBLE_EQ(Platform().power.watts(), 280) << "the ACPI meter took over";
  const Energy before = total_;
  EXPECT_LE(before - begin, Energy::Joules(280 * 5 * 30));
  EXPECT_GE(before - begin, Energy::Joules(280 * 5 * 26)) << "the ACPI meter measured meanwhile";
  Ticks(60);
  EXPECT_EQ(total_ - before, Energy::Joules(280 * 300));
  scripts_[kRedfish].values[1] = Power::Watts(40);
  Ticks(12);
  EXPECT_DOUBLE_EQ(Platform().power.watts(), 340);
}

TEST_F(PlatformMetersTest, SensorIsTheWholeAgainAfterATakeover_NoTimeIsCountedTwice) {
  scripts_[kAcpi].values[0] = Power::Watts(300);  // both meters say the same
  Open();
  Ticks(12);
  const auto search = [this](bool whole) {
    scripts_[kRedfish].domains[0].sensor->whole = whole;
    scripts_[kRedfish].values[0] = Error{ErrorKind::kGone, "search"};
    Ticks(3);
    scripts_[kRedfish].values[0] = Power::Watts(300);
  };
  search(false);
  Ticks(60);
  const Energy before = total_;
  search(true);
  Ticks(30);
  EXPECT_DOUBLE_EQ(Platform().power.watts(), 300);
  EXPECT_EQ(total_ - before, Energy::Joules(300 * 5 * 32)) << "one interval is lost at the change";
}

TEST_F(PlatformMetersTest, OneOfTwoBatteriesIsNotInUse_TheOtherIsTheMachine) {
  present_[kRedfish] = false;
  AddSensor(kAcpi, "second", 0);
  Open();
  Ticks(6);
  scripts_[kAcpi].values[1] = Withheld{.unused = true};
  Ticks(12);
  EXPECT_DOUBLE_EQ(Platform().power.watts(), 280);
  const Energy before = total_;
  Ticks(12);
  EXPECT_EQ(total_ - before, Energy::Joules(280 * 60));
}

TEST_F(PlatformMetersTest, SensorNoLongerTheWhole_TheTotalStopsUntilItIsAgain) {
  present_[kAcpi] = false;
  Open();
  Ticks(12);
  scripts_[kRedfish].domains[0].sensor->whole = false;
  scripts_[kRedfish].values[0] = Error{ErrorKind::kGone, "search"};
  Ticks(3);
  scripts_[kRedfish].values[0] = Power::Watts(300);
  Ticks(12);
  EXPECT_FALSE(Platform().fresh);
  const Energy before = total_;
  Ticks(60);
  EXPECT_EQ(total_, before);
  scripts_[kRedfish].domains[0].sensor->whole = true;
  scripts_[kRedfish].values[0] = Error{ErrorKind::kGone, "search"};
  Ticks(3);
  scripts_[kRedfish].values[0] = Power::Watts(300);
  Ticks(24);
  EXPECT_DOUBLE_EQ(Platform().power.watts(), 300);
  EXPECT_EQ(total_ - before, Energy::Joules(300 * 5 * 21)) << "counted from the first poll on, 15 s later";
}

TEST_F(PlatformMetersTest, SensorsReplacedByAnotherOne_TheTotalGoesOnAtOnce) {
  present_[kAcpi] = false;
  AddSensor(kRedfish, "psu 2", 40);
  Open();
  Ticks(9);
  const Script supplies = scripts_[kRedfish];
  scripts_[kRedfish].domains.clear();
  scripts_[kRedfish].values.clear();
  AddSensor(kRedfish, "whole", 350);
  Ticks(12);
  const Energy before = total_;
  Ticks(12);
  EXPECT_EQ(total_ - before, Energy::Joules(350 * 60));
  scripts_[kRedfish].domains = supplies.domains;
  scripts_[kRedfish].values = supplies.values;
  Ticks(24);
  EXPECT_LE(total_ - before, Energy::Joules(350 * 60 + 350 * 120)) << "the supplies do not catch up";
  EXPECT_GE(total_ - before, Energy::Joules(350 * 60 + 340 * 75));
}

TEST_F(PlatformMetersTest, OtherEnergy_IsThePlatformWithoutItsParts) {
  present_[kAcpi] = false;
  Open();
  Ticks(12);
  const status::OtherEnergy before = set_->other().value();
  Ticks(60);
  const status::OtherEnergy after = set_->other().value();
  EXPECT_EQ(after.energy - before.energy, Energy::Joules((300 - 100) * 300));
  EXPECT_EQ(after.debt, Energy());
}

TEST_F(PlatformMetersTest, OtherEnergy_OfALaggingPlatform_NeverDecreasesAndComesOut) {
  present_[kAcpi] = false;
  Open();
  Ticks(12);
  const status::OtherEnergy before = set_->other().value();
  Energy last = before.energy;
  // The CPUs use 400 W for a minute. The BMC, which averages, shows it a minute later.
  const std::array<std::pair<double, double>, 3> phases = {{{400, 300}, {100, 600}, {100, 300}}};
  bool had_debt = false;
  for (const auto& [cpu, bmc] : phases) {
    scripts_[kRedfish].values[0] = Power::Watts(bmc);
    for (int i = 0; i < 12; ++i) {
      Tick(cpu);
      EXPECT_GE(set_->other()->energy, last);
      last = set_->other()->energy;
      had_debt |= set_->other()->debt > Energy();
    }
  }
  EXPECT_TRUE(had_debt);
  Ticks(30);
  const status::OtherEnergy after = set_->other().value();
  EXPECT_EQ(after.debt, Energy());
  const Energy expected = Energy::Joules((300 - 100) * (180 + 150));
  EXPECT_EQ(after.energy - before.energy, expected) << "Σ parts + other = Σ platform";
}

}  // namespace
}  // namespace kepler::energy
