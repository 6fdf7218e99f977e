#include "apps/kepler/meter_survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "testing/fake_tree.h"

namespace kepler::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MeterSurvey : public ::testing::Test {
 protected:
  MeterSurvey() {
    config_.host.sysfs = sys_.root();
    config_.dcmi.device_path = sys_.Path("dev/ipmi0");
  }
  void Rapl() {
    sys_.Write("class/powercap/intel-rapl:0/name", "package-0\n");
    sys_.Write("class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n");
    sys_.Write("class/powercap/intel-rapl:0/energy_uj", "1000\n");
  }
  void Acpi(const std::string& microwatts) {
    sys_.Write("class/hwmon/hwmon0/device/name", "power_meter\n");
    sys_.Write("class/hwmon/hwmon0/device/power1_average", microwatts + "\n");
  }
  void Battery(const std::string& status) {
    sys_.Write("class/power_supply/BAT0/type", "Battery\n");
    sys_.Write("class/power_supply/BAT0/status", status + "\n");
    sys_.Write("class/power_supply/BAT0/power_now", "9000000\n");
  }
  /// "name measures state" of each meter.
  std::vector<std::string> Survey() {
    meters_ = SurveyMeters(config_, clock_, std::chrono::milliseconds(1));
    std::vector<std::string> lines;
    for (const SurveyedMeter& meter : meters_)
      lines.push_back(meter.name + " " + meter.measures + " " + std::string(ToString(meter.state)));
    return lines;
  }
  const SurveyedMeter& Meter(std::string_view name) { return *std::ranges::find(meters_, name, &SurveyedMeter::name); }

  testing::FakeTree sys_;
  SystemClock clock_;
  Config config_;
  std::vector<SurveyedMeter> meters_;
};

TEST_F(MeterSurvey, MachineWithoutAMeter_TheModelIsUsedAndEachReasonIsGiven) {
  EXPECT_THAT(Survey(), ElementsAre("rapl cpu missing", "hwmon cpu missing", "pm-counters machine missing",
                                    "redfish machine missing", "dcmi machine missing", "acpi machine missing",
                                    "psu machine missing", "battery machine missing", "model cpu used"));
  for (const SurveyedMeter& meter : meters_) EXPECT_NE(meter.reason, "") << meter.name;
  EXPECT_THAT(Meter("redfish").reason, HasSubstr("not configured; set experimental.platform.redfish.enabled"));
  config_.require_meter = true;
  EXPECT_THAT(Survey(), ::testing::Not(::testing::Contains("model cpu used")));
}

TEST_F(MeterSurvey, TwoPlatformMeters_TheFirstThatAnswersIsUsed) {
  Rapl();
  Acpi("210000000");
  Battery("Discharging");
  Survey();
  EXPECT_EQ(Meter("rapl").state, MeterState::kUsed);
  EXPECT_EQ(Meter("acpi").state, MeterState::kUsed);
  EXPECT_EQ(Meter("battery").state, MeterState::kReady);
  EXPECT_EQ(Meter("battery").reason, "acpi has a higher preference");
  ASSERT_EQ(Meter("acpi").zones.size(), 1);
  EXPECT_NEAR(Meter("acpi").zones[0].power.watts(), 210, 1);
  config_.platform_meters = {PlatformKind::kBattery, PlatformKind::kAcpi};
  Survey();
  EXPECT_EQ(Meter("battery").state, MeterState::kUsed);
  EXPECT_EQ(Meter("acpi").state, MeterState::kReady);
}

TEST_F(MeterSurvey, BatteryOnMains_ReadyWithoutAReading) {
  Battery("Charging");
  Survey();
  EXPECT_EQ(Meter("battery").state, MeterState::kReady);
  EXPECT_EQ(Meter("battery").reason, "it gives no reading at present");
  EXPECT_FALSE(Meter("battery").zones.at(0).is_known);
}

TEST_F(MeterSurvey, Table_HasEveryZoneAndTheReasons) {
  Rapl();
  Acpi("210000000");
  Survey();
  const std::string table = MeterTable(meters_);
  EXPECT_THAT(table, HasSubstr("package"));
  EXPECT_THAT(table, HasSubstr("rapl (powercap)"));
  EXPECT_THAT(table, HasSubstr("210.00"));
  EXPECT_THAT(table, HasSubstr("262 s"));
  EXPECT_THAT(table, HasSubstr("battery: "));
}

TEST_F(MeterSurvey, Json_UnknownValuesAreNull) {
  const std::vector<SurveyedMeter> meters = {{.name = "rapl",
                                              .measures = "cpu",
                                              .interface = "perf",
                                              .state = MeterState::kUsed,
                                              .longest_interval = std::chrono::seconds(262),
                                              .zones = {{"package", "/s\"x", Power::Watts(12.5), true, false}}},
                                             {.name = "battery",
                                              .measures = "machine",
                                              .state = MeterState::kReady,
                                              .reason = "on mains",
                                              .zones = {{"BAT0", "/b", Power(), false, false}}}};
  EXPECT_EQ(
      MeterJson(meters),
      R"({"meters":[{"name":"rapl","measures":"cpu","interface":"perf","state":"used","reason":"","wraps_in_seconds":262,)"
      R"("zones":[{"name":"package","path":"/s\"x","watts":12.5,"is_part":false}]},)"
      R"({"name":"battery","measures":"machine","interface":null,"state":"ready","reason":"on mains","wraps_in_seconds":null,)"
      R"("zones":[{"name":"BAT0","path":"/b","watts":null,"is_part":false}]}]})"
      "\n");
}

}  // namespace
}  // namespace kepler::agent
