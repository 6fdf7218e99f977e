#include "energy/platform/redfish/resource.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::energy::platform::redfish {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

json::Value Json(std::string_view text) {
  auto parsed = json::Parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(json::Value{});
}
std::vector<Reading> Read(std::string_view text, Kind kind) { return ReadingsOf(Json(text), kind); }
/// "id=watts" for each reading, with "!" for a part and the error's kind as a number.
std::vector<std::string> Show(std::string_view text, Kind kind) {
  std::vector<std::string> shown;
  for (const Reading& reading : Read(text, kind)) {
    std::string value = "no number";
    if (reading.power) {
      value = std::to_string(static_cast<int>(reading.power->watts() * 10));
    } else if (reading.power.error().kind == ErrorKind::kUnavailable) {
      value = "null";
    }
    shown.push_back(reading.id + (reading.scope == Scope::kPart ? "!" : "") + "=" + value);
  }
  return shown;
}

TEST(WattsOf, Shapes) {
  const auto watts = [](std::string_view text) {
    const auto power = WattsOf(Json(text));
    return power ? power->watts() : -1;
  };
  EXPECT_EQ(watts("344"), 344);
  EXPECT_EQ(watts("412.5"), 412.5);
  EXPECT_EQ(watts("0"), 0);
  EXPECT_EQ(watts("\" 412.5 \""), 412.5);
  EXPECT_EQ(watts(R"({"Reading": 97.5, "DataSourceUri": "/redfish/v1/x"})"), 97.5);
  EXPECT_EQ(watts(R"({"Reading": "97"})"), 97);
}

TEST(WattsOf, NoPower) {
  const auto kind = [](std::string_view text) {
    const auto power = WattsOf(Json(text));
    return power ? ErrorKind::kIo : power.error().kind;
  };
  EXPECT_EQ(kind("null"), ErrorKind::kUnavailable);
  EXPECT_EQ(kind(R"({"Reading": null})"), ErrorKind::kUnavailable);
  for (const auto* text : {"-1", "true", "[344]", "[]", "{}", R"("")", R"("344 W")", R"("nan")", R"("inf")", R"("n/a")",
                           R"({"Reading": {"Reading": 1}})", R"({"Reading": -3})"})
    EXPECT_EQ(kind(text), ErrorKind::kMalformed) << text;
}

