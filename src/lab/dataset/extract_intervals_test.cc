#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "lab/dataset/extract.h"
#include "lab/dataset/extract_test_util.h"

namespace kepler::lab::dataset {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(Extract, ScrapedLessOftenThanAsked_HasNoZerosAndSpikes) {
  const auto slow = [](double start, double rate) {
    return [=](double seconds) { return start + rate * 15 * std::floor(seconds / 15); };
  };
  Recording recording;
  recording.metrics[kCpu] = {Every5s(Node("a"), 60, slow(500, 2))};
  recording.metrics[kEnergy] = {Every5s(Zone("a", "package"), 60, slow(0, 40))};
  const Extraction out = Extract(std::move(recording));
  EXPECT_GT(out.rows.size(), 15U);
  for (const Row& row : out.rows) EXPECT_NEAR(row.end - row.begin, 15, 1e-6);
  ExpectAll(out, "package_power", 40);
  ExpectAll(out, "bpf_cpu_time_ms", 2000);
}

TEST(Extract, TimeOfTheSnapshot_IsThatOfItsFigures) {
  Recording recording;
  Series clock{.labels = Node("a")}, cpu{.labels = Node("a")}, energy{.labels = Zone("a", "package")};
  for (int i = 0; i < 20; ++i) {
    const double scraped = 1000 + 5 * i, taken = scraped - 0.1 * (i % 5);
    clock.samples.push_back({scraped, taken});
    cpu.samples.push_back({scraped, 2 * taken});
    energy.samples.push_back({scraped, 40 * taken});
    for (Series* const series : {&clock, &cpu, &energy}) series->samples.push_back(series->samples.back());
    for (Series* const series : {&clock, &cpu, &energy}) series->samples.back().time += 2.5;  // the same page again
  }
  recording.metrics["kepler_snapshot_timestamp_seconds"] = {clock};
  recording.metrics[kCpu] = {cpu};
  recording.metrics[kEnergy] = {energy};
  const Extraction out = Extract(std::move(recording));
  EXPECT_THAT(out.rows, SizeIs(18));
  EXPECT_EQ(out.dropped.duplicates, 40U);  // of two series
  ExpectAll(out, "package_power", 40);
  ExpectAll(out, "bpf_cpu_time_ms", 2000);
}

TEST(Extract, SlowestEnergy_SaysWhenRowsEnd) {
  Recording recording = Steady();
  const auto every_10s = [](double seconds) { return 900 * std::floor(seconds / 10); };
  recording.metrics["kepler_node_platform_joules_total"] = {Every5s(Node("a"), 13, every_10s)};
  const Extraction out = Extract(recording);
  EXPECT_THAT(out.rows, SizeIs(5));
  ExpectAll(out, "platform_power", 90);
  ExpectAll(out, "package_power", 40);
  EXPECT_THAT(out.notes, Contains(HasSubstr("rows of a are 10 s long, because platform_power changes that often")));
  EXPECT_THAT(Extract(std::move(recording), {.zones = {"package"}}).rows, SizeIs(11));
}

TEST(Extract, EnergyThatHardlyMoves_IsLeftOut) {
  Recording recording;
  recording.metrics[kCpu] = {Every5s(Node("a"), 721, Line(500, 2))};
  recording.metrics[kEnergy] = {
      Every5s(Zone("a", "package"), 721, Line(1e6, 40)),
      Every5s(Zone("a", "uncore"), 721, [](double seconds) { return std::floor(seconds / 1500); })};
  const Extraction out = Extract(recording);
  EXPECT_THAT(out.rows, SizeIs(719));
  EXPECT_THAT(out.columns, ElementsAre("bpf_cpu_time_ms", "package_power"));
  EXPECT_THAT(out.notes, Contains("ignored uncore_power of a: it changes 2 times, another energy 720 times (--zones "
                                  "selects it)"));
  const Extraction asked = Extract(std::move(recording), {.zones = {"package", "uncore"}});
  EXPECT_THAT(asked.rows, SizeIs(1));
  EXPECT_THAT(asked.columns, Contains("uncore_power"));
}

TEST(Extract, AgentThatIsReplaced_CountsOnceWhereBothSpeak) {
  Recording recording;
  const auto add = [&](const std::string& metric, const Labels& labels, double rate) {
    Labels first = labels, second = labels;
    first.emplace_back("pod", "kepler-a");
    second.emplace_back("pod", "kepler-b");
    Series before = Every5s(first, 201, Line(700, rate)), after = Every5s(second, 203, Line(0, rate));
    for (Sample& sample : after.samples) sample.time += 990;
    recording.metrics[metric].push_back(before);
    recording.metrics[metric].push_back(after);
  };
  add(kCpu, Node("a"), 2);
  add(kEnergy, Zone("a", "package", "intel-rapl:0"), 25);
  add(kEnergy, Zone("a", "package", "intel-rapl:1"), 15);
  const Extraction out = Extract(std::move(recording));
  EXPECT_THAT(out.rows, SizeIs(399));
  EXPECT_EQ(out.dropped.incomplete, 0U);
  ExpectAll(out, "package_power", 40);
  ExpectAll(out, "bpf_cpu_time_ms", 2000);
}

TEST(Extract, CounterThatFell_CostsItsInterval) {
  Recording recording = Steady();
  for (auto& [metric, all] : recording.metrics)
    for (Sample& sample : all[0].samples)
      if (sample.time >= 1030) sample.value -= all[0].samples[0].value;  // starts anew
  const Extraction out = Extract(recording);
  EXPECT_EQ(out.dropped.resets, 1U);
  EXPECT_THAT(out.rows, SizeIs(10));
  ExpectAll(out, "package_power", 40);

  Recording alone = Steady();  // a feature that counts anew
  for (Sample& sample : alone.metrics[kCpu][0].samples)
    if (sample.time >= 1030) sample.value -= 550;
  EXPECT_EQ(Extract(std::move(alone)).dropped.resets, 1U);
}

TEST(Extract, Gap_IsNoRow) {
  Recording recording = Steady();
  for (auto& [metric, all] : recording.metrics)
    std::erase_if(all[0].samples, [](const Sample& sample) { return sample.time > 1015 && sample.time < 1045; });
  const Extraction out = Extract(std::move(recording));
  EXPECT_EQ(out.dropped.gaps, 1U);
  ExpectAll(out, "package_power", 40);
}

TEST(Extract, FeatureThatIsMissingForAWhile_CostsThoseRows) {
  Recording recording = Steady();
  std::erase_if(recording.metrics[kCpu][0].samples,
                [](const Sample& sample) { return sample.time > 1015 && sample.time < 1035; });
  const Extraction out = Extract(recording, {.max_gap = 2});
  EXPECT_EQ(out.dropped.incomplete, 4U);
  EXPECT_THAT(out.rows, SizeIs(7));
  recording.metrics[kCpu][0].samples.resize(3);
  EXPECT_THAT(ErrorOf(std::move(recording)),
              HasSubstr("ignored bpf_cpu_time_ms of a: it exists in only 1 of 11 intervals"));
}

TEST(Extract, FeatureOfLaterIntervals_IsLeftOut) {
  Recording recording = Steady();
  recording.metrics["kepler_node_cpu_cycles_total"] = {Every5s(Node("a"), 13, Line(0, 3e9))};
  auto& samples = recording.metrics["kepler_node_cpu_cycles_total"][0].samples;
  samples.erase(samples.begin(), samples.begin() + 10);
  const Extraction out = Extract(std::move(recording));
  EXPECT_THAT(out.columns, ElementsAre("bpf_cpu_time_ms", "package_power"));
  EXPECT_THAT(out.rows, SizeIs(11));
  EXPECT_THAT(out.notes, Contains(HasSubstr("ignored cpu_cycles of a: it exists in only 2 of 11 intervals")));
}

TEST(Extract, UnevenTimes_StillGiveRates) {
  Recording recording;
  Series cpu{.labels = Node("a")}, energy{.labels = Zone("a", "package")};
  double time = 1000;
  for (int i = 0; i < 20; ++i) {
    time += 3 + i % 4;
    energy.samples.push_back({time, 40 * time});
    cpu.samples.push_back({time - 1.3, 2 * (time - 1.3)});  // of a scrape of its own
  }
  recording.metrics[kCpu] = {cpu};
  recording.metrics[kEnergy] = {energy};
  const Extraction out = Extract(std::move(recording));
  EXPECT_GT(out.rows.size(), 15U);
  ExpectAll(out, "package_power", 40);
  ExpectAll(out, "bpf_cpu_time_ms", 2000);
}

TEST(Extract, ShuffledAndRepeatedSamples_AreSorted) {
  Recording recording = Steady();
  auto& samples = recording.metrics[kEnergy][0].samples;
  std::ranges::reverse(samples);
  samples.push_back(samples.front());
  const Extraction out = Extract(std::move(recording));
  EXPECT_THAT(out.rows, SizeIs(11));
  EXPECT_EQ(out.dropped.duplicates, 1U);
  ExpectAll(out, "package_power", 40);
  EXPECT_THAT(out.notes, Contains(HasSubstr("sorted 1 series that were not in order of time")));
}

TEST(Extract, ClockOfTheAgentThatTookOver_CountsToo) {
  Recording recording;
  Series cpu{.labels = Node("a")}, energy{.labels = Zone("a", "package")};
  Series clocks[] = {{.labels = Node("a")}, {.labels = Node("a")}};
  clocks[0].labels.emplace_back("pod", "kepler-a");
  clocks[1].labels.emplace_back("pod", "kepler-b");
  for (int i = 0; i < 20; ++i) {
    const double scraped = 1000 + 5 * i, taken = scraped - 0.1 * (i % 5);
    clocks[i / 10].samples.push_back({scraped, taken});
    cpu.samples.push_back({scraped, 2 * taken});
    energy.samples.push_back({scraped, 40 * taken});
  }
  recording.metrics["kepler_snapshot_timestamp_seconds"] = {clocks[0], clocks[1]};
  recording.metrics[kCpu] = {cpu};
  recording.metrics[kEnergy] = {energy};
  ExpectAll(Extract(std::move(recording)), "package_power", 40);
}

}  // namespace
}  // namespace kepler::lab::dataset
