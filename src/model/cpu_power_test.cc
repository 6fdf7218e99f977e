#include "model/cpu_power.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace kepler::model {
namespace {

using ::testing::HasSubstr;

std::string NameOf(const CpuInfo& cpu) { return std::string(PowerOf(cpu).name); }
CpuInfo Of(std::string vendor, uint32_t family, uint32_t model, uint32_t stepping = 0) {
  CpuInfo cpu;
  cpu.vendor_id = std::move(vendor);
  cpu.cpu_family = std::to_string(family);
  cpu.model = std::to_string(model);
  cpu.stepping = std::to_string(stepping);
  return cpu;
}
CpuInfo Intel(uint32_t model, uint32_t stepping = 0) { return Of("GenuineIntel", 6, model, stepping); }
CpuInfo Amd(uint32_t family, uint32_t model) { return Of("AuthenticAMD", family, model); }
CpuInfo Arm(std::string implementer, std::string part) {
  CpuInfo cpu;
  cpu.vendor_id = std::move(implementer);
  cpu.model_name = cpu.part = std::move(part);
  cpu.cpu_family = "8";  // the architecture
  cpu.model = "0x3";     // the variant
  return cpu;
}

TEST(PowerOf, IntelServers_AreDistinguished) {
  EXPECT_THAT(NameOf(Intel(85, 4)), HasSubstr("Skylake"));
  EXPECT_THAT(NameOf(Intel(85, 7)), HasSubstr("Cascade Lake"));
  EXPECT_THAT(NameOf(Intel(106)), HasSubstr("Ice Lake"));
  EXPECT_THAT(NameOf(Intel(143)), HasSubstr("Sapphire"));
  EXPECT_THAT(NameOf(Intel(173)), HasSubstr("Granite"));
}

TEST(PowerOf, AmdGenerations_AreDistinguished) {
  EXPECT_THAT(NameOf(Amd(23, 0x01)), HasSubstr("1st"));
  EXPECT_THAT(NameOf(Amd(23, 0x31)), HasSubstr("2nd"));
  EXPECT_THAT(NameOf(Amd(25, 0x01)), HasSubstr("3rd"));
  EXPECT_THAT(NameOf(Amd(25, 0x11)), HasSubstr("4th"));
  EXPECT_THAT(NameOf(Amd(25, 0xa0)), HasSubstr("4th"));
  EXPECT_THAT(NameOf(Amd(26, 0x02)), HasSubstr("5th"));
}

TEST(PowerOf, ArmNeoverse_IsKnownByItsPart) {
  EXPECT_THAT(NameOf(Arm("0x41", "0xd0c")), HasSubstr("Neoverse"));
  EXPECT_EQ(NameOf(Arm("0x41", "0xd08")), GeneralAverage().name);
  EXPECT_EQ(NameOf(Arm("0xc0", "0xd0c")), GeneralAverage().name) << "another implementer numbers its parts itself";
}

TEST(PowerOf, Malformed_IsTheGeneralAverage) {
  CpuInfo cpu = Intel(143);
  EXPECT_NE(NameOf(cpu), GeneralAverage().name);
  for (const char* model : {"", "143x", "-143", "99999999999", "0x", " "}) {
    cpu.model = model;
    EXPECT_EQ(NameOf(cpu), GeneralAverage().name) << model;
  }
  cpu = Intel(143);
  cpu.vendor_id = "Genuine";
  EXPECT_EQ(NameOf(cpu), GeneralAverage().name);
  EXPECT_EQ(NameOf(Arm("0x41", "0x")), GeneralAverage().name);
  cpu = {};
  cpu.vendor_id = "AuthenticAMD";
  cpu.cpu_family = "26";
  cpu.model = "2";
  EXPECT_NE(NameOf(cpu), GeneralAverage().name);
  for (const char* model : {"", "2x"}) {
    cpu.model = model;
    EXPECT_EQ(NameOf(cpu), GeneralAverage().name) << "not its family's first model";
  }
}

TEST(PowerOf, AnythingElse_IsTheGeneralAverage) {
  EXPECT_EQ(NameOf({}), GeneralAverage().name);
  EXPECT_EQ(NameOf(Intel(9'999)), GeneralAverage().name);
  EXPECT_EQ(NameOf(Amd(99, 1)), GeneralAverage().name);
}

TEST(PowerOf, EveryRow_MoreUnderLoadThanIdleAndNeverAbsurd) {
  for (const char* vendor : {"GenuineIntel", "AuthenticAMD", "HygonGenuine"}) {
    for (uint32_t family = 0; family < 30; ++family) {
      for (uint32_t model = 0; model < 256; ++model) {
        const CpuPower& row = PowerOf(Of(vendor, family, model, 5));
        EXPECT_GT(row.idle_watts, 0.1) << row.name;
        EXPECT_GT(row.full_watts, row.idle_watts) << row.name;
        EXPECT_LT(row.full_watts, 10.0) << row.name;
      }
    }
  }
}

}  // namespace
}  // namespace kepler::model
