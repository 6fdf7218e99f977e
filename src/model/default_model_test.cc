#include "model/default_model.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "model/default_table.h"

namespace kepler::model {
namespace {

constexpr size_t kPackageIndex = 0;
constexpr size_t kDramIndex = 3;
constexpr size_t kPlatformIndex = 4;

std::array<double, kComponents> WattsOf(const PowerModel& model, double busy_ms) {
  return EstimateRow(model, std::array{busy_ms}, 1).watts;
}

/// A server with two EPYC 7763.
MachineSpec Epyc() {
  return {.processor = "amd_epyc_7763", .cores = 128, .chips = 2, .memory_gib = 256, .frequency_mhz = 2400};
}

TEST(DefaultModel, PlatformIsACurveOfLoad_PackageAndDramAreShares) {
  const PowerModel model = DefaultModel(Epyc());
  ASSERT_TRUE(Check(model));
  EXPECT_EQ(model.name, "AMD Zen 3");
  const auto idle = WattsOf(model, 0);
  const auto full = WattsOf(model, 128'000);
  EXPECT_NEAR(idle[kPackageIndex], idle[kPlatformIndex] * kPackageOfWall.idle, 1e-9);
  EXPECT_NEAR(full[kPackageIndex], full[kPlatformIndex] * kPackageOfWall.full, 1e-9);
  EXPECT_NEAR(idle[kDramIndex], idle[kPlatformIndex] * kDramOfWall.idle, 1e-9);
  EXPECT_NEAR(full[kDramIndex], full[kPlatformIndex] * kDramOfWall.full, 1e-9);
  EXPECT_NEAR(WattsOf(model, 1'000'000)[kPlatformIndex], full[kPlatformIndex], 1e-9) << "no more than all CPUs";
  const double between = (WattsOf(model, 12'800)[kPlatformIndex] + WattsOf(model, 25'600)[kPlatformIndex]) / 2;
  EXPECT_NEAR(WattsOf(model, 19'200)[kPlatformIndex], between, 1e-9) << "a straight line between two levels";
}

/// Published SPECpower_ssj2008 results that are not in the data: two servers with two EPYC 9965, May 2025. The error of
/// unlisted AMD processors is 18 %.
TEST(DefaultModel, NewerServerThanTheData_IsWithinTheStatedError) {
  const PowerModel model = DefaultModel({.processor = "amd_epyc_9965",
                                         .cores = 768,
                                         .chips = 2,
                                         .memory_gib = 384,
                                         .frequency_mhz = 2200,
                                         .threads_per_core = 2});
  EXPECT_EQ(model.name, "AMD Zen 5");
  EXPECT_NEAR(WattsOf(model, 0)[kPlatformIndex], 153, 0.18 * 153);
  EXPECT_NEAR(WattsOf(model, 768'000)[kPlatformIndex], 800, 0.18 * 800);
}

TEST(DefaultModel, Guest_IsAShareOfAUsualServer) {
  MachineSpec guest = {.processor = "arm_0x41_0xd0c", .cores = 2, .chips = 2, .memory_gib = 8, .is_guest = true};
  const auto idle = WattsOf(DefaultModel(guest), 0);
  const auto full = WattsOf(DefaultModel(guest), 2'000);
  EXPECT_GT(full[kPlatformIndex], idle[kPlatformIndex] + 0.5) << "load costs power";
  EXPECT_LT(full[kPlatformIndex], 10);
  guest.cores = 16;
  guest.chips = 1;
  EXPECT_NEAR(WattsOf(DefaultModel(guest), 16'000)[kPlatformIndex], 8 * full[kPlatformIndex], 1e-9);
}

TEST(DefaultModel, ThreadsShareACore_LessPowerThanAsManyCores) {
  MachineSpec server = Epyc();
  const double cores = WattsOf(DefaultModel(server), 128'000)[kPlatformIndex];
  server.threads_per_core = 2;
  const double threads = WattsOf(DefaultModel(server), 128'000)[kPlatformIndex];
  EXPECT_LT(threads, 0.8 * cores);
  server.cores = 256;
  EXPECT_DOUBLE_EQ(WattsOf(DefaultModel(server), 256'000)[kPlatformIndex], cores);
}

TEST(DefaultModel, UnknownAttributes_AreUsualOnes) {
  MachineSpec server = Epyc();
  const double known = WattsOf(DefaultModel(server), 64'000)[kPlatformIndex];
  server.memory_gib = server.frequency_mhz = 0;
  const double unknown = WattsOf(DefaultModel(server), 64'000)[kPlatformIndex];
  EXPECT_NE(unknown, known);
  EXPECT_NEAR(unknown, known, 0.2 * known);
  EXPECT_GT(WattsOf(DefaultModel({}), 500)[kPlatformIndex], 5) << "nothing is known";
}

TEST(DefaultModel, AttributesOutsideTheData_CountAsTheNearestInTheData) {
  MachineSpec server = Epyc();
  server.memory_gib = 1'000'000;
  const double much = WattsOf(DefaultModel(server), 0)[kPlatformIndex];
  server.memory_gib = 10'000'000;
  EXPECT_DOUBLE_EQ(WattsOf(DefaultModel(server), 0)[kPlatformIndex], much);
}

TEST(DefaultModel, Unseen_IsTheErrorOfTheRow_AndThatOfTheShare) {
  const PowerModel model = DefaultModel(Epyc());
  const DefaultTable table = ReadDefaultTable(ShippedTableText()).value();
  const DefaultTable::Row& row = *FindProcessor(table, {}, "amd_epyc_7763").row;
  EXPECT_DOUBLE_EQ(model.components[2].unseen->mape, row.mape);
  EXPECT_EQ(model.components[2].unseen->rows, row.rows);
  EXPECT_NEAR(model.components[2].unseen->mae_watts, row.mape / 100 * WattsOf(model, 64'000)[kPlatformIndex], 1e-9);
  EXPECT_DOUBLE_EQ(model.components[0].unseen->mape, row.mape + kPackageOfWall.mape);
}

/// So that dynamic power is never negative, and package and dram fit into the whole.
TEST(DefaultModel, EveryRow_LoadAddsPowerToAllParts) {
  const DefaultTable table = ReadDefaultTable(ShippedTableText()).value();
  EXPECT_EQ(table.processors.size(), 26u);
  for (const DefaultTable::Row& row : table.processors) {
    for (const uint32_t cores : {1u, 64u, 1024u}) {
      const std::string name(row.names.substr(0, row.names.find('|')));
      std::string plain;
      for (const char c : name) plain += c == '*' ? 'x' : c == '?' ? '0' : c;
      const PowerModel model = DefaultModel({.processor = plain, .cores = cores, .chips = 1});
      double before = 0;
      for (uint32_t level = 0; level <= 20; ++level) {
        const auto watts = WattsOf(model, cores * 50.0 * level);
        EXPECT_GE(watts[kPlatformIndex], before * (1 - 1e-12)) << model.name;
        EXPECT_GE(watts[kPlatformIndex], watts[kPackageIndex] + watts[kDramIndex]) << model.name;
        before = watts[kPlatformIndex];
      }
      EXPECT_GT(WattsOf(model, cores * 1000.0)[kPackageIndex], WattsOf(model, 0)[kPackageIndex]) << model.name;
    }
  }
}

}  // namespace
}  // namespace kepler::model
