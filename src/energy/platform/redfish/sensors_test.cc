#include "energy/platform/redfish/sensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace kepler::energy::platform::redfish {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// A BMC whose resources a test writes down.
class FindSensorsTest : public ::testing::Test {
 protected:
  FindSensorsTest() {
    Set("/redfish/v1/", R"({"Chassis": {"@odata.id": "/redfish/v1/Chassis"}})");
    Set("/redfish/v1/Chassis", R"({"Members": [{"@odata.id": "/redfish/v1/Chassis/1U"}]})");
    Set("/redfish/v1/Chassis/1U", kChassis);
  }
  void Set(const std::string& uri, std::string_view text) { answers_[uri] = std::string(text); }
  Result<Sensors> Find(std::vector<std::string> chassis = {}) {
    fetched_.clear();
    return FindSensors({.bmc_id = "bmc-1", .chassis = std::move(chassis)},
                       [this](const std::string& uri) { return Fetch(uri); });
  }
  Result<json::Value> Fetch(const std::string& uri) {
    fetched_.push_back(uri);
    if (const auto error = errors_.find(uri); error != errors_.end()) return Fail(error->second, uri + " fails");
    if (const auto answer = answers_.find(uri); answer != answers_.end()) return json::Parse(answer->second);
    return Fail(ErrorKind::kNotFound, uri + " answered 404");
  }
  /// "chassis/type/id" for each sensor, with "!" for one that is not the whole.
  std::vector<std::string> Show(std::vector<std::string> chassis = {}) {
    const auto found = Find(std::move(chassis));
    if (!found) return {found.error().message};
    std::vector<std::string> shown;
    for (const Sensor& sensor : found->sensors) {
      const auto& labels = sensor.labels;
      shown.push_back(labels.chassis_id + "/" + labels.source_type + "/" + labels.source_id +
                      (labels.whole ? "" : "!"));
    }
    return shown;
  }
  void SetSupplies(std::string_view first, std::string_view second) {
    const std::string base = "/redfish/v1/Chassis/1U/PowerSubsystem";
    Set(base, R"({"PowerSupplies": {"@odata.id": "/redfish/v1/Chassis/1U/PowerSubsystem/PowerSupplies"}})");
    Set(base + "/PowerSupplies",
        R"({"Members": [{"@odata.id": "/redfish/v1/Chassis/1U/PowerSubsystem/PowerSupplies/PS1"},
        {"@odata.id": "/redfish/v1/Chassis/1U/PowerSubsystem/PowerSupplies/PS2"}]})");
    Set(base + "/PowerSupplies/PS1", first);
    Set(base + "/PowerSupplies/PS2", second);
  }
  void SetEnvironment(std::string_view watts) {
    Set("/redfish/v1/Chassis/1U/EnvironmentMetrics",
        R"({"Id": "EnvironmentMetrics", "PowerWatts": {"Reading": )" + std::string(watts) + "}}");
  }
  void SetPower(std::string_view controls, std::string_view supplies = "[]") {
    Set("/redfish/v1/Chassis/1U/Power",
        R"({"PowerControl": )" + std::string(controls) + R"(, "PowerSupplies": )" + std::string(supplies) + "}");
  }
  void AddChassis(const std::string& id, std::string_view type, std::string_view container, std::string_view watts) {
    chassis_ += R"(, {"@odata.id": "/redfish/v1/Chassis/)" + id + R"("})";
    Set("/redfish/v1/Chassis", R"({"Members": [{"@odata.id": "/redfish/v1/Chassis/1U"})" + chassis_ + "]}");
    const std::string uri = "/redfish/v1/Chassis/" + id;
    Set(uri, R"({"Id": ")" + id + R"(", "ChassisType": ")" + std::string(type) +
                 R"(", "EnvironmentMetrics": {"@odata.id": ")" + uri +
                 R"(/EnvironmentMetrics"}, "Links": {"ContainedBy": {"@odata.id": ")" + std::string(container) +
                 R"("}}})");
    Set(uri + "/EnvironmentMetrics", R"({"PowerWatts": {"Reading": )" + std::string(watts) + "}}");
  }

  static constexpr std::string_view kChassis = R"({"Id": "1U", "ChassisType": "RackMount",
      "PowerSubsystem": {"@odata.id": "/redfish/v1/Chassis/1U/PowerSubsystem"},
      "EnvironmentMetrics": {"@odata.id": "/redfish/v1/Chassis/1U/EnvironmentMetrics"},
      "Power": {"@odata.id": "/redfish/v1/Chassis/1U/Power"}})";
  std::map<std::string, std::string> answers_;
  std::map<std::string, ErrorKind> errors_;
  std::vector<std::string> fetched_;
  std::string chassis_;
};

