#include "pipeline/idle_baselines.h"

#include <gtest/gtest.h>

#include <string>

namespace kepler::pipeline {
namespace {

using snapshot::Confidence;
using namespace std::chrono_literals;

status::Zone Named(std::string name) { return {.name = std::move(name), .path = "p", .source = "rapl"}; }

energy::ZoneDelta Reading(double watts, uint32_t domains = 1) {
  return {.energy = Energy::Microjoules(static_cast<int64_t>(5e6 * watts)),
          .power = Power::Watts(watts),
          .fresh = true,
          .domains = {domains, domains}};
}

class IdleBaselinesTest : public ::testing::Test {
 protected:
  IdleBaselinesTest() { baselines_.SetZones(std::vector{Named("package"), Named("dram")}); }
  void Learn(double package, double dram, Ratio busy = {}, int times = 1) {
    const std::vector zones = {Reading(package), Reading(dram)};
    for (int i = 0; i < times; ++i) baselines_.Learn(zones, busy, 5s);
  }
  [[nodiscard]] std::vector<snapshot::IdleBaseline> Published() const {
    std::vector<snapshot::IdleBaseline> out(7);
    baselines_.Publish(out);
    return out;
  }
  [[nodiscard]] double Active(size_t zone, double busy = 0.5) const {
    return baselines_.ActiveShare(zone, Ratio::Clamped(busy)).value();
  }

  IdleBaselines baselines_;
};

TEST_F(IdleBaselinesTest, UntilThereIsOne_TheUsageRatioSplits) {
  Learn(20, 4, {}, 11);
  EXPECT_EQ(Active(0), 0.5);
  EXPECT_EQ(Published()[0].confidence, Confidence::kLearning);
  Learn(20, 4);
  EXPECT_EQ(Active(0), 0);
  Learn(80, 5, Ratio::Clamped(1));
  EXPECT_DOUBLE_EQ(Active(0), 0.75);
  EXPECT_DOUBLE_EQ(Active(1), 0.2);
}

TEST_F(IdleBaselinesTest, ZonesComeAndGo_EachKeepsItsOwn) {
  Learn(20, 4, {}, 12);
  baselines_.SetZones(std::vector{Named("psys"), Named("dram")});
  const auto published = Published();
  ASSERT_EQ(published.size(), 2u);
  EXPECT_EQ(published[0].confidence, Confidence::kLearning);
  EXPECT_EQ(published[1].power, Power::Watts(4));
}

TEST_F(IdleBaselinesTest, EnergyWithoutPower_IsSplitAsBefore) {
  Learn(20, 4, {}, 12);
  Learn(80, 5, Ratio::Clamped(1));
  energy::ZoneDelta half = Reading(40);
  half.fresh = false;
  baselines_.Learn(std::vector{half, Reading(5)}, Ratio::Clamped(1), 5s);
  EXPECT_DOUBLE_EQ(Active(0), 0.75);
}

TEST_F(IdleBaselinesTest, BusyIsNotKnown_NothingIsLearntAndTheBaselineSplits) {
  Learn(20, 4, {}, 12);
  for (int i = 0; i < 100; ++i) baselines_.Learn(std::vector{Reading(80), Reading(1)}, std::nullopt, 5s);
  EXPECT_EQ(Published()[0].power, Power::Watts(20));
  EXPECT_EQ(Published()[1].power, Power::Watts(4));
  EXPECT_DOUBLE_EQ(Active(0), 0.75);
  EXPECT_DOUBLE_EQ(Active(1), 0);
}

TEST_F(IdleBaselinesTest, SocketIsSwitchedOff_TheZoneLearnsAnew) {
  Learn(20, 4, {}, 12);
  baselines_.Learn(std::vector{Reading(10, 2), Reading(4)}, Ratio(), 5s);
  EXPECT_EQ(Published()[0].confidence, Confidence::kLearning);
  EXPECT_EQ(Active(0), 0.5);
  EXPECT_EQ(Published()[1].power, Power::Watts(4));
}

TEST_F(IdleBaselinesTest, AnotherModelEstimatesTheZone_ItLearnsAnew) {
  Learn(20, 4, {}, 12);
  energy::ZoneDelta missed = Reading(0);
  missed.fresh = false;
  baselines_.Learn(std::vector{missed, Reading(4)}, Ratio(), 5s);
  EXPECT_EQ(Published()[0].power, Power::Watts(20)) << "no reading is no other model";
  energy::ZoneDelta other = Reading(60);
  other.generation = 1;
  baselines_.Learn(std::vector{other, Reading(4)}, Ratio(), 5s);
  EXPECT_EQ(Published()[0].confidence, Confidence::kLearning);
  EXPECT_EQ(Active(0), 0.5);
  EXPECT_EQ(Published()[1].power, Power::Watts(4));
}

TEST_F(IdleBaselinesTest, NothingNewToRead_IsNoReading) {
  Learn(20, 4, {}, 12);
  energy::ZoneDelta same = Reading(20);
  same.unchanged = true;
  same.energy = {};
  for (int i = 0; i < 100; ++i) baselines_.Learn(std::vector{same, Reading(4)}, Ratio::Clamped(1), 1s);
  EXPECT_EQ(Published()[0].power, Power::Watts(20));
  EXPECT_EQ(Active(0), 0);
}

}  // namespace
}  // namespace kepler::pipeline
