#include "lab/recorder/collection.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace kepler::lab::recorder {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr double kWall = 1'700'000'000;
constexpr Pace kPace{.duration = 20, .idle = 12, .pause = 5, .interval = 3};

/// A machine whose time goes on when somebody waits.
class FakeBench : public Bench {
 public:
  double now = 50;
  double stop_at = 1e9;
  double load_dies_at = 1e9;
  double agent_fails_from = 1e9, agent_fails_until = 1e9;
  double clock_jumps_at = 1e9;
  bool has_load = true;
  bool is_agent = true;
  std::string energy_path = "intel-rapl:0";
  double staleness = 0;  // the agent takes figures that often
  double scrape_takes = 0.01;
  std::vector<std::string> said, started;
  int running = 0;
  std::vector<double> scrapes;

  double Now() override { return now; }
  bool WaitUntil(double time) override {
    now = std::max(now, std::min(time, stop_at));
    return now < stop_at;
  }
  Status StartLoad(const dataset::Phase& phase) override {
    if (!has_load) return Fail(ErrorKind::kIo, "no memory");
    started.push_back(fmt::format("{} {}", phase.stressor, phase.instances));
    ++running;
    return {};
  }
  Status CheckLoad() override {
    if (now < load_dies_at) return {};
    return Fail(ErrorKind::kUnavailable, "it has ended with exit code 3");
  }
  void StopLoad() override { running = 0; }
  Result<std::string> Scrape() override {
    now += scrape_takes;
    if (now >= agent_fails_from && now < agent_fails_until) return Fail(ErrorKind::kUnavailable, "connection refused");
    scrapes.push_back(now);
    if (!is_agent) return "up 1\n";
    const double taken = staleness > 0 ? std::floor(now / staleness) * staleness : now;
    const double agents = taken + 100 + (now >= clock_jumps_at ? 3600 : 0) -
                          (staleness > 0 ? 0 : 0.3 * static_cast<double>(scrapes.size() % 2));
    return fmt::format(
        "kepler_snapshot_timestamp_seconds{{node_name=\"a\"}} {}\n"
        "kepler_node_cpu_seconds_total{{node_name=\"a\"}} {}\nother 1\n"
        "kepler_node_cpu_joules_total{{node_name=\"a\",zone=\"package\",path=\"{}\"}} {}\n",
        agents, 2 * taken, energy_path, 40 * taken);
  }
  void Say(std::string_view text) override { said.emplace_back(text); }
};

std::vector<dataset::Phase> TwoPhases() { return {{"idle", 0}, {"cpu", 2}}; }
Collected Recorded(FakeBench& bench, const std::vector<dataset::Phase>& phases = TwoPhases()) {
  auto collected = Collect(phases, kPace, kWall, {}, bench);
  EXPECT_TRUE(collected) << collected.error().message;
  return collected ? *std::move(collected) : Collected();
}
const std::vector<dataset::Sample>& SamplesOf(const Collected& collected) {
  return collected.recording.metrics.at("kepler_node_cpu_seconds_total").at(0).samples;
}

TEST(Collect, EachPhase_IsRecordedWhole) {
  FakeBench bench;
  const Collected out = Recorded(bench);
  EXPECT_THAT(bench.started, ElementsAre("cpu 2"));
  EXPECT_EQ(bench.running, 0);
  ASSERT_THAT(out.lasted, SizeIs(2));
  EXPECT_EQ(out.lasted[0].phase.stressor, "idle");
  EXPECT_THAT(SamplesOf(out), SizeIs(4 + 7));
  EXPECT_LT(out.lasted[0].end, kWall + 12);
  EXPECT_GT(out.lasted[1].begin, kWall + 10 + 5 + 1);
  EXPECT_NEAR(out.lasted[1].end - out.lasted[1].begin, 18, 0.5);
  EXPECT_FALSE(out.was_stopped);
  EXPECT_FALSE(out.recording.metrics.contains("kepler_snapshot_timestamp_seconds"));
  EXPECT_THAT(bench.said, ElementsAre("1 of 2: idle, 12 s; 1 min left", "2 of 2: cpu x 2, 20 s; 1 min left"));
}

TEST(Collect, Times_AreThoseOfSnapshots) {
  FakeBench bench;
  const Collected out = Recorded(bench);
  const auto& samples = SamplesOf(out);
  ASSERT_EQ(bench.scrapes.size(), samples.size() + 1);  // the first page is judged only
  for (size_t i = 0; i < samples.size(); ++i)
    EXPECT_NEAR(samples[i].time - kWall + 50 - bench.scrapes[i + 1], i % 2 == 0 ? 0 : -0.3, 1e-6) << i;
}