TEST_F(FindSensorsTest, MetricsOfEverySupply) {
  SetSupplies(R"({"Id": "PS1", "Name": "Supply 1", "Metrics": {"@odata.id": "/ps1/Metrics"}})",
              R"({"Id": "PS2", "Name": "Supply 2", "Metrics": {"@odata.id": "/ps2/Metrics"}})");
  Set("/ps1/Metrics", R"({"InputPowerWatts": {"Reading": 268}})");
  Set("/ps2/Metrics", R"({"InputPowerWatts": {"Reading": 0}})");
  SetEnvironment("270");
  const auto found = Find();
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->sensors.size(), 2U);
  EXPECT_EQ(found->resources[0].uri, "/ps1/Metrics");
  EXPECT_EQ(found->resources[1].uri, "/ps2/Metrics");
  const status::PlatformSensor expected{.bmc_id = "bmc-1",
                                        .chassis_id = "1U",
                                        .source_id = "PS1",
                                        .source_name = "Supply 1",
                                        .source_type = "PowerSupply",
                                        .whole = true};
  EXPECT_EQ(found->sensors[0].labels, expected);
  EXPECT_EQ(found->sensors[1].resource, 1U);
  EXPECT_THAT(fetched_, Not(Contains("/redfish/v1/Chassis/1U/EnvironmentMetrics"))) << "no more than needed";
}

TEST_F(FindSensorsTest, UpstreamsMock_PowerInTheSupplies) {
  SetSupplies(R"({"Id": "PS1", "PowerInputWatts": 268, "PowerOutputWatts": 245})",
              R"({"Id": "PS2", "PowerInputWatts": 0, "PowerOutputWatts": 0})");
  EXPECT_THAT(Show(), ElementsAre("1U/PowerSupply/PS1", "1U/PowerSupply/PS2"));
}

TEST_F(FindSensorsTest, EmptySlot_IsNoSupply) {
  SetSupplies(R"({"Id": "PS1", "PowerInputWatts": 268})", R"({"Id": "PS2", "Status": {"State": "Absent"}})");
  SetEnvironment("270");
  EXPECT_THAT(Show(), ElementsAre("1U/PowerSupply/PS1"));
}

TEST_F(FindSensorsTest, SupplyWithoutReading_TheChassisIsBetter) {
  SetSupplies(R"({"Id": "PS1", "PowerInputWatts": 268})", R"({"Id": "PS2", "PowerInputWatts": null})");
  EXPECT_THAT(Show(), ElementsAre("1U/PowerSupply/PS1!")) << "not the whole machine";
  EXPECT_EQ(Find()->sensors[0].doubt, "does not count, because these supplies have no reading: PS2");
  EXPECT_FALSE(Find()->complete);
  SetSupplies(R"({"Id": "PS1", "PowerInputWatts": 268})",
              R"({"Id": "PS2", "PowerInputWatts": null, "Status": {"State": "Disabled"}})");
  EXPECT_THAT(Show(), ElementsAre("1U/PowerSupply/PS1"));
  EXPECT_TRUE(Find()->complete);
  SetSupplies(R"({"Id": "PS1", "PowerInputWatts": 268})", R"({"Id": "PS2", "PowerInputWatts": null})");
  SetPower(R"([{"MemberId": "0", "PowerConsumedWatts": 300}])");
  EXPECT_THAT(Show(), ElementsAre("1U/PowerControl/0"));
  SetEnvironment("290");
  EXPECT_THAT(Show(), ElementsAre("1U/EnvironmentMetrics/EnvironmentMetrics"));
}

TEST_F(FindSensorsTest, PowerControl_OnlyOneIsTheWhole) {
  SetPower(R"([{"MemberId": "0", "Name": "Server Power Control", "PowerConsumedWatts": 344},
               {"MemberId": "1", "Name": "CPU power", "PowerConsumedWatts": 120},
               {"MemberId": "2", "Name": "Chassis fan power", "PowerConsumedWatts": 45}])",
           R"([{"MemberId": "0", "PowerInputWatts": 900}])");
  EXPECT_THAT(Show(), ElementsAre("1U/PowerControl/0", "1U/PowerControl/1!", "1U/PowerControl/2!"));
}

