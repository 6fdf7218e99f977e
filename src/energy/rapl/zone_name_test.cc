#include <gtest/gtest.h>

#include "energy/rapl/powercap_tree.h"

namespace kepler::energy::rapl {
namespace {

TEST(ParseZoneName, NumberedName_GivesBaseAndIndex) {
  EXPECT_EQ(ParseZoneName("package-0\n"), (ZoneName{"package", 0, {}}));
  EXPECT_EQ(ParseZoneName("package-15"), (ZoneName{"package", 15, {}}));
  EXPECT_EQ(ParseZoneName("psys-1"), (ZoneName{"psys", 1, {}}));
}

TEST(ParseZoneName, MultiDieName_GivesSocketAndDie) {
  EXPECT_EQ(ParseZoneName("package-0-die-1"), (ZoneName{"package", 0, 1}));
  EXPECT_EQ(ParseZoneName("package-10-die-0"), (ZoneName{"package", 10, 0}));
}

TEST(ParseZoneName, BareName_StaysWhole) {
  EXPECT_EQ(ParseZoneName("core\n"), (ZoneName{"core", {}, {}}));
  EXPECT_EQ(ParseZoneName(" dram "), (ZoneName{"dram", {}, {}}));
}

TEST(ParseZoneName, OtherShapes_StayWhole) {
  for (const char* name : {"", "-0", "package-", "package--1", "a-b-3", "package-0-die-", "package-die-1", "die-1x",
                           "package-99999999999", "-die-1", "package-0-core"}) {
    EXPECT_EQ(ParseZoneName(name), (ZoneName{name, {}, {}})) << name;
  }
}

TEST(ParseZoneName, BytesThatAreNoText_BecomeAValidLabel) {
  EXPECT_EQ(ParseZoneName("\xff"
                          "core")
                .base,
            "\xEF\xBF\xBD"
            "core");
  EXPECT_LE(ParseZoneName(std::string(5'000, 'x')).base.size(), 64u);
}

}  // namespace
}  // namespace kepler::energy::rapl
