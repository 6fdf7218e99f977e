#include "model/default_model.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <utility>

#include "model/power_model.h"

namespace kepler::model {
namespace {

std::array<double, kComponents> WattsOf(const PowerModel& model, double busy_ms) {
  return EstimateRow(model, std::array{busy_ms}, 1).watts;
}

CpuInfo Cpu(std::string vendor, std::string family, std::string number, std::string stepping) {
  CpuInfo cpu;
  cpu.vendor_id = std::move(vendor);
  cpu.cpu_family = std::move(family);
  cpu.model = std::move(number);
  cpu.stepping = std::move(stepping);
  return cpu;
}

TEST(DefaultModel, IdleAndFullLoad_AreTheTablesWattsAtTheWall) {
  const CpuPower& row = GeneralAverage();
  const PowerModel model = DefaultModel(row, 8);
  ASSERT_TRUE(Check(model));
  const auto idle = WattsOf(model, 0);
  const auto full = WattsOf(model, 8000);
  EXPECT_DOUBLE_EQ(idle[4], 8 * row.idle_watts);
  EXPECT_DOUBLE_EQ(full[4], 8 * row.full_watts);
  EXPECT_DOUBLE_EQ(idle[0], 8 * row.idle_watts * kPackageOfWall.idle);
  EXPECT_DOUBLE_EQ(full[0], 8 * row.full_watts * kPackageOfWall.full);
  EXPECT_DOUBLE_EQ(idle[3], 8 * row.idle_watts * kDramOfWall.idle);
  EXPECT_DOUBLE_EQ(full[3], 8 * row.full_watts * kDramOfWall.full);
  EXPECT_DOUBLE_EQ(WattsOf(model, 4000)[4], 4 * (row.idle_watts + row.full_watts));
  EXPECT_EQ(model.name, row.name);
}

/// So that what load adds to a machine, too, is in order and never negative.
TEST(DefaultModel, EveryRowOfTheTable_LoadAddsToAllPartsAndLessThanToTheWhole) {
  std::set<std::string_view> names;
  const auto check = [&](const CpuInfo& cpu) {
    const CpuPower& row = PowerOf(cpu);
    if (!names.insert(row.name).second) return;
    const PowerModel model = DefaultModel(row, 1);
    const auto idle = WattsOf(model, 0);
    const auto full = WattsOf(model, 1000);
    EXPECT_GT(full[0], idle[0]) << row.name;
    EXPECT_GT(full[3], idle[3]) << row.name;
    EXPECT_GT(full[4] - idle[4], full[0] - idle[0] + full[3] - idle[3]) << row.name;
  };
  for (int number = 0; number < 256; ++number) {
    for (const char* stepping : {"0", "5"}) check(Cpu("GenuineIntel", "6", std::to_string(number), stepping));
    for (const char* family : {"23", "25", "26"}) check(Cpu("AuthenticAMD", family, std::to_string(number), "0"));
  }
  CpuInfo arm;
  arm.vendor_id = "0x41";
  arm.part = "0xd0c";
  check(arm);
  EXPECT_EQ(names.size(), 18u);
}

}  // namespace
}  // namespace kepler::model
