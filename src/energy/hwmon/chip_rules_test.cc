#include "energy/hwmon/chip_rules.h"

#include <gtest/gtest.h>

namespace kepler::energy::hwmon {
namespace {

TEST(CleanName, AnyText_BecomesAMetricName) {
  EXPECT_EQ(CleanName("VDD_CPU.Core 1\n"), "vdd_cpu_core_1");
  EXPECT_EQ(CleanName("0000:00:18.3"), "0000:00:18_3");
  EXPECT_EQ(CleanName("__x__"), "x");
  EXPECT_EQ(CleanName("\xff\xfe"), "");
  EXPECT_EQ(CleanName(""), "");
  EXPECT_LE(CleanName(std::string(5'000, 'a')).size(), 64u);
}

TEST(FindRule, BuiltInChip_HasItsPairsAndSkips) {
  const ChipRule* ltc = FindRule({}, "ltc2992");
  ASSERT_NE(ltc, nullptr);
  EXPECT_EQ(ltc->pairings, (std::map<int, int>{{0, 1}, {2, 2}}));
  EXPECT_EQ(ltc->skip_voltages, (std::vector<int>{1, 3, 4, 5}));
  EXPECT_TRUE(FindRule({}, "ina3221")->use_same_index);
  EXPECT_EQ(FindRule({}, "coretemp"), nullptr);
}

TEST(FindRule, UserRule_ReplacesTheBuiltInOneWhole) {
  const std::vector<ChipRule> rules = {{"INA3221", {{1, 2}}, {}, {}, false}};
  const ChipRule* rule = FindRule(rules, "ina3221");
  ASSERT_NE(rule, nullptr);
  EXPECT_FALSE(rule->use_same_index);
  EXPECT_TRUE(rule->skip_voltages.empty());
}

TEST(IsCpuChip, MetersOfTheCpuOrItsBoard_AreAdmitted) {
  for (const char* chip : {"zenpower", "amd_energy", "fam15h_power", "scmi_sensors", "ina3221", "ina219", "ltc2947",
                           "adm1278", "max34451", "pmbus", "tps53679", "ucd9000", "xdpe12284", "mp2975"}) {
    EXPECT_TRUE(IsCpuChip(chip)) << chip;
  }
}

TEST(IsCpuChip, EverythingElse_IsNot) {
  for (const char* chip :
       {"power_meter", "amdgpu", "i915", "xe", "nouveau", "nvme", "drivetemp", "bat0", "bat1", "ac", "corsairpsu",
        "ucsi_source_psy_usbc000:001", "iwlwifi_1", "mlx5", "r8169_0_100:00", "acpitz", "dell_smm", ""}) {
    EXPECT_FALSE(IsCpuChip(chip)) << chip;
  }
}

}  // namespace
}  // namespace kepler::energy::hwmon
