#include "report/prometheus_ticks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/energy_book.h"

namespace kepler::report {
namespace {

using recording::Labels;
using recording::Recording;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kBegin = 1'700'000'000;
Milliseconds ScrapeAt(double second) {
  return Milliseconds(std::chrono::milliseconds(kBegin * 1000 + static_cast<int64_t>(second * 1000)));
}

/// Samples as a server has them.
class Samples {
 public:
  void Put(const std::string& metric, Labels labels, double second, double joules) {
    labels.insert(labels.end(), target.begin(), target.end());
    std::ranges::sort(labels);
    auto& all = recording.metrics[metric];
    auto at = std::ranges::find(all, labels, &recording::Series::labels);
    if (at == all.end()) at = all.insert(all.end(), {.labels = labels, .samples = {}});
    at->samples.push_back({.time = static_cast<double>(kBegin) + second, .value = joules});
  }
  /// A scrape of a node with these pods by "name state", and energy of ended ones.
  void Scrape(double second, const std::map<std::string, double>& pods, double departed, double idle = 0,
              const std::string& node = "n1") {
    double active = departed;
    for (const auto& [pod, joules] : pods) {
      const auto space = pod.find(' ');
      Put("kepler_pod_cpu_joules_total",
          {{"node_name", node},
           {"pod_id", "id-" + pod.substr(0, space)},
           {"pod_name", pod.substr(0, space)},
           {"pod_namespace", "shop"},
           {"state", pod.substr(space + 1)},
           {"zone", "package"}},
          second, joules);
      active += joules;
    }
    const Labels zone = {{"node_name", node}, {"path", "/sys"}, {"zone", "package"}};
    Put("kepler_node_cpu_joules_total", zone, second, active + idle);
    Put("kepler_node_cpu_active_joules_total", zone, second, active);
    Put("kepler_node_cpu_idle_joules_total", zone, second, idle);
    Put("kepler_node_cpu_unattributed_joules_total", zone, second, 0);
    if (start) Put("kepler_start_timestamp_seconds", {{"node_name", node}}, second, *start);
    for (const std::string level : {"pod", "process"}) {
      Labels labels = zone;
      labels.insert(labels.end(), {{"level", level}, {"reason", "departed"}});
      Put("kepler_node_cpu_unlisted_joules_total", labels, second, level == "pod" ? departed : 7);
    }
  }

