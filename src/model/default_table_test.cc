#include "model/default_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace kepler::model {
namespace {

using ::testing::HasSubstr;

const DefaultTable& Shipped() {
  static const DefaultTable kTable = ReadDefaultTable(ShippedTableText()).value();
  return kTable;
}

std::string NameOf(const CpuId& cpu, std::string_view name = "") {
  return std::string(FindProcessor(Shipped(), cpu, name).row->name);
}

TEST(FindProcessor, Cpuid_DistinguishesGenerations) {
  EXPECT_EQ(NameOf(CpuId("GenuineIntel", 6, 85)), "Intel Skylake (Xeon Scalable)");
  EXPECT_EQ(NameOf(CpuId("GenuineIntel", 6, 85, {"avx512_vnni", "avx512f"})), "Intel Cascade Lake");
  EXPECT_EQ(NameOf(CpuId("GenuineIntel", 6, 85, {"avx512_bf16", "avx512_vnni"})), "Intel Cooper Lake");
  EXPECT_EQ(NameOf(CpuId("GenuineIntel", 6, 143)), "Intel Sapphire Rapids");
  EXPECT_EQ(NameOf(CpuId("GenuineIntel", 15, 4), "intel_xeon"), "Intel NetBurst");
  EXPECT_EQ(NameOf(CpuId("AuthenticAMD", 23, 1)), "AMD Zen");
  EXPECT_EQ(NameOf(CpuId("AuthenticAMD", 23, 49)), "AMD Zen 2");
  EXPECT_EQ(NameOf(CpuId("AuthenticAMD", 25, 1)), "AMD Zen 3");
  EXPECT_EQ(NameOf(CpuId("AuthenticAMD", 25, 17)), "AMD Zen 4");
  EXPECT_EQ(NameOf(CpuId("AuthenticAMD", 26, 2)), "AMD Zen 5");
  EXPECT_EQ(NameOf(CpuId("HygonGenuine", 24, 0)), "AMD Zen");
}

TEST(FindProcessor, CpuidBeforeName_NamesOfGuestsSayLittle) {
  EXPECT_EQ(NameOf(CpuId("GenuineIntel", 6, 106), "intel_xeon"), "Intel Ice Lake");
}

TEST(FindProcessor, Name_DistinguishesGenerations) {
  for (const auto& [name, row] : {std::pair{"intel_xeon_platinum_8380", "Intel Ice Lake"},
                                  {"intel_xeon_platinum_8380hl", "Intel Cooper Lake"},
                                  {"intel_xeon_e5_2660", "Intel Sandy Bridge"},
                                  {"intel_xeon_e5_2660v2", "Intel Ivy Bridge"},
                                  {"intel_xeon_x5670", "Intel Westmere"},
                                  {"amd_epyc_7763", "AMD Zen 3"},
                                  {"amd_epyc_7543p", "AMD Zen 3"},
                                  {"amd_opteron_6174", "AMD K10"},
                                  {"ampere_altra_q64_30", "Arm Neoverse"},
                                  {"arm_0x41_0xd0c", "Arm Neoverse"},
                                  {"arm_cortex_a53", "Arm Cortex-A53"}})
    EXPECT_EQ(NameOf({}, name), row) << name;
}

TEST(FindProcessor, Unlisted_IsTheRowOfTheVendor) {
  EXPECT_EQ(NameOf(CpuId("GenuineIntel", 6, 9999)), "other Intel processor");
  EXPECT_EQ(NameOf({}, "amd_epyc"), "other AMD processor");
  EXPECT_EQ(NameOf({}, "intel_xeon"), "other Intel processor");  // in the data only, it is a NetBurst
  EXPECT_EQ(NameOf(CpuId("0xc0", 8, 3)), "other Arm processor");
  EXPECT_EQ(NameOf(CpuId("HygonGenuine", 99, 1)), "other AMD processor");
  const ProcessorRows found = FindProcessor(Shipped(), {}, "amd_epyc");
  EXPECT_EQ(found.row, found.vendor);
}

TEST(FindProcessor, UnknownVendor_IsTheRowOfAll) {
  EXPECT_EQ(NameOf({}), "other processor");
  EXPECT_EQ(NameOf(CpuId("Genuine", 6, 143)), "other processor");
  EXPECT_EQ(FindProcessor(Shipped(), {}, "").vendor, nullptr);
}

TEST(ReadDefaultTable, Truncated_IsMalformedWithTheLine) {
  const std::string text(ShippedTableText());
  EXPECT_THAT(ReadDefaultTable("").error().message, HasSubstr("missing"));
  EXPECT_THAT(ReadDefaultTable(text.substr(0, text.find("vendor,year"))).error().message, HasSubstr("line 3"));
  const size_t last = text.rfind(',');
  EXPECT_THAT(ReadDefaultTable(text.substr(0, last)).error().message, HasSubstr("line 3"));
}

TEST(ReadDefaultTable, MalformedCell_IsMalformedWithTheLine) {
  const auto with = [](std::string_view from, std::string_view to) {
    std::string text(ShippedTableText());
    text.replace(text.find(from), from.size(), to);
    return ReadDefaultTable(text);
  };
  EXPECT_TRUE(with("AMD Zen 3", "AMD Zen three"));
  EXPECT_THAT(with(",base,", ",bass,").error().message, HasSubstr("line 4"));
  EXPECT_THAT(with("log_chips", "log_chops").error().message, HasSubstr("line 6"));
  EXPECT_THAT(with("\nAMD Zen 3,processors,amd,2021", "\nAMD Zen 3,processors,amd,nan").error().message,
              HasSubstr("not a row"));
  EXPECT_THAT(with("\nAMD Zen 3,processors,", "\nAMD Zen 3,processors,1,").error().message, HasSubstr("not a row"));
  EXPECT_THAT(with(",processors,", ",number,").error().message, HasSubstr("not a row"));
}

}  // namespace
}  // namespace kepler::model
