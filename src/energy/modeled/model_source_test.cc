#include "energy/modeled/model_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/meter.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::energy::modeled {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class ModelSourceTest : public ::testing::Test {
 protected:
  ModelSourceTest() {
    tree_.Write("cpuinfo",
                "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n\nprocessor\t: 1\n");
    Stat(0, 0, 2);
  }
  void Stat(int busy, int idle, int cpus) {
    std::string text = "cpu  " + std::to_string(busy) + " 0 0 " + std::to_string(idle) + " 0 0 0 12345 0 0\n";
    for (int i = 0; i < cpus; ++i) text += "cpu" + std::to_string(i) + " 0 0 0 0\n";
    tree_.Write("stat", text);
  }
  void Open() {
    meter_ = std::make_unique<Meter>(std::make_unique<ModelSource>(tree_.root(), stat_), clock_);
    ASSERT_TRUE(meter_->Open());
    meter_->Sample();
  }
  double JoulesAfter(Nanoseconds time) {
    clock_.Advance(time);
    meter_->Sample();
    return meter_->deltas()[0].energy.ToJoules();
  }

  testing::FakeTree tree_;
  testing::FakeClock clock_;
  std::shared_ptr<os::ProcStatReader> stat_ = std::make_shared<os::ProcStatReader>(tree_.root(), clock_);
  std::unique_ptr<Meter> meter_;
  const model::CpuPower& row_ = model::PowerOf({"0", "AuthenticAMD", "", "", "", "25", "1"});
};

TEST_F(ModelSourceTest, Discover_KnownProcessor_OnePackageZoneThatSaysModel) {
  const auto domains = ModelSource(tree_.root(), stat_).Discover();
  ASSERT_TRUE(domains);
  ASSERT_EQ(domains->size(), 1u);
  EXPECT_EQ((*domains)[0].zone, "package");
  EXPECT_EQ((*domains)[0].path, "model");
  EXPECT_THAT((*domains)[0].note, HasSubstr("Zen 3"));
  EXPECT_THAT((*domains)[0].note, HasSubstr("not measured"));
}

TEST_F(ModelSourceTest, Discover_NoOrOddCpuinfo_TakesTheGeneralAverage) {
  tree_.Remove("cpuinfo");
  EXPECT_THAT((*ModelSource(tree_.root(), stat_).Discover())[0].note, HasSubstr("general average"));
  tree_.Write("cpuinfo", std::string(100'000, '\xff'));
  EXPECT_THAT((*ModelSource(tree_.root(), stat_).Discover())[0].note, HasSubstr("general average"));
}

TEST_F(ModelSourceTest, Sample_IdleMachine_IsIdleWattsTimesCpus) {
  Open();
  Stat(0, 2'000, 2);
  EXPECT_NEAR(JoulesAfter(10s), 2 * row_.idle_watts * 10, 1e-5);
}

TEST_F(ModelSourceTest, Sample_FullLoad_IsFullWattsTimesCpus) {
  Open();
  Stat(2'000, 0, 2);
  EXPECT_NEAR(JoulesAfter(10s), 2 * row_.full_watts * 10, 1e-5);
}

TEST_F(ModelSourceTest, Sample_ManyShortIntervals_AddUpToTheLongOne) {
  Open();
  double joules = 0;
  for (int i = 1; i <= 100; ++i) {
    Stat(i, i, 2);
    joules += JoulesAfter(7ms);
  }
  EXPECT_NEAR(joules, 2 * row_.idle_watts * 0.7 + (row_.full_watts - row_.idle_watts) * 1.0, 2e-6);
}

TEST_F(ModelSourceTest, Sample_CpusComeOnline_TheirEnergyIsBelieved) {
  Open();
  Stat(16'000, 0, 16);
  EXPECT_NEAR(JoulesAfter(10s), 16 * row_.full_watts * 10, 1e-5);
  EXPECT_EQ(meter_->status().rejected_readings, 0u);
}

TEST_F(ModelSourceTest, Sample_StealOnly_IsNotBusy) {
  Open();
  tree_.Write("stat", "cpu  0 0 0 0 0 0 0 99999 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\n");
  EXPECT_NEAR(JoulesAfter(10s), 2 * row_.idle_watts * 10, 1e-5);
}

TEST_F(ModelSourceTest, Sample_SuspendedForHours_OnlyCountedCpuTimeCosts) {
  Open();
  Stat(100, 900, 2);
  EXPECT_NEAR(JoulesAfter(8h), row_.idle_watts * 10 + (row_.full_watts - row_.idle_watts) * 1, 1e-5);
}

TEST_F(ModelSourceTest, Sample_BusyTimeStepsBack_CountsNothingNegative) {
  Stat(500, 0, 2);
  Open();
  Stat(400, 0, 2);
  EXPECT_NEAR(JoulesAfter(10s), 2 * row_.idle_watts * 10, 1e-5);
}

TEST_F(ModelSourceTest, Sample_StatMissingOnce_IsCaughtUp) {
  Open();
  tree_.Remove("stat");
  EXPECT_EQ(JoulesAfter(5s), 0.0);
  Stat(0, 2'000, 2);
  EXPECT_NEAR(JoulesAfter(5s), 2 * row_.idle_watts * 10, 1e-5);
}

}  // namespace
}  // namespace kepler::energy::modeled
