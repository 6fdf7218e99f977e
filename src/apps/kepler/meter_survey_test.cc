#include "apps/kepler/meter_survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <chrono>

#include "export/api/snapshot_json.h"
#include "testing/fake_tree.h"

namespace kepler::agent {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Real time, and a RAPL counter that moves while time is read.
class MovingClock final : public Clock {
 public:
  explicit MovingClock(testing::FakeTree& sys) : sys_(sys) {}
  [[nodiscard]] BootTime Now() const override {
    if (moves) sys_.Write("class/powercap/intel-rapl:0/energy_uj", std::to_string(counter_ += 1000) + "\n");
    return real_.Now();
  }
  [[nodiscard]] WallTime Wall() const override { return real_.Wall(); }
  bool moves = false;

 private:
  testing::FakeTree& sys_;
  SystemClock real_;
  mutable uint64_t counter_ = 1000;
};

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
    clock_.moves = true;
  }
  void Acpi(const std::string& microwatts) {
    sys_.Write("class/hwmon/hwmon0/device/name", "power_meter\n");
    sys_.Write("class/hwmon/hwmon0/device/power1_average", microwatts + "\n");
  }
  /// What the survey finds as another user than root, to which any file may be closed.
  std::vector<std::string> SurveyAsNobody() {
    sys_.Chmod("", 0755);
    const auto before = static_cast<uid_t>(::setfsuid(::geteuid() == 0 ? 65534 : ::geteuid()));
    auto lines = Survey();
    ::setfsuid(before);
    return lines;
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
    lines.reserve(meters_.size());
    for (const MeterReport& meter : meters_)
      lines.push_back(meter.name + " " + meter.measures + " " + std::string(ToString(meter.state)));
    return lines;
  }
  const MeterReport& Report(std::string_view name) { return *std::ranges::find(meters_, name, &MeterReport::name); }

  testing::FakeTree sys_;
  MovingClock clock_{sys_};
  Config config_;
  std::vector<MeterReport> meters_;
};

TEST_F(MeterSurvey, MachineWithoutAMeter_TheModelIsUsedAndEachReasonIsGiven) {
  EXPECT_THAT(Survey(),
              ElementsAre("rapl cpu missing", "hwmon cpu missing", "pm-counters machine missing",
                          "redfish machine missing", "dcmi machine missing", "acpi machine missing",
                          "psu machine missing", "battery machine missing", "model cpu used", "model machine used"));
  for (const MeterReport& meter : meters_) EXPECT_NE(meter.reason, "") << meter.name;
  EXPECT_THAT(Report("redfish").reason, HasSubstr("not configured; set experimental.platform.redfish.enabled"));
  config_.require_meter = true;
  EXPECT_THAT(Survey(), Each(Not(HasSubstr("model"))));
}

TEST_F(MeterSurvey, TwoPlatformMeters_TheFirstThatAnswersIsUsed) {
  Rapl();
  Acpi("210000000");
  Battery("Discharging");
  Survey();
  EXPECT_EQ(Report("rapl").state, MeterState::kUsed);
  EXPECT_EQ(Report("acpi").state, MeterState::kUsed);
  EXPECT_EQ(Report("battery").state, MeterState::kReady);
  EXPECT_EQ(Report("battery").reason, "acpi has a higher preference");
  ASSERT_EQ(Report("acpi").zones.size(), 1);
  EXPECT_NEAR(Report("acpi").zones[0].power.watts(), 210, 1);
  config_.platform_meters = {PlatformKind::kBattery, PlatformKind::kAcpi};
  Survey();
  EXPECT_EQ(Report("battery").state, MeterState::kUsed);
  EXPECT_EQ(Report("acpi").state, MeterState::kReady);
}

TEST_F(MeterSurvey, BatteryOnMains_SilentWithoutAReading) {
  Battery("Charging");
  Survey();
  EXPECT_EQ(Report("battery").state, MeterState::kSilent);
  EXPECT_EQ(Report("battery").reason, "it gives no reading at present");
  EXPECT_FALSE(Report("battery").zones.at(0).is_known);
}

TEST_F(MeterSurvey, MeterWithoutTheRight_DeniedWithTheRemedy) {
  Rapl();
  Acpi("210000000");
  clock_.moves = false;
  sys_.Write("dev/ipmi0", "");
  for (const char* file :
       {"class/powercap/intel-rapl:0/energy_uj", "class/hwmon/hwmon0/device/power1_average", "dev/ipmi0"})
    sys_.Chmod(file, 0);
  SurveyAsNobody();
  for (const char* name : {"rapl", "acpi", "dcmi"}) {
    EXPECT_EQ(Report(name).state, MeterState::kDenied) << name;
    EXPECT_THAT(Report(name).reason, HasSubstr("Permission denied")) << name;
  }
  EXPECT_THAT(Report("rapl").reason, HasSubstr("CAP_DAC_READ_SEARCH"));
  EXPECT_THAT(Report("acpi").reason, HasSubstr("CAP_DAC_READ_SEARCH"));
  EXPECT_THAT(Report("dcmi").reason, HasSubstr("chmod"));
  EXPECT_EQ(meters_.back().name, "model");
}

