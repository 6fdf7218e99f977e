#include "apps/kepler/meter_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace kepler::agent {
namespace {

using ::testing::HasSubstr;

ReportedZone Zone(const char* name, double watts) {
  return {name, std::string("/") + name, Power::Watts(watts), true, false, {}};
}

TEST(MeterReport, Unreadable_StateByReason) {
  MeterReport meter{.name = "dcmi", .measures = "machine"};
  JudgeUnreadable(meter, true, {ErrorKind::kPermission, "open /dev/ipmi0: Permission denied; chmod"});
  EXPECT_EQ(ToString(meter.state), "denied");
  EXPECT_EQ(meter.reason, "open /dev/ipmi0: Permission denied; chmod");
  JudgeUnreadable(meter, true, {ErrorKind::kTimeout, "no answer"});
  EXPECT_EQ(ToString(meter.state), "silent");
  JudgeUnreadable(meter, false, {ErrorKind::kNotFound, "no device"});
  EXPECT_EQ(ToString(meter.state), "missing");
}

TEST(MeterReport, Open_StateByReadings) {
  MeterReport meter{.name = "psu", .measures = "machine", .zones = {Zone("psu1", 10), Zone("psu2", 0)}};
  status::SourceStatus status;
  status.interface = "usb";
  status.has_moved = true;
  JudgeOpen(meter, status);
  EXPECT_EQ(meter.state, MeterState::kReady);
  EXPECT_EQ(meter.interface, "usb");
  EXPECT_EQ(meter.reason, "");
  status.problem = Error{ErrorKind::kIo, "read psu2: Input/output error"};
  JudgeOpen(meter, status);
  EXPECT_EQ(meter.state, MeterState::kReady);
  EXPECT_EQ(meter.reason, "a part of it cannot be read: read psu2: Input/output error");
  status.problem.reset();
  status.doubt = "psu1 counts, psu2 may be right";
  JudgeOpen(meter, status);
  EXPECT_EQ(meter.state, MeterState::kReady);
  EXPECT_EQ(meter.reason, "psu1 counts, psu2 may be right");
  MeterReport parts = meter;
  for (ReportedZone& zone : parts.zones) zone.is_known = false;
  JudgeOpen(parts, status);
  EXPECT_EQ(parts.state, MeterState::kSilent);
  EXPECT_EQ(parts.reason, "psu1 counts, psu2 may be right");
  status.problem = Error{ErrorKind::kIo, "read psu2: Input/output error"};
  status.has_moved = false;
  JudgeOpen(meter, status);
  EXPECT_EQ(meter.state, MeterState::kSilent);
  EXPECT_THAT(meter.reason, HasSubstr("readings are 0 W"));
  for (ReportedZone& zone : meter.zones) zone.is_known = false;
  JudgeOpen(meter, status);
  EXPECT_EQ(meter.state, MeterState::kSilent);
  EXPECT_EQ(meter.reason, "read psu2: Input/output error");
}

TEST(MeterReport, Rows_ThousandsOfSensors_AreCut) {
  MeterReport meter{
      .name = "redfish", .measures = "machine", .state = MeterState::kUsed, .period = std::chrono::seconds(15)};
  for (int i = 0; i < 3000; ++i) meter.zones.push_back(Zone("s", i));
  const MeterRows rows = ToRows({meter}, 50);
  ASSERT_EQ(rows.rows.size(), 51);
  EXPECT_EQ(rows.rows[0][0], "redfish");
  EXPECT_EQ(rows.rows[1][0], "") << "once for each meter";
  EXPECT_EQ(rows.rows[50][3], "and 2950 more");
}

TEST(MeterReport, Choose_SilentAndDeniedMetersAreNotUsed) {
  std::vector<MeterReport> meters = {{.name = "rapl", .measures = "cpu", .state = MeterState::kSilent},
                                     {.name = "redfish", .measures = "machine", .state = MeterState::kDenied},
                                     {.name = "acpi", .measures = "machine", .state = MeterState::kReady},
                                     {.name = "psu", .measures = "machine", .state = MeterState::kReady}};
  ChooseMeters(meters, false);
  ASSERT_EQ(meters.size(), 5);
  EXPECT_EQ(meters[0].state, MeterState::kSilent);
  EXPECT_EQ(meters[1].state, MeterState::kDenied);
  EXPECT_EQ(meters[2].state, MeterState::kUsed);
  EXPECT_EQ(meters[3].state, MeterState::kReady);
  EXPECT_EQ(meters[3].reason, "acpi has a higher preference");
  EXPECT_EQ(meters[4].name, "model");
}

TEST(MeterReport, Json_UnknownValuesAreNull) {
  const std::vector<MeterReport> meters = {{.name = "rapl",
                                            .measures = "cpu",
                                            .interface = "perf",
                                            .state = MeterState::kUsed,
                                            .period = std::chrono::seconds(5),
                                            .longest_interval = std::chrono::seconds(262),
                                            .zones = {{"package", "/s\"x", Power::Watts(12.5), true, false, {}}}},
                                           {.name = "battery",
                                            .measures = "machine",
                                            .state = MeterState::kReady,
                                            .reason = "on mains",
                                            .zones = {{"BAT0", "/b", Power(), false, false, {.watts = 0.001}}}}};
  EXPECT_EQ(
      MeterJson(meters),
      R"({"meters":[{"name":"rapl","measures":"cpu","interface":"perf","state":"used","reason":"","period_seconds":5,"wraps_in_seconds":262,)"
      R"("zones":[{"name":"package","path":"/s\"x","watts":12.5,"is_part":false,"resolution_joules":null,"resolution_watts":null}]},)"
      R"({"name":"battery","measures":"machine","interface":null,"state":"ready","reason":"on mains","period_seconds":null,"wraps_in_seconds":null,)"
      R"("zones":[{"name":"BAT0","path":"/b","watts":null,"is_part":false,"resolution_joules":null,"resolution_watts":0.001}]}]})"
      "\n");
}

TEST(MeterReport, Resolution_WithThePrefixThatFits) {
  EXPECT_EQ(ToText({.joules = 6.103515625e-5}), "61 µJ");
  EXPECT_EQ(ToText({.joules = 2.3283064365386962890625e-10}), "233 pJ");
  EXPECT_EQ(ToText({.joules = 1e-6}), "1 µJ");
  EXPECT_EQ(ToText({.joules = 1}), "1 J");
  EXPECT_EQ(ToText({.watts = 0.001}), "1 mW");
  EXPECT_EQ(ToText({.watts = 4}), "4 W");
  EXPECT_EQ(ToText({}), "-");
}

}  // namespace
}  // namespace kepler::agent
