// The shipped model as a source.
#include "energy/modeled/model_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/modeled/model_test_util.h"

namespace kepler::energy::modeled {
namespace {

using namespace std::chrono_literals;
using model::kDramOfWall;
using model::kPackageOfWall;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using ModelSourceTest = ModelledMachine;

TEST_F(ModelSourceTest, Discover_KnownProcessor_ZonesThatSayModel) {
  const auto domains = ModelSource(options_, snapshot::Domain::kCpu, clock_).Discover();
  ASSERT_TRUE(domains);
  ASSERT_EQ(domains->size(), 2u);
  EXPECT_EQ((*domains)[0].zone, "package");
  EXPECT_EQ((*domains)[1].zone, "dram");
  EXPECT_EQ((*domains)[0].path, "model");
  EXPECT_THAT((*domains)[0].note, HasSubstr("Zen 3"));
  EXPECT_THAT((*domains)[0].note, HasSubstr("not measured"));
  EXPECT_EQ((*ModelSource(options_, snapshot::Domain::kPlatform, clock_).Discover())[0].zone, "platform");
}

TEST_F(ModelSourceTest, Discover_NoOrOddCpuinfo_TakesTheGeneralAverage) {
  const auto note = [&] { return (*ModelSource(options_, snapshot::Domain::kCpu, clock_).Discover())[0].note; };
  tree_.Remove("cpuinfo");
  EXPECT_THAT(note(), HasSubstr("general average"));
  tree_.Write("cpuinfo", std::string(100'000, '\xff'));
  EXPECT_THAT(note(), HasSubstr("general average"));
}

TEST_F(ModelSourceTest, Sample_IdleMachine_IsIdleWattsTimesCpus) {
  Open();
  Stat(0, 2'000, 2);
  EXPECT_NEAR(PlatformAfter(10s), 2 * row_.idle_watts * 10, 1e-5);
  EXPECT_FALSE(Zone("platform").only_load);
}

TEST_F(ModelSourceTest, Sample_FullLoad_IsFullWattsTimesCpus_AndTheirSharesOfIt) {
  Open();
  Stat(2'000, 0, 2);
  EXPECT_NEAR(PlatformAfter(10s), 2 * row_.full_watts * 10, 1e-5);
  Stat(0, 0, 2);
  Open(snapshot::Domain::kCpu);
  EXPECT_THAT(Zones(), ElementsAre("package", "dram"));
  Stat(2'000, 0, 2);
  SampleAfter(10s);
  EXPECT_NEAR(Joules("package"), 2 * row_.full_watts * kPackageOfWall.full * 10, 1e-5);
  EXPECT_NEAR(Joules("dram"), 2 * row_.full_watts * kDramOfWall.full * 10, 1e-5);
}

TEST_F(ModelSourceTest, Sample_ManyShortIntervals_AddUpToTheLongOne) {
  Open();
  double joules = 0;
  for (int i = 1; i <= 100; ++i) {
    Stat(i, i, 2);
    joules += PlatformAfter(7ms);
  }
  EXPECT_NEAR(joules, 2 * row_.idle_watts * 0.7 + (row_.full_watts - row_.idle_watts) * 1.0, 2e-6);
}

TEST_F(ModelSourceTest, Sample_CpusComeOnline_TheirEnergyIsBelieved) {
  Open();
  Stat(16'000, 0, 16);
  EXPECT_NEAR(PlatformAfter(10s), 16 * row_.full_watts * 10, 1e-5);
  EXPECT_EQ(meter_->status().rejected_readings, 0u);
}

TEST_F(ModelSourceTest, Sample_StealOnly_IsNotBusy) {
  Open();
  tree_.Write("stat", "cpu  0 0 0 0 0 0 0 99999 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\n");
  EXPECT_NEAR(PlatformAfter(10s), 2 * row_.idle_watts * 10, 1e-5);
}

TEST_F(ModelSourceTest, Sample_SuspendedForHours_OnlyCountedCpuTimeCosts) {
  Open();
  Stat(100, 900, 2);
  EXPECT_NEAR(PlatformAfter(8h), row_.idle_watts * 10 + (row_.full_watts - row_.idle_watts) * 1, 1e-5);
}

TEST_F(ModelSourceTest, Sample_BusyTimeStepsBack_CountsNothingNegative) {
  Stat(500, 0, 2);
  Open();
  Stat(400, 0, 2);
  EXPECT_NEAR(PlatformAfter(10s), 2 * row_.idle_watts * 10, 1e-5);
}

TEST_F(ModelSourceTest, Sample_StatMissingOnce_IsCaughtUp) {
  Open();
  tree_.Remove("stat");
  EXPECT_EQ(PlatformAfter(5s), 0.0);
  Stat(0, 2'000, 2);
  EXPECT_NEAR(PlatformAfter(5s), 2 * row_.idle_watts * 10, 1e-5);
}

TEST_F(ModelSourceTest, Guest_OnlyItsLoadCosts) {
  options_.only_load = true;
  Open();
  Stat(0, 2'000, 2);
  EXPECT_EQ(PlatformAfter(10s), 0.0);
  EXPECT_TRUE(Zone("platform").only_load);
  Stat(1'000, 3'000, 2);
  EXPECT_NEAR(PlatformAfter(10s), (row_.full_watts - row_.idle_watts) * 10, 1e-5);
}

TEST_F(ModelSourceTest, PartsWereMeasured_TheWholeIsNoLess) {
  Open();
  Stat(0, 2'000, 2);
  meter_->UseAtLeast(Energy::Joules(1000));
  EXPECT_EQ(PlatformAfter(10s), 1000.0);
  EXPECT_EQ(source_->estimate()->clamped, 1u);
  Stat(0, 4'000, 2);
  meter_->UseAtLeast(Energy::Joules(1));
  EXPECT_NEAR(PlatformAfter(10s), 2 * row_.idle_watts * 10, 1e-5);
  EXPECT_EQ(source_->estimate()->clamped, 1u);
  tree_.Remove("stat");
  meter_->UseAtLeast(Energy::Joules(300));
  EXPECT_EQ(PlatformAfter(5s), 0.0);
  Stat(0, 6'000, 2);
  meter_->UseAtLeast(Energy::Joules(400));
  EXPECT_EQ(PlatformAfter(5s), 700.0) << "what was measured meanwhile is caught up too";
}

TEST_F(ModelSourceTest, Status_SaysWhichModelAndCountsItsPredictions) {
  Open(snapshot::Domain::kCpu);
  for (int i = 0; i < 3; ++i) SampleAfter(1s);
  const snapshot::EstimateStatus& status = *source_->estimate();
  ASSERT_EQ(status.models->size(), 2u);
  const snapshot::ZoneModel& package = status.models->front();
  EXPECT_EQ(package.zone, "package");
  EXPECT_EQ(package.name, row_.name);
  EXPECT_EQ(package.source, "built-in");
  EXPECT_EQ(package.features, "BPFOnly");
  EXPECT_EQ(package.mae_watts, "");
  EXPECT_FALSE(package.only_load);
  EXPECT_EQ(status.predictions, 3u) << "one for both zones";
  EXPECT_EQ(status.extrapolated, 0u);
}

}  // namespace
}  // namespace kepler::energy::modeled