TEST_F(MeterSurvey, MeterThatGivesNothing_SilentAndTheNextOneIsUsed) {
  Rapl();
  clock_.moves = false;
  sys_.Write("dev/ipmi0", "");  // a file that answers no request
  Acpi("bad");
  Battery("Discharging");
  Survey();
  EXPECT_EQ(Report("rapl").state, MeterState::kSilent);
  EXPECT_THAT(Report("rapl").reason, HasSubstr("readings are 0 W"));
  EXPECT_EQ(Report("dcmi").state, MeterState::kSilent);
  EXPECT_THAT(Report("dcmi").reason, HasSubstr("Inappropriate ioctl"));
  EXPECT_EQ(Report("acpi").state, MeterState::kSilent);
  EXPECT_EQ(Report("battery").state, MeterState::kUsed);
  EXPECT_EQ(meters_.back().name, "model");
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
  EXPECT_THAT(table, HasSubstr("1 µJ │        5 s │"));
  EXPECT_THAT(table, HasSubstr("1 mW │        5 s │"));
  EXPECT_THAT(table, HasSubstr("battery: "));
}

/// Of a source that answers, or has this problem.
status::SourceStatus Source(const char* name, std::optional<Error> problem = {}) {
  status::SourceStatus source;
  source.name = name;
  source.up = source.has_moved = !problem;
  source.problem = std::move(problem);
  return source;
}

status::PlatformReading Sensor(const char* id, bool whole) {
  status::PlatformReading reading;
  reading.source = "acpi";
  reading.sensor.source_id = id;
  reading.sensor.whole = whole;
  reading.power = Power::Watts(210);
  reading.fresh = true;
  reading.is_counted = whole;
  return reading;
}

TEST_F(MeterSurvey, RunningAgent_ReportsWhatItsSnapshotHas) {
  Battery("Discharging");  // the agent has not looked for it yet
  config_.redfish_enabled = true;
  snapshot::Snapshot snapshot;
  snapshot.zones = {{.name = "package", .path = "/p", .source = "rapl", .resolution = {.joules = 1e-6}}};
  snapshot.node.resize(1);
  snapshot.node[0].power = Power::Watts(12.5);
  snapshot.node[0].fresh = true;
  snapshot.sources = {Source("rapl"), Source("redfish", Error{ErrorKind::kUnavailable, "the BMC refused the password"}),
                      Source("acpi")};
  snapshot.sources[0].interface = "perf";
  snapshot.platform = {Sensor("ACPI000D:00/power1", true), Sensor("cpu", false)};
  meters_ = ReportMeters(config_, snapshot, clock_);
  EXPECT_EQ(Report("rapl").state, MeterState::kUsed);
  EXPECT_EQ(Report("rapl").interface, "perf");
  EXPECT_EQ(Report("rapl").zones.at(0).power.watts(), 12.5);
  EXPECT_EQ(Report("hwmon").state, MeterState::kReady) << "not tried";
  EXPECT_EQ(Report("hwmon").reason, "rapl has a higher preference");
  EXPECT_EQ(Report("acpi").state, MeterState::kUsed);
  EXPECT_EQ(Report("acpi").zones.size(), 2);
  EXPECT_EQ(ToText(Report("acpi").zones.at(0).resolution), "1 mW");
  EXPECT_EQ(Report("redfish").state, MeterState::kSilent);
  EXPECT_EQ(Report("redfish").reason, "the BMC refused the password");
  EXPECT_EQ(Report("battery").state, MeterState::kSilent);
  EXPECT_EQ(Report("battery").reason, "it has not answered yet");
  const std::string absent = Report("psu").reason;
  Survey();
  EXPECT_EQ(Report("psu").reason, absent) << "the same words as 'kepler meters'";
}

TEST_F(MeterSurvey, EstimatedMachine_IsInEveryListOfMeters) {
  Rapl();
  EXPECT_THAT(Survey(), AllOf(Contains("model machine used"), Not(Contains("model cpu used"))));
  const std::string reason = Report("model").reason;
  snapshot::Snapshot snapshot;
  snapshot.zones = {{.name = "package", .path = "/p", .source = "rapl"},
                    {.name = "platform", .path = "model", .source = "model", .domain = status::Domain::kPlatform}};
  snapshot.node.resize(2);
  snapshot.sources = {Source("rapl"), Source("model")};
  snapshot.estimates.emplace_back();
  meters_ = ReportMeters(config_, snapshot, clock_);
  EXPECT_EQ(Report("model").measures, "machine");
  EXPECT_EQ(Report("model").reason, reason);
  EXPECT_EQ(api::MetersOf(snapshot).back().reason, reason);
  config_.model_platform = false;
  EXPECT_THAT(Survey(), Each(Not(HasSubstr("model"))));
}

TEST_F(MeterSurvey, RunningAgent_DeadDeniedAndOverdueMeters) {
  config_.preferred_meters = {Meter::kRapl, Meter::kHwmon, Meter::kFake};
  snapshot::Snapshot snapshot;
  snapshot.zones = {{.name = "package", .path = "model", .source = "model"}};
  snapshot.node.resize(1);
  snapshot.sources = {Source("rapl", Error{ErrorKind::kPermission, "energy_uj: Permission denied"}),
                      Source("hwmon", Error{ErrorKind::kUnavailable, "never advanced"}), Source("fake"),
                      Source("model")};
  snapshot.sources[2].restart_needed = true;
  meters_ = ReportMeters(config_, snapshot, clock_);
  EXPECT_EQ(Report("rapl").state, MeterState::kDenied);
  EXPECT_EQ(Report("hwmon").state, MeterState::kSilent);
  EXPECT_EQ(Report("hwmon").reason, "never advanced");
  EXPECT_THAT(Report("fake").reason, HasSubstr("restart the agent"));
  EXPECT_EQ(meters_.back().zones.at(0).name, "package");
  EXPECT_EQ(meters_.back().period, config_.freshness.interval);
}

}  // namespace
}  // namespace kepler::agent