TEST(CounterOf, Shapes) {
  const auto joules = [](std::string_view text) {
    const auto counter = CounterOf(Json(text));
    return counter ? counter->ToJoules() : -1;
  };
  EXPECT_EQ(joules(R"({"EnergykWh": {"Reading": 325.675}})"), 1'172'430'000);
  EXPECT_EQ(joules(R"({"EnergykWh": 2})"), 7'200'000);
  EXPECT_EQ(joules(R"({"EnergykWh": {"Reading": " 2 "}})"), 7'200'000);
  EXPECT_EQ(joules(R"({"EnergykWh": {"Reading": 0}})"), 0);
  for (const auto* text :
       {"{}", "[]", R"({"EnergykWh": null})", R"({"EnergykWh": {}})", R"({"EnergykWh": {"Reading": null}})",
        R"({"EnergykWh": {"Reading": -1}})", R"({"EnergykWh": {"Reading": 1e300}})", R"({"EnergykWh": "nan"})",
        R"({"EnergykWh": {"Reading": {"Reading": 1}}})"})
    EXPECT_EQ(joules(text), -1) << text;
}

TEST(ReadingsOf, EnergyCounter_IsThatOfTheInput) {
  const auto counter = [](std::string_view text) { return Read(text, Kind::kMetrics).at(0).counter; };
  EXPECT_EQ(counter(R"({"InputPowerWatts": 150, "OutputPowerWatts": 140, "EnergykWh": 2})"), Energy::Joules(7'200'000));
  EXPECT_EQ(counter(R"({"InputPowerWatts": null, "OutputPowerWatts": 140, "EnergykWh": 2})"), std::nullopt)
      << "the output is less than the counter counts";
}

TEST(LinkOf, Places) {
  EXPECT_EQ(LinkOf(Json(R"({"Power": {"@odata.id": "/redfish/v1/Chassis/1/Power"}})"), "Power"),
            "/redfish/v1/Chassis/1/Power");
  EXPECT_EQ(LinkOf(Json(R"({"Links": {"ContainedBy": {"@odata.id": "/redfish/v1/Chassis/E"}}})"), "ContainedBy"),
            "/redfish/v1/Chassis/E");
  EXPECT_EQ(LinkOf(Json(R"({"links": {"Power": {"href": "/rest/v1/Chassis/1/Power/"}}})"), "Power"),
            "/rest/v1/Chassis/1/Power/")
      << "HPE iLO 4: the trailing slash is needed";
  EXPECT_EQ(LinkOf(Json(R"({"Power": {"@odata.id": "/redfish/v1/Chassis/1/Power#/PowerControl/0"}})"), "Power"),
            "/redfish/v1/Chassis/1/Power");
}

TEST(LinkOf, NoTarget) {
  for (const auto* text :
       {"{}", "[]", "null", R"({"Power": null})", R"({"Power": {"@odata.id": null}})", R"({"Power": "/a"})",
        R"({"Power": {"@odata.id": "https://other/redfish"}})", R"({"Power": {"@odata.id": "//other/redfish"}})",
        R"({"Power": {"@odata.id": ""}})", R"({"Power": {"@odata.id": "/a b"}})",
        R"({"Power": {"@odata.id": "/a\r\nHost: x"}})", R"({"Power": {"@odata.id": "#/a"}})"})
    EXPECT_EQ(LinkOf(Json(text), "Power"), "") << text;
}

TEST(MembersOf, Collections) {
  EXPECT_THAT(MembersOf(Json(R"({"Members": [{"@odata.id": "/c/1"}, {"@odata.id": "/c/2"}, {"@odata.id": "/c/1"}]})")),
              ElementsAre("/c/1", "/c/2"));
  EXPECT_THAT(MembersOf(Json(R"({"links": {"Member": [{"href": "/rest/v1/Chassis/1"}]}})")),
              ElementsAre("/rest/v1/Chassis/1"));
  EXPECT_THAT(MembersOf(Json(R"({"Members": [1, 2]})")), IsEmpty());
  EXPECT_THAT(MembersOf(Json(R"({"Members": {"@odata.id": "/c/1"}})")), IsEmpty());
  EXPECT_EQ(NextOf(Json(R"({"Members@odata.nextLink": "/c?$skip=50"})")), "/c?$skip=50");
  EXPECT_EQ(NextOf(Json(R"({"Members@odata.nextLink": "https://other/c"})")), "");
}

TEST(IdOf, IdOrLastPartOfTheUri) {
  EXPECT_EQ(IdOf(Json(R"({"Id": "1U"})"), "/redfish/v1/Chassis/x"), "1U");
  EXPECT_EQ(IdOf(Json(R"({"Id": 1})"), "/redfish/v1/Chassis/x"), "1");
  EXPECT_EQ(IdOf(Json("{}"), "/redfish/v1/Chassis/x/"), "x");
}

TEST(ReadingsOf, PowerSupplyMetrics_InputIsPreferred) {
  EXPECT_THAT(Show(R"({"InputPowerWatts": {"Reading": 268}, "OutputPowerWatts": {"Reading": 245}})", Kind::kMetrics),
              ElementsAre("=2680"));
  EXPECT_THAT(Show(R"({"InputPowerWatts": {"Reading": null}, "OutputPowerWatts": {"Reading": 245}})", Kind::kMetrics),
              ElementsAre("=2450"));
  EXPECT_THAT(Show(R"({"InputPowerWatts": {"Reading": 0}, "OutputPowerWatts": {"Reading": 245}})", Kind::kMetrics),
              ElementsAre("=2450"));
  EXPECT_THAT(Show(R"({"InputPowerWatts": {"Reading": 0}, "OutputPowerWatts": {"Reading": 0}})", Kind::kMetrics),
              ElementsAre("=0"));
  EXPECT_THAT(Show(R"({"InputPowerWatts": {"Reading": null}})", Kind::kMetrics), ElementsAre("=null"));
  EXPECT_THAT(Show(R"({"InputVoltage": {"Reading": 230}})", Kind::kMetrics), IsEmpty());
}

TEST(ReadingsOf, PowerInTheSupplyItself) {
  EXPECT_THAT(Show(R"({"Name": "PSU 1", "PowerInputWatts": 268, "PowerOutputWatts": 245})", Kind::kSupply),
              ElementsAre("=2680"));
  EXPECT_THAT(Show(R"({"PowerOutputWatts": 245})", Kind::kSupply), ElementsAre("=2450"));
}

TEST(ReadingsOf, EnvironmentMetrics) {
  EXPECT_THAT(Show(R"({"PowerWatts": {"Reading": 374.5}, "EnergykWh": {"Reading": 325675}})", Kind::kEnvironment),
              ElementsAre("=3745"));
  EXPECT_THAT(Show(R"({"TemperatureCelsius": {"Reading": 39}})", Kind::kEnvironment), IsEmpty());
}

TEST(ReadingsOf, PowerControl) {
  EXPECT_THAT(Show(R"({"PowerControl": [{"MemberId": "0", "Name": "Server Power Control", "PowerConsumedWatts": 344},
                       {"MemberId": "1", "Name": "Chassis Power Control", "PowerConsumedWatts": 45}]})",
                   Kind::kControls),
              ElementsAre("0=3440", "1=450"));
  EXPECT_THAT(Show(R"({"PowerControl": [{"Name": "Server Power", "PowerConsumedWatts": 344.5},
                       {"Name": "CPU Sub-system Power", "PowerConsumedWatts": 120},
                       {"Name": "x", "PhysicalContext": "Memory", "PowerConsumedWatts": "20"}]})",
                   Kind::kControls),
              ElementsAre("0=3445", "1!=1200", "2!=200"))
      << "Lenovo: without MemberId the index counts";
  EXPECT_THAT(Show(R"({"PowerControl": [{"MemberId": "a", "PowerConsumedWatts": 1},
                       {"MemberId": "a", "PowerConsumedWatts": 2}]})",
                   Kind::kControls),
              ElementsAre("a=10", "a-1=20"));
  EXPECT_THAT(Show(R"({"PowerControl": [{"MemberId": "0", "PowerConsumedWatts": null}]})", Kind::kControls),
              ElementsAre("0=null"));
  EXPECT_THAT(Show(R"({"PowerControl": [{"MemberId": "0", "PowerConsumedWatts": -5}]})", Kind::kControls),
              ElementsAre("0=no number"));
  for (const auto* text : {R"({"PowerControl": [{"PowerLimit": {}}]})", R"({"PowerControl": []})", "{}", "[]",
                           R"({"PowerControl": [1]})", R"({"PowerControl": null})"})
    EXPECT_THAT(Show(text, Kind::kControls), IsEmpty()) << text;
}

