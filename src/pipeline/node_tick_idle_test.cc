// What of the node's energy is idle, by both policies.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "pipeline/node_test_util.h"
#include "pipeline/node_tick.h"

namespace kepler::pipeline {
namespace {

using snapshot::Confidence;
using Seconds = std::chrono::seconds;

/// One processor that takes 20 W at rest and 80 W more when busy, give or take 2 %; after load it stays warm and takes
/// up to 2 W more for some minutes. Ticks every five seconds.
class WarmNode : public TestNode {
 public:
  explicit WarmNode(IdlePolicy idle) : TestNode({}, std::chrono::hours(1), {.idle = idle}) {
    activity.Start(0, 10, "work");
    Tick(0);  // the first only sets where the meters start
  }
  /// The idle watts of each tick go to `idle_`.
  void Run(Seconds time, double busy) {
    for (Seconds done{0}; done < time; done += Seconds(5)) {
      Tick(busy);
      ExpectConserved(*Latest());
      const snapshot::NodeZone& node = Latest()->node[0];
      EXPECT_LE(node.idle_power, node.power);
      idle_.push_back(node.idle_power.watts());
    }
  }
  /// How far idle has moved since the last call.
  double Moved() {
    const auto [least, most] = std::ranges::minmax(std::exchange(idle_, {}));
    return most - least;
  }
  [[nodiscard]] Energy idle_energy() const { return Latest()->node[0].idle; }
  void Tick(double busy, uint64_t missed = 0, Seconds elapsed = Seconds(5), double awake = 1) {
    clock.Advance(elapsed);
    const double time = static_cast<double>(elapsed.count()) * awake;
    warm_ += (busy - warm_) / 30;
    random_ = random_ * 6364136223846793005 + 1442695040888963407;
    const double noise = 0.02 * (static_cast<double>(random_ >> 11) / 0x1p52 - 1);
    counter += static_cast<uint64_t>((20 + 80 * busy + 2 * warm_) * (1 + noise) * time * 1e6);
    busy_ticks_ += static_cast<uint64_t>(std::lround(busy * time * 100));
    all_ticks_ += static_cast<uint64_t>(std::lround(time * 100));
    SetStat(busy_ticks_, all_ticks_ - busy_ticks_);
    activity.processes[0].cpu = Nanoseconds(static_cast<int64_t>(busy * time * 1e9));
    tick->Run(missed);
  }

 private:
  double warm_ = 0;
  uint64_t random_ = 1;
  uint64_t busy_ticks_ = 0;
  uint64_t all_ticks_ = 0;
  std::vector<double> idle_;
};

constexpr double kFullWatts = 100;

TEST(NodeTickIdle, StepLoad_BaselineIdleStays) {
  WarmNode node(IdlePolicy::kBaseline);
  node.Run(Seconds(60), 0);
  EXPECT_EQ(node.Latest()->idle_baselines[0].confidence, Confidence::kMeasured);
  static_cast<void>(node.Moved());  // what the usage ratio said in the first minute
  node.Run(Seconds(600), 0);
  const Energy before = node.idle_energy();
  node.Run(Seconds(1800), 1);
  const double under_load = (node.idle_energy() - before).ToJoules() / 1800;
  node.Run(Seconds(600), 0);
  const double moved = node.Moved();
  RecordProperty("moved_watts", std::to_string(moved));
  RecordProperty("idle_watts_under_load", std::to_string(under_load));
  EXPECT_LT(moved, 0.03 * kFullWatts);
  EXPECT_NEAR(under_load, 20, 0.03 * kFullWatts);
}

TEST(NodeTickIdle, StepLoad_RatioIdleGoesDownToNothing) {
  WarmNode node(IdlePolicy::kRatio);
  node.Run(Seconds(600), 0);
  node.Run(Seconds(600), 1);
  EXPECT_GT(node.Moved(), 0.19 * kFullWatts);
  EXPECT_TRUE(node.Latest()->idle_baselines.empty());
}

TEST(NodeTickIdle, StartUnderLoad_TheUsageRatioSplitsUntilTheMachineRests) {
  WarmNode node(IdlePolicy::kBaseline);
  node.Run(Seconds(600), 1);
  EXPECT_EQ(node.Latest()->idle_baselines[0].confidence, Confidence::kLearning);
  EXPECT_EQ(node.idle_energy(), Energy{});
  node.Run(Seconds(120), 0);
  EXPECT_EQ(node.Latest()->idle_baselines[0].confidence, Confidence::kMeasured);
  static_cast<void>(node.Moved());
  node.Run(Seconds(600), 1);
  EXPECT_LT(node.Moved(), 0.03 * kFullWatts);
}

TEST(NodeTickIdle, MachineThatSlept_BaselineStands) {
  WarmNode node(IdlePolicy::kBaseline);
  node.Run(Seconds(600), 0);
  const Power before = node.Latest()->idle_baselines[0].power;
  for (int night = 0; night < 5; ++night) {
    node.Tick(0, 24, Seconds(120), 0.01);
    ExpectConserved(*node.Latest());
    EXPECT_EQ(node.Latest()->node[0].active_power, Power());
  }
  EXPECT_EQ(node.Latest()->idle_baselines[0].power, before);
}

TEST(NodeTickIdle, ReadingsOfProcStatFail_NothingIsLearnt) {
  WarmNode node(IdlePolicy::kBaseline);
  node.Run(Seconds(600), 0);
  const Power before = node.Latest()->idle_baselines[0].power;
  for (int second = 0; second < 600; ++second) {
    node.clock.Advance(Seconds(1));
    node.counter += 100'000'000;
    node.proc.Remove("stat");
    node.tick->Run(0);
  }
  EXPECT_EQ(node.Latest()->idle_baselines[0].power, before);
  EXPECT_NEAR(node.Latest()->node[0].idle_power.watts(), 20, 1);
}

/// The share as Kepler 0.11 has it: (Δtotal − Δidle) ÷ Δtotal of /proc/stat, here clamped to [0, 1].
RC_GTEST_PROP(NodeTickIdle, RatioPolicy_ActiveIsUpstreamsShareToTheMicrojoule, ()) {
  TestNode node;
  node.Second(0);
  uint64_t busy = 50, idle = 50;
  int64_t active = 0, total = 0;
  const int ticks = *rc::gen::inRange(1, 20);
  for (int i = 0; i < ticks; ++i) {
    const auto more_busy = *rc::gen::inRange<uint64_t>(1, 1000);
    const auto more_idle = *rc::gen::inRange<uint64_t>(0, 1000);
    const auto microjoules = *rc::gen::inRange<int64_t>(0, 1'000'000'000);
    busy += more_busy;
    idle += more_idle;
    node.clock.Advance(Seconds(1));
    node.counter += static_cast<uint64_t>(microjoules);
    node.SetStat(busy, idle);
    node.tick->Run(0);
    const auto all = static_cast<double>(more_busy + more_idle);
    const double share = std::clamp((all - static_cast<double>(more_idle)) / all, 0.0, 1.0);
    active += static_cast<int64_t>(std::floor(static_cast<long double>(microjoules) * static_cast<long double>(share)));
    total += microjoules;
    const snapshot::NodeZone& zone = node.Latest()->node[0];
    RC_ASSERT(zone.active == Energy::Microjoules(active));
    RC_ASSERT(zone.idle == Energy::Microjoules(total - active));
  }
}

}  // namespace
}  // namespace kepler::pipeline
