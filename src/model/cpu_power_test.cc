#include "model/cpu_power.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kepler::model {
namespace {

using ::testing::HasSubstr;

std::string NameOf(const CpuIdentity& cpu) { return std::string(PowerOf(cpu).name); }
CpuIdentity Intel(uint32_t model, uint32_t stepping = 0) { return {Vendor::kIntel, 6, model, stepping, 0}; }
CpuIdentity Amd(uint32_t family, uint32_t model) { return {Vendor::kAmd, family, model, 0, 0}; }

TEST(PowerOf, IntelServers_AreToldApart) {
  EXPECT_THAT(NameOf(Intel(85, 4)), HasSubstr("Skylake"));
  EXPECT_THAT(NameOf(Intel(85, 7)), HasSubstr("Cascade Lake"));
  EXPECT_THAT(NameOf(Intel(106)), HasSubstr("Ice Lake"));
  EXPECT_THAT(NameOf(Intel(143)), HasSubstr("Sapphire"));
  EXPECT_THAT(NameOf(Intel(173)), HasSubstr("Granite"));
}

TEST(PowerOf, AmdGenerations_AreToldApart) {
  EXPECT_THAT(NameOf(Amd(23, 0x01)), HasSubstr("1st"));
  EXPECT_THAT(NameOf(Amd(23, 0x31)), HasSubstr("2nd"));
  EXPECT_THAT(NameOf(Amd(25, 0x01)), HasSubstr("3rd"));
  EXPECT_THAT(NameOf(Amd(25, 0x11)), HasSubstr("4th"));
  EXPECT_THAT(NameOf(Amd(25, 0xa0)), HasSubstr("4th"));
  EXPECT_THAT(NameOf(Amd(26, 0x02)), HasSubstr("5th"));
}

TEST(PowerOf, ArmNeoverse_IsKnownByItsPart) {
  EXPECT_THAT(NameOf({Vendor::kArm, 0, 0, 0, 0xd0c}), HasSubstr("Neoverse"));
  EXPECT_EQ(NameOf({Vendor::kArm, 0, 0, 0, 0xd08}), GeneralAverage().name);
}

TEST(PowerOf, AnythingElse_IsTheGeneralAverage) {
  EXPECT_EQ(NameOf({}), GeneralAverage().name);
  EXPECT_EQ(NameOf(Intel(9'999)), GeneralAverage().name);
  EXPECT_EQ(NameOf(Amd(99, 1)), GeneralAverage().name);
}

TEST(PowerOf, EveryRow_MoreUnderLoadThanIdleAndNeverAbsurd) {
  for (const Vendor vendor : {Vendor::kIntel, Vendor::kAmd}) {
    for (uint32_t family = 0; family < 30; ++family) {
      for (uint32_t model = 0; model < 256; ++model) {
        const CpuPower& row = PowerOf({vendor, family, model, 5, 0});
        EXPECT_GT(row.idle_watts, 0.1) << row.name;
        EXPECT_GT(row.full_watts, row.idle_watts) << row.name;
        EXPECT_LT(row.full_watts, 10.0) << row.name;
      }
    }
  }
}

TEST(EstimatePower, IsLinearBetweenIdleAndFull) {
  const CpuPower row{"x", 1.0, 3.0};
  EXPECT_DOUBLE_EQ(EstimatePower(row, 4, Ratio::Clamped(0)).watts(), 4.0);
  EXPECT_DOUBLE_EQ(EstimatePower(row, 4, Ratio::Clamped(0.5)).watts(), 8.0);
  EXPECT_DOUBLE_EQ(EstimatePower(row, 4, Ratio::Clamped(1)).watts(), 12.0);
}

}  // namespace
}  // namespace kepler::model