TEST(ReadingsOf, VendorsWithoutPowerControl) {
  EXPECT_THAT(Show(R"({"PowerConsumedWatts": 139, "PowerControl": [{"PowerCapacityWatts": 500}]})", Kind::kControls),
              ElementsAre("0=1390"))
      << "HPE iLO 4";
  EXPECT_THAT(Show(R"({"PowerControl": [{"PowerConsumedWatts": null}],
               "Oem": {"ts_fujitsu": {"ChassisPowerConsumption": {"CurrentPowerConsumptionW": 210}}}})",
                   Kind::kControls),
              ElementsAre("0=2100"))
      << "Fujitsu iRMC";
}

TEST(ReadingsOf, OldPowerSupplies) {
  EXPECT_THAT(Show(R"({"PowerSupplies": [{"MemberId": "PS1", "LastPowerOutputWatts": 150, "PowerInputWatts": null},
                       {"MemberId": "PS2", "LastPowerOutputWatts": null},
                       {"MemberId": "PS3", "PowerInputWatts": 1, "Status": {"State": "Absent"}}]})",
                   Kind::kOldSupplies),
              ElementsAre("PS1=1500", "PS2=null"));
}

Choice Choose(std::string_view text, std::optional<size_t> systems = {}) {
  return ChooseControl(Read(text, Kind::kControls), systems);
}

TEST(ChooseControl, PartsAreNotTheMachine) {
  const Choice server = Choose(R"({"PowerControl": [{"Name": "CPU", "PowerConsumedWatts": 120},
      {"Name": "Server", "PowerConsumedWatts": 344}, {"Name": "Chassis", "PowerConsumedWatts": 45}]})");
  EXPECT_EQ(server.whole, 1U);
  EXPECT_EQ(server.doubt, "") << "no other entry is larger";
  EXPECT_EQ(Choose(R"({"PowerControl": [{"Name": "Server", "PowerConsumedWatts": null},
                      {"Name": "Memory", "PowerConsumedWatts": 38}]})")
                .whole,
            std::nullopt);
  EXPECT_EQ(Choose(R"({"PowerControl": [{"Name": "Power of subsystem 1", "PowerConsumedWatts": 38}]})").whole, 0U);
  EXPECT_EQ(Choose(R"({"PowerControl": [{"Name": "CPU", "PowerConsumedWatts": 120},
                      {"Name": "DIMM", "PowerConsumedWatts": 38}]})")
                .whole,
            std::nullopt);
  EXPECT_EQ(Choose("{}").whole, std::nullopt);
}