TEST_F(FindSensorsTest, PowerControl_EnclosureIsNotTheMachine) {
  SetPower(R"([{"MemberId": "0", "Name": "Server", "PowerConsumedWatts": 344},
               {"MemberId": "1", "Name": "Chassis", "PowerConsumedWatts": 1389}])");
  EXPECT_THAT(Show(), ElementsAre("1U/PowerControl/0", "1U/PowerControl/1!"));
  EXPECT_THAT(Find()->sensors[0].doubt, HasSubstr("several PowerControl entries may be the machine"));
  Set("/redfish/v1/Chassis/1U", R"({"Id": "1U", "Power": {"@odata.id": "/redfish/v1/Chassis/1U/Power"},
      "Links": {"ComputerSystems": [{"@odata.id": "/redfish/v1/Systems/1"}]}})");
  EXPECT_THAT(Show(), ElementsAre("1U/PowerControl/0!", "1U/PowerControl/1"));
  EXPECT_EQ(Find()->sensors[1].doubt, "");
}

TEST_F(FindSensorsTest, OldSupplies_AreTheLastChoice) {
  SetPower(R"([{"MemberId": "0", "PowerConsumedWatts": null}])",
           R"([{"MemberId": "PS1", "LastPowerOutputWatts": 150}, {"MemberId": "PS2", "LastPowerOutputWatts": null}])");
  EXPECT_THAT(Show(), ElementsAre("1U/PowerSupply/PS1!")) << "one of them has no reading";
  SetPower("[]", R"([{"MemberId": "PS1", "LastPowerOutputWatts": 150}, {"MemberId": "PS2", "PowerInputWatts": 0}])");
  EXPECT_THAT(Show(), ElementsAre("1U/PowerSupply/PS1", "1U/PowerSupply/PS2"));
}

TEST_F(FindSensorsTest, ZeroWatts_AreBetterThanNothing) {
  SetEnvironment("0");
  EXPECT_THAT(Show(), ElementsAre("1U/EnvironmentMetrics/EnvironmentMetrics"));
  SetPower(R"([{"MemberId": "0", "PowerConsumedWatts": 300}])");
  EXPECT_THAT(Show(), ElementsAre("1U/PowerControl/0"));
}

TEST_F(FindSensorsTest, PartsOfTheMachine_AreNotRead) {
  SetEnvironment("3000");
  AddChassis("GPU_1", "Module", "/redfish/v1/Chassis/1U", "700");
  AddChassis("Rack", "Rack", "", "9000");
  AddChassis("2U", "RackMount", "", "400");
  EXPECT_THAT(Show(),
              ElementsAre("1U/EnvironmentMetrics/EnvironmentMetrics", "2U/EnvironmentMetrics/EnvironmentMetrics"));
  EXPECT_THAT(Show({"GPU_1"}), ElementsAre("GPU_1/EnvironmentMetrics/EnvironmentMetrics")) << "if wanted";
}

TEST_F(FindSensorsTest, ContainedChassis_IsNotCountedTwice) {
  SetEnvironment("3000");
  AddChassis("Blade1", "Blade", "/redfish/v1/Chassis/1U/", "700");
  AddChassis("Board", "Other", "/redfish/v1/Chassis/Blade1", "600");
  EXPECT_THAT(Show(),
              ElementsAre("1U/EnvironmentMetrics/EnvironmentMetrics", "Blade1/EnvironmentMetrics/EnvironmentMetrics!",
                          "Board/EnvironmentMetrics/EnvironmentMetrics!"));
  EXPECT_THAT(Show({"Blade1"}), ElementsAre("Blade1/EnvironmentMetrics/EnvironmentMetrics"))
      << "the node is one blade of the enclosure";
}

TEST_F(FindSensorsTest, ChassisBetween_IsNotReadAndStillAContainer) {
  SetEnvironment("3000");
  AddChassis("Zone1", "Zone", "/redfish/v1/Chassis/1U", "0");
  AddChassis("Sled", "Sled", "/redfish/v1/Chassis/Zone1", "700");
  const std::vector<std::string> wanted = {"1U/EnvironmentMetrics/EnvironmentMetrics",
                                           "Sled/EnvironmentMetrics/EnvironmentMetrics!"};
  EXPECT_EQ(Show(), wanted);
  EXPECT_EQ(Show({"1U", "Sled"}), wanted);
}

