#include "energy/rapl/powercap_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/fake_tree.h"

namespace kepler::energy::rapl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PowercapTreeTest : public ::testing::Test {
 protected:
  void Zone(const std::string& entry, const std::string& name) {
    Attribute(entry, "name", name);
    Attribute(entry, "max_energy_range_uj", "262143328850");
    Attribute(entry, "energy_uj", "1");
  }
  void Attribute(const std::string& entry, const std::string& file, const std::string& text) {
    tree_.Write("class/powercap/" + entry + "/" + file, text + "\n");
  }
  PowercapTree Read() {
    auto tree = ReadPowercapTree(tree_.root());
    EXPECT_TRUE(tree);
    return tree ? *std::move(tree) : PowercapTree{};
  }
  static std::vector<std::string> Identities(const std::vector<PowercapZone>& zones) {
    std::vector<std::string> names;
    names.reserve(zones.size());
    for (const PowercapZone& zone : zones) names.push_back(zone.control + " " + zone.Identity());
    return names;
  }
  testing::FakeTree tree_;
};

TEST_F(PowercapTreeTest, Read_SubZones_InheritTheSocketOfTheirPackage) {
  tree_.MakeDir("class/powercap/intel-rapl");
  Zone("intel-rapl:0", "package-0");
  Zone("intel-rapl:0:0", "core");
  Zone("intel-rapl:0:1", "dram");
  Zone("intel-rapl:1", "psys");
  Zone("intel-rapl:2", "package-1");
  Zone("intel-rapl:2:0", "core");
  Zone("intel-rapl:3", "psys-1");
  EXPECT_THAT(Identities(Read().zones),
              ElementsAre("intel-rapl package@0", "intel-rapl core@0", "intel-rapl dram@0", "intel-rapl psys@-",
                          "intel-rapl package@1", "intel-rapl core@1", "intel-rapl psys@1"));
}

TEST_F(PowercapTreeTest, Read_MultiDie_DiesAreDifferentUnits) {
  Zone("intel-rapl:0", "package-0-die-0");
  Zone("intel-rapl:0:0", "dram");
  Zone("intel-rapl:1", "package-0-die-1");
  Zone("intel-rapl:1:0", "dram");
  EXPECT_THAT(Identities(WithoutTwins(Read().zones)), ElementsAre("intel-rapl package@0.0", "intel-rapl dram@0.0",
                                                                  "intel-rapl package@0.1", "intel-rapl dram@0.1"));
  for (const PowercapZone& zone : Read().zones) EXPECT_EQ(zone.package, "0");
}

TEST_F(PowercapTreeTest, WithoutTwins_MmioMirrorsPackageAndSubZones_OnlyTheMsrTreeStays) {
  Zone("intel-rapl-mmio:0", "package-0");
  Zone("intel-rapl-mmio:0:0", "dram");
  Zone("intel-rapl:0", "package-0");
  Zone("intel-rapl:0:0", "core");
  Zone("intel-rapl:0:1", "dram");
  const auto zones = WithoutTwins(Read().zones);
  EXPECT_THAT(Identities(zones), ElementsAre("intel-rapl package@0", "intel-rapl dram@0", "intel-rapl core@0"));
  EXPECT_EQ(zones[0].path, tree_.Path("class/powercap/intel-rapl:0"));
}

TEST_F(PowercapTreeTest, WithoutTwins_OnlyMmio_IsKept) {
  Zone("intel-rapl-mmio:0", "package-0");
  EXPECT_EQ(WithoutTwins(Read().zones).size(), 1u);
}

TEST_F(PowercapTreeTest, WithoutTwins_TwoEqualNamesInOneTree_AreTwoZones) {
  Zone("other:0", "accelerator");
  Zone("other:1", "accelerator");
  EXPECT_EQ(WithoutTwins(Read().zones).size(), 2u);
}