TEST(ChooseControl, ChassisThatMayBeAnEnclosure) {
  const auto* const both = R"({"PowerControl": [{"MemberId": "0", "Name": "Server", "PowerConsumedWatts": 344},
                                                {"MemberId": "1", "Name": "Chassis", "PowerConsumedWatts": 1389}]})";
  EXPECT_EQ(Choose(both, 1).whole, 1U) << "the chassis contains only this server";
  EXPECT_EQ(Choose(both, 1).doubt, "");
  EXPECT_EQ(Choose(both, 4).whole, 0U) << "the chassis is an enclosure";
  EXPECT_EQ(Choose(both, 4).doubt, "");
  EXPECT_EQ(Choose(both).whole, 0U);
  EXPECT_EQ(Choose(both).doubt,
            "several PowerControl entries may be the machine (0 \"Server\" 344 W, 1 \"Chassis\" 1389 W); 0 counts");
  const auto* const waits = R"({"PowerControl": [{"Name": "Server", "PowerConsumedWatts": null},
                                                 {"Name": "Chassis", "PowerConsumedWatts": 1389}]})";
  EXPECT_EQ(Choose(waits).whole, std::nullopt) << "the enclosure does not replace the server";
}

TEST(ChooseControl, EntriesWithoutNames) {
  const auto* const related = R"({"PowerControl": [
      {"PowerConsumedWatts": 1389, "RelatedItem": [{"@odata.id": "/redfish/v1/Chassis/Enclosure"}]},
      {"PowerConsumedWatts": 344, "RelatedItem": [{"@odata.id": "/redfish/v1/Systems/1"}]},
      {"PowerConsumedWatts": 120, "RelatedItem": [{"@odata.id": "/redfish/v1/Systems/1/Processors/CPU1"}]}]})";
  EXPECT_EQ(Choose(related).whole, 1U);
  const auto* const alike = R"({"PowerControl": [{"PowerConsumedWatts": 300}, {"PowerConsumedWatts": 310}]})";
  EXPECT_EQ(Choose(alike).whole, 1U);
  EXPECT_NE(Choose(alike).doubt, "");
  EXPECT_EQ(Choose(alike, 2).whole, std::nullopt) << "no entry says which system it measures";
  for (const auto* text : {R"([{"PowerConsumedWatts": 1, "RelatedItem": 5}, {"PowerConsumedWatts": 2}])",
                           R"([{"PowerConsumedWatts": 1, "RelatedItem": [7, {}]}, {"PowerConsumedWatts": 2}])"})
    EXPECT_EQ(Choose(R"({"PowerControl": )" + std::string(text) + "}").whole, 1U) << text;
}

TEST(SystemsIn, Links) {
  EXPECT_EQ(SystemsIn(Json(R"({"Links": {"ComputerSystems": [{"@odata.id": "/s/1"}, {"@odata.id": "/s/2"}]}})")), 2U);
  for (const auto* text : {"{}", R"({"Links": {}})", R"({"Links": {"ComputerSystems": []}})",
                           R"({"Links": {"ComputerSystems": {"@odata.id": "/s/1"}}})"})
    EXPECT_EQ(SystemsIn(Json(text)), std::nullopt) << text;
}

TEST(ReasonOf, Refusals) {
  EXPECT_EQ(ReasonOf(R"({"error": {"code": "Base.1.0.GeneralError", "message": "See ExtendedInfo.",
                         "@Message.ExtendedInfo": [{"Message": "A licence is required."}]}})"),
            "A licence is required.");
  EXPECT_EQ(ReasonOf(R"({"error": {"message": "Not found"}})"), "Not found");
  for (const auto* text : {"", "<html>", "{}", R"({"error": 1})", R"({"error": {"@Message.ExtendedInfo": [1]}})"})
    EXPECT_EQ(ReasonOf(text), "") << text;
  EXPECT_TRUE(IsAboutLicence(R"({"error": {"code": "Oem.1.0.LicenseRequired"}})"));
  EXPECT_FALSE(IsAboutLicence(R"({"error": {"code": "Base.1.0.InsufficientPrivilege"}})"));
}

TEST(ReadingsOf, TruncatedAnswers_AreNoJson) {
  constexpr std::string_view kAnswer =
      R"({"PowerControl": [{"MemberId": "0", "PowerConsumedWatts": 344, "Status": {"State": "Enabled"}}]})";
  for (size_t cut = 0; cut < kAnswer.size(); ++cut) EXPECT_FALSE(json::Parse(kAnswer.substr(0, cut))) << cut;
  EXPECT_THAT(Show(kAnswer, Kind::kControls), ElementsAre("0=3440"));
}

}  // namespace
}  // namespace kepler::energy::platform::redfish