TEST_F(FindSensorsTest, SharedSupplies_OfAContainedChassisThatComesFirst_CountOnce) {
  SetSupplies(R"({"Id": "PS1", "PowerInputWatts": 268})", R"({"Id": "PS2", "PowerInputWatts": 200})");
  const std::string links = R"("PowerSubsystem": {"@odata.id": "/redfish/v1/Chassis/1U/PowerSubsystem"})";
  AddChassis("2U", "RackMount", "", "400");
  Set("/redfish/v1/Chassis/1U",
      R"({"Id": "1U", "Links": {"ContainedBy": {"@odata.id": "/redfish/v1/Chassis/2U"}}, )" + links + "}");
  Set("/redfish/v1/Chassis/2U", R"({"Id": "2U", )" + links + "}");
  EXPECT_THAT(Show(), ElementsAre("1U/PowerSupply/PS1", "1U/PowerSupply/PS2"));
}

TEST_F(FindSensorsTest, ChassisInACircle_EndTheSearch) {
  AddChassis("A", "Other", "/redfish/v1/Chassis/B", "700");
  AddChassis("B", "Other", "/redfish/v1/Chassis/A", "700");
  EXPECT_EQ(Show().size(), 2U);
}

TEST_F(FindSensorsTest, SharedSupplies_CountOnce) {
  SetSupplies(R"({"Id": "PS1", "PowerInputWatts": 268})", R"({"Id": "PS2", "PowerInputWatts": 200})");
  AddChassis("2U", "RackMount", "", "400");
  Set("/redfish/v1/Chassis/2U", R"({"PowerSubsystem": {"@odata.id": "/redfish/v1/Chassis/1U/PowerSubsystem/"}})");
  Set("/redfish/v1/Chassis/1U/PowerSubsystem/", answers_["/redfish/v1/Chassis/1U/PowerSubsystem"]);
  EXPECT_THAT(Show(), ElementsAre("1U/PowerSupply/PS1", "1U/PowerSupply/PS2"));
}

TEST_F(FindSensorsTest, CollectionInPages) {
  SetEnvironment("300");
  AddChassis("2U", "RackMount", "", "400");
  Set("/redfish/v1/Chassis", R"({"Members": [{"@odata.id": "/redfish/v1/Chassis/1U"}],
                                 "Members@odata.nextLink": "/redfish/v1/Chassis?$skip=1"})");
  Set("/redfish/v1/Chassis?$skip=1", R"({"Members": [{"@odata.id": "/redfish/v1/Chassis/2U"}],
                                         "Members@odata.nextLink": "/redfish/v1/Chassis?$skip=1"})");
  EXPECT_THAT(Show(), Contains("2U/EnvironmentMetrics/EnvironmentMetrics"));
  EXPECT_LT(fetched_.size(), 40U) << "a page that leads to itself ends";
}

TEST_F(FindSensorsTest, UnknownChassis_IsAnError) {
  SetEnvironment("300");
  const auto found = Find({"Blade7"});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(found.error().message, HasSubstr("no chassis \"Blade7\" that can be read, only: 1U"));
}

TEST_F(FindSensorsTest, NoReading_NamesTheReasons) {
  SetPower(R"([{"MemberId": "0", "PowerConsumedWatts": null}])");
  const auto found = Find();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(found.error().message, AllOf(HasSubstr("the BMC bmc-1 has no power reading in 1 chassis"),
                                           HasSubstr("PowerSubsystem answered 404")));
}

TEST_F(FindSensorsTest, NotABmc) {
  Set("/redfish/v1/", R"({"hello": "world"})");
  EXPECT_THAT(Show(), ElementsAre(HasSubstr("has no link to Chassis")));
}

TEST_F(FindSensorsTest, ErrorOfOneResource_LeavesTheOthers) {
  SetPower(R"([{"MemberId": "0", "PowerConsumedWatts": 300}])");
  errors_["/redfish/v1/Chassis/1U/PowerSubsystem"] = ErrorKind::kIo;
  errors_["/redfish/v1/Chassis/1U/EnvironmentMetrics"] = ErrorKind::kMalformed;
  EXPECT_THAT(Show(), ElementsAre("1U/PowerControl/0"));
}

TEST_F(FindSensorsTest, BmcThatHangs_EndsTheSearch) {
  SetPower(R"([{"MemberId": "0", "PowerConsumedWatts": 300}])");
  for (const auto kind : {ErrorKind::kTimeout, ErrorKind::kUnavailable}) {
    errors_["/redfish/v1/Chassis/1U/PowerSubsystem"] = kind;
    const auto found = Find();
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, kind);
    EXPECT_EQ(fetched_.back(), "/redfish/v1/Chassis/1U/PowerSubsystem");
  }
}

}  // namespace
}  // namespace kepler::energy::platform::redfish
