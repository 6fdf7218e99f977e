#include "apps/kepler/meter_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace kepler::agent {
namespace {

using ::testing::HasSubstr;

ReportedZone Zone(const char* name, double watts) {
  return {name, std::string("/") + name, Power::Watts(watts), true, false};
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
  JudgeOpen(meter, nullptr, true);
  EXPECT_EQ(meter.state, MeterState::kReady);
  EXPECT_EQ(meter.reason, "");
  const Error failure{ErrorKind::kIo, "read psu2: Input/output error"};
  JudgeOpen(meter, &failure, true);
  EXPECT_EQ(meter.state, MeterState::kReady);
  EXPECT_EQ(meter.reason, "a part of it cannot be read: read psu2: Input/output error");
  JudgeOpen(meter, nullptr, false);
  EXPECT_EQ(meter.state, MeterState::kSilent);
  EXPECT_THAT(meter.reason, HasSubstr("do not advance from 0 W"));
  for (ReportedZone& zone : meter.zones) zone.is_known = false;
  JudgeOpen(meter, &failure, true);
  EXPECT_EQ(meter.state, MeterState::kSilent);
  EXPECT_EQ(meter.reason, "read psu2: Input/output error");
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