  Recording recording;
  std::optional<double> start;  // of the agent
  Labels target = {{"instance", "n1:28282"}, {"job", "kepler"}};
};

struct BookOf {
  Result<Report> report = Fail(ErrorKind::kInvalid, "not read");
  std::vector<std::string> notes;
};

BookOf ReadScrapes(const std::vector<Recording>& ranges, By by = By::kPod) {
  EnergyBook book({.by = by, .zones = {"package"}, .from = ScrapeAt(0), .to = ScrapeAt(100'000), .is_sorted = true});
  PrometheusTicks ticks(by, {"package"}, [&](const EnergyLine& line) { book.Add(line); });
  for (const Recording& range : ranges)
    if (const Status added = ticks.Add(range); !added) return {.report = std::unexpected(added.error()), .notes = {}};
  return {.report = book.Close(), .notes = ticks.Notes()};
}

std::map<std::string, int64_t> AmountsOf(const Result<Report>& report) {
  std::map<std::string, int64_t> rows;
  if (!report) return {{report.error().message, 0}};
  Energy sum;
  for (const auto* const all : {&report->rows, &report->rest})
    for (const Row& row : *all) {
      rows[row.name] = row.amount.energy.microjoules();
      sum += row.amount.energy;
    }
  EXPECT_EQ(sum, report->total.energy);
  EXPECT_EQ(report->impossible + report->incomplete, 0U);
  return rows;
}

using Amounts = std::map<std::string, int64_t>;

TEST(PrometheusTicks, IncrementsOfThePeriod_ToTheMicrojoule) {
  Samples first, second;
  first.Scrape(-5, {{"web running", 10.1}, {"db running", 3}}, 0, 4);
  first.Scrape(10, {{"web running", 12.100001}, {"db running", 3}}, 0, 4.5);
  // The pod ends: it stays listed for a while, with its final value, which then moves.
  second.Scrape(25, {{"web terminated", 13}, {"db running", 3.25}}, 0, 4.5);
  second.Scrape(40, {{"db running", 3.5}}, 13.000002, 4.5);
  const auto read = ReadScrapes({first.recording, second.recording});
  EXPECT_EQ(
      AmountsOf(read.report),
      (Amounts{{"shop/web", 2'900'000}, {"shop/db", 500'000}, {"ended before their next line", 2}, {"idle", 500'000}}));
  EXPECT_EQ(read.report->from, ScrapeAt(-5));
  EXPECT_EQ(read.report->to, ScrapeAt(40));
  EXPECT_THAT(read.notes, IsEmpty());
}

TEST(PrometheusTicks, PidOfAnEndedWorkload_IsAnotherCounter) {
  Samples samples;
  samples.Scrape(-5, {{"web running", 10}}, 0);
  samples.Scrape(10, {{"web running", 4}}, 10);                         // ended and began again between two scrapes
  samples.Scrape(25, {{"web terminated", 5}, {"web running", 6}}, 10);  // the ended one is still listed
  samples.Scrape(40, {{"web terminated", 5}, {"web running", 9}}, 10);
  samples.Scrape(55, {{"web running", 9}}, 15);
  EXPECT_EQ(AmountsOf(ReadScrapes({samples.recording}).report),
            (Amounts{{"shop/web", 4'000'000 + 1'000'000 + 9'000'000}}));
}

TEST(PrometheusTicks, RestartOfTheAgent_CountsFromZero) {
  for (const bool is_known : {false, true}) {
    Samples samples;
    if (is_known) samples.start = kBegin - 1000.5;
    samples.Scrape(-5, {{"web running", 10}}, 0);
    samples.Scrape(10, {{"web running", 12}}, 0);
    if (is_known) samples.start = kBegin + 30.5;
    samples.Scrape(40, {{"web running", 3}}, 0);
    const auto read = ReadScrapes({samples.recording});
    EXPECT_EQ(AmountsOf(read.report), (Amounts{{"shop/web", 5'000'000}}));
    ASSERT_EQ(read.notes.size(), is_known ? 0U : 1U);
    if (!is_known) {
      EXPECT_THAT(read.notes[0], HasSubstr("n1: the counters began at 0 again between 2023-11-14T22:13:30.000Z and"));
      continue;
    }
    ASSERT_FALSE(read.report->downtimes.empty());
    EXPECT_EQ(read.report->downtimes[0].from, ScrapeAt(10));
    EXPECT_EQ(read.report->downtimes[0].to, ScrapeAt(30.5));
  }
}

TEST(PrometheusTicks, RestartWithLargerCounters_IsSeenByTheStart) {
  Samples samples;
  samples.start = kBegin + 1;
  samples.Scrape(2, {{"web running", 1}}, 0);
  samples.start = kBegin + 3;
  samples.Scrape(600, {{"web running", 50}}, 0);
  EXPECT_EQ(AmountsOf(ReadScrapes({samples.recording}).report), (Amounts{{"shop/web", 51'000'000}}));
}

/// A new agent that has counted more than the old one: only the starts tell.
TEST(PrometheusTicks, RestartWhileScrapesAreMissing_IsFoundByTheStart) {
  const auto read_with = [&](std::optional<double> first, std::optional<double> second) {
    Samples samples;
    samples.start = first;
    samples.Scrape(-5, {{"web running", 10}}, 0);
    samples.Scrape(10, {{"web running", 20}}, 0);
    samples.Scrape(25, {{"web running", 21}}, 0);
    samples.start = second;
    samples.Scrape(50'000, {{"web running", 30}}, 0);
    samples.Scrape(50'015, {{"web running", 31}}, 0);
    return ReadScrapes({samples.recording});
  };
  for (const std::optional<double> first : {std::optional<double>(kBegin - 1000), std::optional<double>()}) {
    const auto restarted = read_with(first, kBegin + 20'000);
    EXPECT_EQ(AmountsOf(restarted.report), (Amounts{{"shop/web", 11'000'000 + 31'000'000}}));
    EXPECT_THAT(restarted.notes, IsEmpty());
    const auto same = read_with(first, kBegin - 1000);
    EXPECT_EQ(AmountsOf(same.report), (Amounts{{"shop/web", 21'000'000}}));
    EXPECT_THAT(same.notes, IsEmpty());
  }
  const auto unknown = read_with({}, {});
  EXPECT_EQ(AmountsOf(unknown.report), (Amounts{{"shop/web", 21'000'000}}));
  ASSERT_EQ(unknown.notes.size(), 1U);
  EXPECT_THAT(unknown.notes[0], HasSubstr("n1: no scrape is known between 2023-11-14T22:13:45.000Z and"));
  EXPECT_THAT(unknown.notes[0], HasSubstr("if it is a new agent, energy is missing"));
}

TEST(PrometheusTicks, GapAfterTheFirstScrape_IsNamed) {
  Samples samples;
  samples.Scrape(-5, {{"web running", 10}}, 0);
  samples.Scrape(7'000, {{"web running", 20}}, 0);
  const auto read = ReadScrapes({samples.recording});
  ASSERT_EQ(read.notes.size(), 1U);
  EXPECT_THAT(read.notes[0], HasSubstr("no scrape is known"));
}

TEST(PrometheusTicks, PodBeforeAndAfterARestart_InOneRange) {
  Samples samples;
  samples.Scrape(-5, {{"web running", 10}, {"db running", 3}}, 0);
  samples.Scrape(10, {{"web running", 20}, {"db running", 4}}, 0);
  samples.Scrape(25, {{"web running", 1}, {"db running", 0.5}}, 0);
  samples.Scrape(40, {{"web running", 2}, {"db running", 0.75}}, 0);
  EXPECT_EQ(AmountsOf(ReadScrapes({samples.recording}).report),
            (Amounts{{"shop/web", 12'000'000}, {"shop/db", 1'750'000}}));
}

TEST(PrometheusTicks, AgentThatStartsInThePeriod_CountsFromItsStart) {
  const auto amounts = [](std::optional<double> start) {
    Samples samples;
    samples.start = start;
    samples.Scrape(60, {{"web running", 3}}, 0);
    samples.Scrape(70, {{"web running", 4}}, 0);
    return AmountsOf(ReadScrapes({samples.recording}).report);
  };
  EXPECT_EQ(amounts(kBegin + 50), (Amounts{{"shop/web", 4'000'000}}));
  EXPECT_EQ(amounts(kBegin - 50), (Amounts{{"shop/web", 1'000'000}}));
  EXPECT_EQ(amounts({}), (Amounts{{"shop/web", 1'000'000}})) << "the start is not known";
}

TEST(PrometheusTicks, CounterThatFallsInOneRun_IsLeftOutAndCounted) {
  Samples samples;
  samples.start = kBegin - 50;
  samples.Scrape(-5, {{"web running", 10}}, 0);
  samples.Scrape(10, {{"web running", 3}}, 0);
  samples.Scrape(25, {{"web running", 12}}, 0);
  const auto read = ReadScrapes({samples.recording});
  ASSERT_TRUE(read.report) << read.report.error().message;
  EXPECT_EQ(read.report->impossible, 1U);
  EXPECT_EQ(read.report->total.energy, Energy::Joules(2));
}

TEST(PrometheusTicks, WorkloadThatOneScrapeLacks_GoesOn) {
  Samples samples;
  samples.Scrape(-5, {{"web running", 10}, {"db running", 30}}, 0);
  samples.Scrape(10, {{"web running", 11}, {"db running", 40}}, 0);
  samples.Scrape(25, {{"web running", 12}, {"db running", 50}}, 0);
  for (auto& series : samples.recording.metrics["kepler_pod_cpu_joules_total"])
    if (std::ranges::find(series.labels, std::string("db"), &std::pair<std::string, std::string>::second) !=
        series.labels.end())
      series.samples.pop_back();
  samples.Scrape(40, {{"web running", 13}, {"db running", 60}}, 0);
  const auto read = ReadScrapes({samples.recording});
  ASSERT_TRUE(read.report) << read.report.error().message;
  EXPECT_EQ(read.report->impossible, 1U);
  EXPECT_THAT(read.report->rest, IsEmpty());
  ASSERT_EQ(read.report->rows.size(), 2U);
  EXPECT_EQ(read.report->rows[0].amount.energy, Energy::Joules(30));
  EXPECT_EQ(read.report->rows[1].amount.energy, Energy::Joules(3));
}

TEST(PrometheusTicks, TwoTargetsWithOneName_OneCountsAndIsNamed) {
  Samples samples;
  samples.Scrape(-5, {{"web running", 10}}, 0);
  samples.Scrape(10, {{"web running", 11}}, 0);
  samples.Scrape(25, {{"web running", 12}}, 0);
  samples.target = {{"instance", "other:28282"}, {"job", "kepler"}};
  samples.Scrape(-4, {{"web running", 1000}}, 0);
  samples.Scrape(11, {{"web running", 2000}}, 0);
  const auto read = ReadScrapes({samples.recording});
  EXPECT_EQ(AmountsOf(read.report), (Amounts{{"shop/web", 2'000'000}}));
  ASSERT_EQ(read.notes.size(), 1U);
  EXPECT_THAT(read.notes[0], HasSubstr(R"(n1: 2 scrapes of {instance="other:28282", job="kepler"} left out)"));
}

TEST(PrometheusTicks, TargetThatReplacesAnother_GoesOn) {
  Samples samples;
  samples.start = kBegin - 50;
  samples.Scrape(-5, {{"web running", 10}}, 0);
  samples.Scrape(10, {{"web running", 11}}, 0);
  samples.target = {{"instance", "other:28282"}, {"job", "kepler"}};
  samples.start = kBegin + 50;
  samples.Scrape(60, {{"web running", 20}}, 0);
  samples.Scrape(75, {{"web running", 21}}, 0);
  const auto read = ReadScrapes({samples.recording});
  EXPECT_EQ(AmountsOf(read.report), (Amounts{{"shop/web", 1'000'000 + 21'000'000}}));
  EXPECT_THAT(read.notes, IsEmpty());
}

TEST(PrometheusTicks, LargeTotals_AreRoundedAndStillAddUp) {
  Samples samples;
  for (int tick = 0; tick < 50; ++tick)
    samples.Scrape(tick * 15 - 5, {{"web running", 9'000'000'000.123457 + tick * 100.000003}, {"db running", 1.000001}},
                   20'000'000'000.765432, 0.000001 + tick);
  const auto read = ReadScrapes({samples.recording});
  const auto rows = AmountsOf(read.report);
  EXPECT_NEAR(static_cast<double>(rows.at("shop/web")), 4'900'000'147, 10);
  EXPECT_NEAR(static_cast<double>(rows.at("idle")), 49'000'000, 10);
}

/// Above 8.5e9 J the sums of a scrape do not fit by some microjoules. Making them fit must not look like a restart.
TEST(PrometheusTicks, RoundedTotals_AreNoRestart) {
  Samples samples;
  const auto put = [&](const std::string& metric, Labels labels, double second, int64_t microjoules) {
    labels.insert(labels.end(), {{"node_name", "n1"}, {"zone", "package"}});
    samples.Put(metric, std::move(labels), second, static_cast<double>(microjoules) / 1e6);
  };
  for (int64_t tick = 0; tick < 100; ++tick) {
    const double second = static_cast<double>(15 * tick - 5);
    const int64_t web = 20'000'000'000'000'000 + tick * 15'000'000'123 + tick * tick * 7;
    const int64_t unattributed = 5'000'001 + tick, idle = 9'000'000'000'000'000 + tick * 100'003;
    const int64_t active = web + unattributed;
    put("kepler_pod_cpu_joules_total", {{"pod_id", "w"}, {"pod_name", "web"}, {"state", "running"}}, second, web);
    put("kepler_node_cpu_joules_total", {}, second, active + idle);
    put("kepler_node_cpu_active_joules_total", {}, second, active);
    put("kepler_node_cpu_idle_joules_total", {}, second, idle);
    put("kepler_node_cpu_unattributed_joules_total", {}, second, unattributed);
    put("kepler_node_cpu_unlisted_joules_total", {{"level", "pod"}, {"reason", "departed"}}, second, 0);
  }
  const auto read = ReadScrapes({samples.recording});
  ASSERT_TRUE(read.report) << read.report.error().message;
  EXPECT_THAT(read.notes, IsEmpty());
}

TEST(PrometheusTicks, CounterThatFallsWithoutAKnownStart_IsNamed) {
  Samples samples;
  samples.Scrape(-5, {{"web running", 10}}, 2);
  samples.Scrape(10, {{"web running", 15}}, 1);
  const auto read = ReadScrapes({samples.recording});
  ASSERT_EQ(read.notes.size(), 1U);
  EXPECT_THAT(read.notes[0], HasSubstr("n1: a counter fell between"));
}

TEST(PrometheusTicks, SampleThatIsNoEnergy_IsAnError) {
  for (const double value : {-1.0, 2e12}) {
    Samples samples;
    samples.Scrape(-5, {{"web running", 1}}, 0, 0);
    samples.Put("kepler_node_cpu_joules_total", {{"node_name", "n1"}, {"zone", "package"}}, 5, value);
    EXPECT_THAT(ReadScrapes({samples.recording}).report.error().message, HasSubstr("is not a number of joules"));
  }
  Samples late;
  late.start = 1e10;
  late.Scrape(5, {{"web running", 1}}, 0);
  EXPECT_THAT(ReadScrapes({late.recording}).report.error().message, HasSubstr("is not a time"));
  Samples nameless;
  nameless.Put("kepler_node_cpu_joules_total", {{"zone", "package"}}, 5, 1);
  EXPECT_THAT(ReadScrapes({nameless.recording}).report.error().message, HasSubstr("no label node_name"));
}

TEST(PrometheusTicks, SamplesAtTheStartOfACounter_AreNoTicks) {
  Samples samples;
  samples.Scrape(-5, {{"web running", 1}}, 0);
  samples.Put("kepler_pod_cpu_joules_total",
              {{"node_name", "n1"}, {"pod_id", "id-db"}, {"pod_name", "db"}, {"state", "running"}, {"zone", "package"}},
              3, 0);
  samples.Scrape(10, {{"web running", 3}}, 0);
  EXPECT_EQ(AmountsOf(ReadScrapes({samples.recording}).report), (Amounts{{"shop/web", 2'000'000}}));
}

TEST(PrometheusTicks, NamesOfMachines_MayComeLater) {
  const auto scrape = [](Samples& samples, double second, double joules, const Labels& info) {
    samples.Scrape(second, {}, joules);
    auto& unlisted = samples.recording.metrics["kepler_node_cpu_unlisted_joules_total"];
    std::erase_if(unlisted, [](const auto& series) { return recording::LabelOf(series.labels, "level") != "vm"; });
    const Labels node = {{"node_name", "n1"}, {"zone", "package"}};
    samples.Put("kepler_node_cpu_unlisted_joules_total",
                {{"level", "vm"}, {"node_name", "n1"}, {"reason", "outside"}, {"zone", "package"}}, second, 0);
    samples.Put("kepler_vm_cpu_joules_total",
                {{"node_name", "n1"}, {"state", "running"}, {"vm_id", "v"}, {"vm_name", "i-1"}, {"zone", "package"}},
                second, joules);
    Labels labels = {{"node_name", "n1"}, {"vm_id", "v"}, {"vm_name", "i-1"}};
    labels.insert(labels.end(), info.begin(), info.end());
    samples.Put("kepler_vm_info", labels, second, 1);
  };
  Samples first, second;
  scrape(first, -5, 10, {});
  scrape(first, 10, 11, {{"instance_name", "web"}, {"project_id", "p1"}, {"project_name", "shop"}});
  scrape(second, 25, 13, {{"instance_name", "api"}, {"project_id", "p2"}, {"project_name", "other"}});
  EXPECT_EQ(AmountsOf(ReadScrapes({first.recording, second.recording}, By::kVm).report),
            (Amounts{{"web (i-1)", 3'000'000}}));
  EXPECT_EQ(AmountsOf(ReadScrapes({first.recording, second.recording}, By::kProject).report),
            (Amounts{{"shop (p1)", 3'000'000}}));
}

}  // namespace
}  // namespace kepler::report