TEST(Collect, ClockThatIsSet_DoesNotMoveTime) {
  FakeBench bench;
  bench.clock_jumps_at = 70;
  const Collected out = Recorded(bench);
  for (size_t i = 1; i < SamplesOf(out).size(); ++i) {
    EXPECT_GT(SamplesOf(out)[i].time, SamplesOf(out)[i - 1].time);
    EXPECT_LT(SamplesOf(out)[i].time, SamplesOf(out)[i - 1].time + 15);
  }
}

TEST(Collect, Stop_KeepsWhatThereIs) {
  FakeBench bench;
  bench.stop_at = 75;
  const Collected out = Recorded(bench);
  EXPECT_TRUE(out.was_stopped);
  EXPECT_THAT(out.lasted, SizeIs(2));
  EXPECT_EQ(bench.running, 0);
  EXPECT_LE(bench.now, 75.1);
}

TEST(Collect, LoadThatDies_EndsItsPhase) {
  FakeBench bench;
  bench.load_dies_at = 80;
  const Collected out = Recorded(bench, {{"idle", 0}, {"cpu", 2}, {"vm", 1}});
  EXPECT_EQ(out.failed_phases, 2U);
  EXPECT_LT(out.lasted[1].end, kWall + 30.5);
  EXPECT_THAT(out.lasted, SizeIs(2));
  EXPECT_THAT(bench.said, Contains("cpu x 2 ended early: it has ended with exit code 3"));
}

TEST(Collect, LoadThatCannotStart_IsLeftOut) {
  FakeBench bench;
  bench.has_load = false;
  const Collected out = Recorded(bench);
  EXPECT_EQ(out.failed_phases, 1U);
  EXPECT_THAT(out.lasted, SizeIs(1));
  EXPECT_THAT(bench.said, Contains("skipping cpu x 2: no memory"));
}

TEST(Collect, ScrapesThatFail_AreCounted) {
  FakeBench bench;
  bench.agent_fails_from = 71;
  bench.agent_fails_until = 77;
  const Collected out = Recorded(bench);
  EXPECT_EQ(out.failed_scrapes, 2U);
  EXPECT_FALSE(out.was_stopped);
  EXPECT_THAT(SamplesOf(out), SizeIs(9));
}

TEST(Collect, AgentThatIsGone_EndsIt) {
  FakeBench bench;
  bench.agent_fails_from = 71;
  const Collected out = Recorded(bench);
  EXPECT_EQ(out.failed_scrapes, 5U);
  EXPECT_TRUE(out.was_stopped);
}

TEST(Collect, NoAgent_IsAnError) {
  FakeBench refused;
  refused.agent_fails_from = 0;
  const auto none = Collect(TwoPhases(), kPace, kWall, {}, refused);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "connection refused");
  FakeBench another;
  another.is_agent = false;
  const auto wrong = Collect(TwoPhases(), kPace, kWall, {}, another);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("no metric of Kepler"));
}

TEST(Collect, WhatMakesNoRows_IsSaidBeforeAnyLoad) {
  FakeBench bench;
  bench.energy_path = "model";
  const auto out = Collect({{{"cpu", 2}}}, kPace, kWall, {}, bench);
  ASSERT_FALSE(out);
  EXPECT_THAT(out.error().message, HasSubstr("all energy is estimated by a model"));
  EXPECT_THAT(bench.started, SizeIs(0));
  EXPECT_LT(bench.now, 51);
  FakeBench allowed;
  allowed.energy_path = "model";
  EXPECT_TRUE(Collect(TwoPhases(), kPace, kWall, {.allow_estimates = true}, allowed));
}

TEST(Collect, SnapshotsFromBeforeTheLoad_AreOfNoPhase) {
  FakeBench bench;
  bench.staleness = 10;
  const Collected out = Recorded(bench, {{"idle", 0}, {"cpu", 2}, {"vm", 1}});
  ASSERT_THAT(out.lasted, SizeIs(3));
  // From the start at 50: idle 12, a pause of 5, then a load of 20, a pause; the settling is 1.5.
  EXPECT_GE(out.lasted[1].begin, kWall + 12 + 5 + 1);
  EXPECT_GE(out.lasted[2].begin, kWall + 12 + 5 + 20 + 1);
  for (const auto& lasted : out.lasted) EXPECT_NEAR(std::fmod(lasted.begin - kWall + 50, 10), 0, 0.5);
}

TEST(Collect, SlowScrapes_DoNotMakePhasesLonger) {
  FakeBench bench;
  bench.scrape_takes = 4.9;
  const Collected out = Recorded(bench);
  EXPECT_LT(out.lasted[0].end - out.lasted[0].begin, 12);
  EXPECT_LT(bench.now, 50 + 37 + 4 * 4.9);
}

TEST(LengthOf, HasThePausesBetween) {
  EXPECT_EQ(LengthOf(TwoPhases(), kPace), 37);
  EXPECT_EQ(LengthOf({}, kPace), 0);
}

}  // namespace
}  // namespace kepler::lab::recorder