TEST_F(PowercapTreeTest, Read_ZoneWithoutUsableRange_CostsOnlyItself) {
  Zone("intel-rapl:0", "package-0");
  for (const char* text : {"", "0", "12 34", "-1"}) {
    Zone("intel-rapl:0:0", "core");
    Attribute("intel-rapl:0:0", "max_energy_range_uj", text);
    const PowercapTree tree = Read();
    ASSERT_EQ(tree.zones.size(), 2u) << text;
    EXPECT_FALSE(tree.zones[0].fault);
    EXPECT_EQ(tree.zones[1].range, 0u);
    ASSERT_TRUE(tree.zones[1].fault) << text;
    EXPECT_THAT(tree.zones[1].fault->message, HasSubstr("intel-rapl:0:0/max_energy_range_uj"));
    EXPECT_TRUE(tree.problems.empty()) << text;
  }
  tree_.Remove("class/powercap/intel-rapl:0:0/max_energy_range_uj");
  EXPECT_TRUE(Read().zones[1].fault);
}

TEST_F(PowercapTreeTest, WithoutTwins_OneThatCanBeUsedIsKept) {
  Zone("intel-rapl:0", "package-0");
  Zone("intel-rapl-mmio:0", "package-0");
  EXPECT_EQ(WithoutTwins(Read().zones)[0].control, "intel-rapl");
  Attribute("intel-rapl:0", "max_energy_range_uj", "0");
  ASSERT_EQ(WithoutTwins(Read().zones).size(), 1u);
  EXPECT_EQ(WithoutTwins(Read().zones)[0].control, "intel-rapl-mmio");
  Attribute("intel-rapl-mmio:0", "max_energy_range_uj", "0");
  EXPECT_EQ(WithoutTwins(Read().zones)[0].control, "intel-rapl");
}

TEST_F(PowercapTreeTest, Read_EmptyName_CostsOnlyThatZone) {
  Zone("intel-rapl:0", "package-0");
  Zone("intel-rapl:1", "");
  const PowercapTree tree = Read();
  EXPECT_EQ(tree.zones.size(), 1u);
  EXPECT_EQ(tree.problems.size(), 1u);
}

TEST_F(PowercapTreeTest, Read_EntryWithoutNameOrCounter_IsNoEnergyZone) {
  tree_.MakeDir("class/powercap/dtpm:0");
  Zone("arm-scmi:0", "cap-only");
  tree_.Remove("class/powercap/arm-scmi:0/energy_uj");
  const PowercapTree tree = Read();
  EXPECT_TRUE(tree.zones.empty());
  EXPECT_TRUE(tree.problems.empty());
}

TEST_F(PowercapTreeTest, Read_CounterThatCannotBeReached_IsAZoneAllTheSame) {
  Zone("intel-rapl:0", "package-0");
  tree_.Remove("class/powercap/intel-rapl:0/energy_uj");
  tree_.Symlink("class/powercap/intel-rapl:0/energy_uj", "energy_uj");
  EXPECT_EQ(Read().zones.size(), 1u) << "whoever reads it says why not";
}

TEST_F(PowercapTreeTest, Read_Constraints_TheLargestLimitCountsAndSubZonesInherit) {
  Zone("intel-rapl:0", "package-0");
  Attribute("intel-rapl:0", "constraint_0_max_power_uw", "15000000");
  Attribute("intel-rapl:0", "constraint_1_max_power_uw", "0");
  Attribute("intel-rapl:0", "constraint_1_power_limit_uw", "64000000");
  Zone("intel-rapl:0:0", "core");
  Zone("intel-rapl:0:1", "dram");
  Attribute("intel-rapl:0:1", "constraint_0_max_power_uw", "20000000");
  const auto zones = Read().zones;
  EXPECT_EQ(zones[0].max_power, Power::Watts(64));
  EXPECT_EQ(zones[1].max_power, Power::Watts(64));
  EXPECT_EQ(zones[2].max_power, Power::Watts(20));
}

TEST_F(PowercapTreeTest, Read_LimitThatMeansUnlimited_IsTheMaxThatIsBelievable) {
  Zone("intel-rapl:0", "package-0");
  Attribute("intel-rapl:0", "constraint_0_max_power_uw", "4095875000");
  Zone("intel-rapl:1", "package-1");
  Attribute("intel-rapl:1", "constraint_0_max_power_uw", "no number");
  const auto zones = Read().zones;
  EXPECT_EQ(zones[0].max_power, Power::Watts(1'000));
  EXPECT_FALSE(zones[1].max_power);
}

TEST_F(PowercapTreeTest, Read_NoPowercap_SaysWhere) {
  const auto tree = ReadPowercapTree(tree_.root());
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(tree.error().message, HasSubstr("/class/powercap"));
}

}  // namespace
}  // namespace kepler::energy::rapl
