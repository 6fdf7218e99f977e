// The shipped model as a source.
#include "energy/modeled/model_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

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
  const auto domains = ModelSource(options_, status::Domain::kCpu, clock_).Discover();
  ASSERT_TRUE(domains);
  ASSERT_EQ(domains->size(), 2u);
  EXPECT_EQ((*domains)[0].zone, "package");
  EXPECT_EQ((*domains)[1].zone, "dram");
  EXPECT_EQ((*domains)[0].path, "model");
  EXPECT_THAT((*domains)[0].note, HasSubstr("Zen 3"));
  EXPECT_THAT((*domains)[0].note, HasSubstr("not measured"));
  EXPECT_EQ((*ModelSource(options_, status::Domain::kPlatform, clock_).Discover())[0].zone, "platform");
}

TEST_F(ModelSourceTest, Discover_UnknownMachine_IsAnUnlistedProcessor) {
  options_.machine = {};
  const auto domains = ModelSource(options_, status::Domain::kCpu, clock_).Discover();
  EXPECT_THAT((*domains)[0].note, HasSubstr("other processor"));
}

TEST_F(ModelSourceTest, Sample_IdleMachine_IsIdlePower) {
  Open();
  Stat(0, 2'000, 2);
  EXPECT_NEAR(PlatformAfter(10s), Wall(0) * 10, 1e-5);
  EXPECT_FALSE(Zone("platform").only_load);
}

TEST_F(ModelSourceTest, Sample_FullLoad_IsFullPowerAndTheirSharesOfIt) {
  Open();
  Stat(2'000, 0, 2);
  EXPECT_NEAR(PlatformAfter(10s), Wall(2) * 10, 1e-5);
  Stat(0, 0, 2);
  Open(status::Domain::kCpu);
  EXPECT_THAT(Zones(), ElementsAre("package", "dram"));
  Stat(2'000, 0, 2);
  SampleAfter(10s);
  EXPECT_NEAR(Joules("package"), Wall(2) * kPackageOfWall.full * 10, 1e-5);
  EXPECT_NEAR(Joules("dram"), Wall(2) * kDramOfWall.full * 10, 1e-5);
}

TEST_F(ModelSourceTest, Sample_ManyShortIntervals_AddUpToTheLongOne) {
  Open();
  double joules = 0;
  for (int i = 1; i <= 100; ++i) {
    Stat(i, i, 2);
    joules += PlatformAfter(7ms);
  }
  EXPECT_NEAR(joules, Wall(1 / 0.7) * 0.7, 2e-6);
}

TEST_F(ModelSourceTest, Sample_CpusComeOnline_TheirEnergyIsBelieved) {
  Open();
  Stat(16'000, 0, 16);
  EXPECT_NEAR(PlatformAfter(10s), Wall(16, 16) * 10, 1e-5);
  EXPECT_EQ(meter_->status().rejected_readings, 0u);
}

TEST_F(ModelSourceTest, Sample_StealOnly_IsNotBusy) {
  Open();
  tree_.Write("stat", "cpu  0 0 0 0 0 0 0 99999 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\n");
  EXPECT_NEAR(PlatformAfter(10s), Wall(0) * 10, 1e-5);
}

TEST_F(ModelSourceTest, Sample_SuspendedForHours_OnlyCountedCpuTimeCosts) {
  Open();
  Stat(100, 900, 2);
  EXPECT_NEAR(PlatformAfter(8h), Wall(0.2) * 5, 1e-5);
}

TEST_F(ModelSourceTest, Sample_BusyTimeStepsBack_CountsNothingNegative) {
  Stat(500, 0, 2);
  Open();
  Stat(400, 0, 2);
  EXPECT_NEAR(PlatformAfter(10s), Wall(0) * 10, 1e-5);
}

TEST_F(ModelSourceTest, Sample_StatMissingOnce_IsCaughtUp) {
  Open();
  tree_.Remove("stat");
  EXPECT_EQ(PlatformAfter(5s), 0.0);
  Stat(0, 2'000, 2);
  EXPECT_NEAR(PlatformAfter(5s), Wall(0) * 10, 1e-5);
}

TEST_F(ModelSourceTest, Guest_OnlyItsLoadCosts) {
  options_.only_load = true;
  Open();
  Stat(0, 2'000, 2);
  EXPECT_EQ(PlatformAfter(10s), 0.0);
  EXPECT_TRUE(Zone("platform").only_load);
  Stat(1'000, 3'000, 2);
  EXPECT_NEAR(PlatformAfter(10s), (Wall(1) - Wall(0)) * 10, 1e-5);
}

/// A model estimates 60 W for the machine, and a meter measures parts of it.
class PartsAreMeasured : public ModelledMachine {
 protected:
  PartsAreMeasured() {
    Set({Line("wall", "bpf_cpu_time_ms", {{model::Component::kPlatform, {60, {0}}}})});
    Open();
  }
  double Tick(MeasuredPart package, MeasuredPart dram = {}) {
    source_->UseAtLeast({package, dram});
    return PlatformAfter(5s);
  }
  [[nodiscard]] static MeasuredPart Read(int64_t joules) { return {Energy::Joules(joules)}; }
  static constexpr MeasuredPart kMissing{.energy = {}, .complete = false};
};

TEST_F(PartsAreMeasured, TheWholeIsNoLess) {
  EXPECT_EQ(Tick(Read(900), Read(100)), 1000.0);
  EXPECT_EQ(source_->estimate().clamped, 1u);
  EXPECT_NEAR(Tick(Read(1)), 300, 1e-5);
  EXPECT_EQ(source_->estimate().clamped, 1u);
  tree_.Remove("stat");
  EXPECT_EQ(Tick(Read(300)), 0.0);
  Stat(0, 6'000, 2);
  EXPECT_EQ(Tick(Read(400)), 700.0) << "what was measured meanwhile is caught up too";
}

TEST_F(PartsAreMeasured, OneIsCaughtUp_ItsEnergyWasEstimatedBefore) {
  double whole = Tick(Read(200), Read(20));
  for (int i = 0; i < 12; ++i) whole += Tick(kMissing, Read(20));
  EXPECT_NEAR(whole, 13 * 300, 1e-4);
  EXPECT_NEAR(Tick(Read(4'000), Read(20)), 4'020 - 12 * 280, 1e-4) << "12 × 280 J were more than dram's";
  EXPECT_EQ(Tick(Read(400), Read(20)), 420.0) << "nothing is left of them";
}

TEST_F(PartsAreMeasured, OneIsMissing_TheOtherStillHolds) {
  for (int i = 0; i < 12; ++i) Tick(kMissing, Read(20));
  EXPECT_EQ(Tick(kMissing, Read(800)), 800.0);
  EXPECT_EQ(Tick(kMissing, {Energy::Joules(700), false}), 700.0) << "a part of it is not";
}

TEST_F(PartsAreMeasured, BothAreCaughtUp_WhatWasEstimatedCountsOnce) {
  for (int i = 0; i < 10; ++i) Tick(kMissing, kMissing);
  EXPECT_EQ(Tick(Read(2'800), Read(2'700)), 5'500 - 3'000.0);
}

TEST_F(PartsAreMeasured, MeterThatAnswersRarely_TheWholeIsNoLessOverItsPeriod) {
  double whole = 0;
  for (int i = 0; i < 8; ++i) whole += Tick(i % 4 == 3 ? Read(1'000) : kMissing);
  EXPECT_NEAR(whole, 2 * 1'200, 1e-4) << "4 × 300 J are more than what was measured of them";
}

RC_GTEST_FIXTURE_PROP(PartsAreMeasured, FromOneGoodReadingToTheNext_TheWholeIsTheLargerOfBoth, ()) {
  Tick({});
  for (int readings = *rc::gen::inRange(1, 6); readings > 0; --readings) {
    double whole = 0;
    const int missing = *rc::gen::inRange(0, 8);
    for (int i = 0; i < missing; ++i) whole += Tick(kMissing);
    const auto measured = *rc::gen::inRange<int64_t>(0, 4'000);
    whole += Tick(Read(measured));
    RC_ASSERT(std::abs(whole - std::max<double>(300.0 * (missing + 1), static_cast<double>(measured))) < 1e-4);
  }
}

TEST_F(PartsAreMeasured, SumOfTheSame_ItsRoundingIsNotCounted) {
  EXPECT_NEAR(Tick({Energy::Microjoules(300'000'002)}), 300.000002, 1e-9);
  EXPECT_EQ(source_->estimate().clamped, 0u);
  Tick({Energy::Microjoules(300'000'003)});
  EXPECT_EQ(source_->estimate().clamped, 1u);
}

TEST_F(ModelSourceTest, Status_SaysWhichModelAndCountsItsPredictions) {
  Open(status::Domain::kCpu);
  for (int i = 0; i < 3; ++i) SampleAfter(1s);
  const status::EstimateStatus& status = source_->estimate();
  ASSERT_EQ(status.models->size(), 2u);
  const status::ZoneModel& package = status.models->front();
  EXPECT_EQ(package.zone, "package");
  EXPECT_EQ(package.name, "AMD Zen 3");
  EXPECT_EQ(package.source, "built-in");
  EXPECT_EQ(package.features, "BPFOnly");
  EXPECT_NE(package.mae_watts, "");
  EXPECT_FALSE(package.only_load);
  EXPECT_EQ(status.predictions, 3u) << "one for both zones";
  EXPECT_EQ(status.extrapolated, 0u);
}

}  // namespace
}  // namespace kepler::energy::modeled
