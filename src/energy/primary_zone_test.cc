#include <gtest/gtest.h>

#include "energy/meter_set.h"

namespace kepler::energy {
namespace {

std::string Primary(std::initializer_list<const char*> names) {
  std::vector<status::Zone> zones;
  for (const char* name : names) zones.push_back({name, "", ""});
  return zones[SelectPrimaryZone(zones)].name;
}

TEST(SelectPrimaryZone, RaplZones_PlatformBeforePackageBeforeItsParts) {
  EXPECT_EQ(Primary({"dram", "core", "package", "psys"}), "psys");
  EXPECT_EQ(Primary({"dram", "core", "package"}), "package");
  EXPECT_EQ(Primary({"uncore", "dram", "core"}), "core");
  EXPECT_EQ(Primary({"uncore", "dram"}), "dram");
}

TEST(SelectPrimaryZone, HwmonZones_SocketBeforeCoreBeforeTheRest) {
  EXPECT_EQ(Primary({"core", "socket"}), "socket");
  EXPECT_EQ(Primary({"soc", "ppt", "core_power"}), "ppt");
  EXPECT_EQ(Primary({"zzz", "vddgfx"}), "vddgfx");
}

TEST(SelectPrimaryZone, OtherCase_IsTheSameZone) { EXPECT_EQ(Primary({"x", "PACKAGE"}), "PACKAGE"); }
TEST(SelectPrimaryZone, UnknownNames_TheFirst) { EXPECT_EQ(Primary({"b", "a"}), "b"); }
TEST(SelectPrimaryZone, NoZones_IsZero) { EXPECT_EQ(SelectPrimaryZone({}), 0u); }

}  // namespace
}  // namespace kepler::energy
