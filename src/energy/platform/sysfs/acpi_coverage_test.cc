#include "energy/platform/sysfs/acpi_coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::energy::platform::sysfs {
namespace {

using ::testing::ElementsAre;

const std::string kBus = "/sys/devices/LNXSYSTM:00/LNXSYBUS:00";
const std::string kModuleA = kBus + "/ACPI0004:00";
const std::string kModuleB = kBus + "/ACPI0004:01";

std::vector<bool> Counts(const std::vector<AcpiMeter>& meters) { return ChooseAcpiMeters(meters).counts; }
std::string Doubt(const std::vector<AcpiMeter>& meters) { return ChooseAcpiMeters(meters).doubt; }

TEST(ChooseAcpiMeters, OneMeter_IsTheMachine) {
  EXPECT_THAT(Counts({{}}), ElementsAre(true));
  EXPECT_EQ(Doubt({{}}), "");
  EXPECT_THAT(Counts({}), ElementsAre());
}

TEST(ChooseAcpiMeters, Overlap_OnlyTheOuterOneCounts) {
  EXPECT_THAT(Counts({{"", {kModuleA}}, {"", {kBus}}, {"", {kModuleB}}}), ElementsAre(false, true, false));
  EXPECT_EQ(Doubt({{"", {kModuleA}}, {"", {kBus}}}), "");
  EXPECT_THAT(Counts({{"", {kBus}}, {"", {kBus}}}), ElementsAre(true, false)) << "the same twice";
}

TEST(ChooseAcpiMeters, DifferentDevices_AreAdded) {
  EXPECT_THAT(Counts({{"", {kModuleA}}, {"", {kModuleB}}}), ElementsAre(true, true));
  EXPECT_EQ(Doubt({{"", {kModuleA}}, {"", {kModuleB}}}), "");
  EXPECT_THAT(Counts({{"", {kModuleA}}, {"", {kModuleA + "0"}}}), ElementsAre(true, true)) << "a name is no prefix";
}

TEST(ChooseAcpiMeters, Unknown_NoneCountsAndThatIsSaid) {
  for (const std::vector<AcpiMeter>& meters :
       {std::vector<AcpiMeter>{{}, {}}, {{"", {kBus}}, {}}, {{"", {kModuleA, kModuleB}}, {"", {kModuleB, "/other"}}}}) {
    EXPECT_THAT(Counts(meters), ElementsAre(false, false));
    EXPECT_NE(Doubt(meters), "");
  }
}

TEST(ChooseAcpiMeters, OneWithoutSensor_TheOthersCountOnlyIfTheyCoverIt) {
  const auto blind = [](const std::string& measured) { return AcpiMeter{.measures = {measured}, .has_sensor = false}; };
  EXPECT_THAT(Counts({{"", {kModuleA}}, blind(kModuleB)}), ElementsAre(false, false)) << "the sum lacks a part";
  EXPECT_THAT(Doubt({{"", {kModuleA}}, blind(kModuleB)}), ::testing::HasSubstr("without a sensor"));
  EXPECT_THAT(Counts({{}, {.has_sensor = false}}), ElementsAre(false, false));
  EXPECT_THAT(Counts({{"", {kModuleA}}, blind(kBus)}), ElementsAre(false, false));
  EXPECT_THAT(Counts({{"", {kBus}}, blind(kModuleB)}), ElementsAre(true, false));
  EXPECT_EQ(Doubt({{"", {kBus}}, blind(kModuleB)}), "");
  EXPECT_THAT(Counts({blind(kBus), {"", {kBus}}}), ElementsAre(false, true));
}

TEST(ChooseAcpiMeters, ModulesOfGrace_AreAdded) {
  EXPECT_THAT(Counts({{"module_power", {}}, {"module_power", {}}}), ElementsAre(true, true));
  EXPECT_EQ(Doubt({{"module_power", {}}, {"module_power", {}}}), "");
  EXPECT_THAT(Counts({{"module_power", {}}, {}}), ElementsAre(true, false));
  EXPECT_NE(Doubt({{"module_power", {}}, {}}), "");
}

TEST(ChooseAcpiMeters, ModuleOfGraceWithoutSensor_NoneCounts) {
  const std::vector<AcpiMeter> meters = {{"module_power", {}}, {.has_sensor = false}};
  EXPECT_THAT(Counts(meters), ElementsAre(false, false)) << "one module is not the machine";
  EXPECT_THAT(Doubt(meters), ::testing::HasSubstr("without a sensor"));
}

}  // namespace
}  // namespace kepler::energy::platform::sysfs
