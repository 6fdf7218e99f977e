#include "report/energy_book.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "report/energy_book_test_util.h"
#include "report/row_name.h"
#include "testing/snapshot_builder.h"

namespace kepler::report {
namespace {

using ::testing::HasSubstr;

TEST(EnergyBook, SeriesThatEndsAndComesBackBetweenTwoTicks_BeginsAtZero) {
  FakeNode node;
  std::vector<std::string> lines;
  node.Use("web", 100);
  Append(node.Tick(60), lines);
  node.End("web");
  node.Use("web", 30);
  Append(node.Tick(120), lines);
  const auto report = ReportOf(lines, {.by = By::kPod});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(In(report->rows, "shop/web"), 30);
  EXPECT_TRUE(report->rest.empty()) << "all that departed was counted before";
  EXPECT_EQ(report->total.energy.microjoules(), 30);
}

TEST(EnergyBook, IncrementsOfThePeriod) {
  FakeNode node;
  std::vector<std::string> lines;
  node.Use("web", 1'000'000);
  node.Idle(500);
  Append(node.Tick(60), lines);
  node.Use("web", 70);
  node.Use("db", 30);
  node.Nobody(5);
  node.Idle(2);
  Append(node.Tick(120), lines);
  const auto report = ReportOf(lines, {.by = By::kPod});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(In(report->rows, "shop/web"), 70) << "what came before the first tick is not in the period";
  EXPECT_EQ(In(report->rows, "shop/db"), 30);
  EXPECT_EQ(In(report->rest, "caused by no workload"), 5);
  EXPECT_EQ(In(report->rest, "idle"), 2);
  EXPECT_EQ(report->total.energy.microjoules(), 107);
  EXPECT_EQ(SumOf(*report), report->total.energy);
  EXPECT_EQ(report->rows.front().name, "shop/web");
  EXPECT_EQ(report->from, At(60));
  const auto since = ReportOf(lines, {.by = By::kPod, .from = At(0)});
  EXPECT_EQ(In(since->rows, "shop/web"), 1'000'070) << "the agent started within the period";
}

TEST(EnergyBook, EnergyOfAPodWithoutItsName_IsInTheRowWithTheName) {
  FakeNode node;
  std::vector<std::string> lines;
  Append(node.Tick(60), lines);
  node.UseUnnamed("web", 100'000'001);
  node.UseUnnamed("lost", 7);
  Append(node.Tick(120), lines);
  node.Use("web", 20);
  node.Name("web");
  node.Use("web", 3);
  Append(node.Tick(180), lines);
  node.End("web");
  node.UseUnnamed("web", 1);  // the agent lost the name again
  node.Nobody(5);
  Append(node.Tick(3600), lines);
  const auto report = ReportOf(lines, {.by = By::kPod});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(In(report->rows, "shop/web"), 100'000'005);
  EXPECT_EQ(In(report->rows, "id-web"), -1) << "one row";
  EXPECT_EQ(In(report->rows, "id-lost"), 7) << "its name was never known";
  EXPECT_EQ(In(report->rest, "ended before their next line"), 20);
  EXPECT_EQ(SumOf(*report), report->total.energy);
  const std::vector<Energy>& bins = report->rows.front().amount.bins;
  EXPECT_EQ(std::accumulate(bins.begin(), bins.end(), Energy()), report->rows.front().amount.energy);
  // A period in which the name is not known yet.
  const auto before = ReportOf({lines.begin(), lines.end()}, {.by = By::kPod, .to = At(120)});
  EXPECT_EQ(In(before->rows, "shop/web"), 100'000'001) << "the file has the name";
}

TEST(EnergyBook, PodThatEndsBetweenTwoLines_ItsLastEnergyIsInTheRest) {
  FakeNode node;
  std::vector<std::string> lines;
  Append(node.Tick(60), lines);
  node.Use("web", 100);
  Append(node.Tick(120), lines);
  node.Use("web", 7);
  node.End("web");
  node.Use("short", 3);
  node.End("short");
  Append(node.Tick(180), lines);
  const auto report = ReportOf(lines, {.by = By::kPod});
  ASSERT_TRUE(report);
  EXPECT_EQ(In(report->rows, "shop/web"), 100);
  EXPECT_EQ(In(report->rest, "ended before their next line"), 10);
  EXPECT_EQ(SumOf(*report), report->total.energy);
}

TEST(EnergyBook, AgentThatRestarts_CountsFromZeroAndTheDowntimeIsShown) {
  FakeNode node;
  std::vector<std::string> lines;
  Append(node.Tick(60), lines);
  node.Use("web", 100);
  Append(node.Tick(120), lines);
  node.Restart(600);
  node.Use("web", 40);
  Append(node.Tick(660), lines);
  const auto report = ReportOf(lines, {.by = By::kPod});
  ASSERT_TRUE(report);
  EXPECT_EQ(In(report->rows, "shop/web"), 140);
  ASSERT_EQ(report->downtimes.size(), 1U);
  EXPECT_EQ(report->downtimes[0].from, At(120));
  EXPECT_EQ(report->downtimes[0].to, At(600));
  EXPECT_EQ(SumOf(*report), report->total.energy);
}

TEST(EnergyBook, RepeatedAndIncompleteTicks_AreCountedOnceAndNotLost) {
  FakeNode node;
  std::vector<std::string> lines;
  Append(node.Tick(60), lines);
  node.Use("web", 100);
  const auto whole = node.Tick(120);
  const auto rest =
      std::ranges::find_if(whole, [](const std::string& line) { return line.contains("\"of\":\"pod\""); });
  Append({whole.begin(), rest + 1}, lines);
  node.Use("web", 50);
  const auto last = node.Tick(180);
  Append(last, lines);
  Append(node.Tick(60), lines);
  Append(last, lines);
  const auto report = ReportOf(lines, {.by = By::kPod});
  ASSERT_TRUE(report);
  EXPECT_EQ(In(report->rows, "shop/web"), 150);
  EXPECT_EQ(report->incomplete, 1U);
  EXPECT_EQ(report->repeated, 2U);
}

TEST(EnergyBook, TickThatDoesNotAddUp_IsLeftOut) {
  FakeNode node;
  std::vector<std::string> lines;
  Append(node.Tick(60), lines);
  node.Use("web", 100);
  auto changed = node.Tick(120);
  for (std::string& line : changed)
    if (const size_t at = line.find("\"level\":\"pod\""); at != std::string::npos)
      line.replace(line.find("0.000100"), 8, "0.000099");
  Append(changed, lines);
  node.Use("web", 50);
  Append(node.Tick(180), lines);
  const auto report = ReportOf(lines, {.by = By::kPod});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->impossible, 1U);
  EXPECT_EQ(In(report->rows, "shop/web"), 150);
}

TEST(EnergyBook, FromAndTo_TakeTheTicksOfThePeriod) {
  FakeNode node;
  std::vector<std::string> lines;
  for (int i = 1; i <= 10; ++i) {
    node.Use("web", i);
    Append(node.Tick(i * 60), lines);
  }
  const auto report = ReportOf(lines, {.by = By::kPod, .from = At(180), .to = At(300)});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->total.energy.microjoules(), 4 + 5);
  EXPECT_EQ(report->from, At(180));
  EXPECT_EQ(report->to, At(300));
  EXPECT_EQ(report->ticks, 2U);
  const auto between = ReportOf(lines, {.by = By::kPod, .from = At(200)});
  EXPECT_EQ(between->from, At(180)) << "the tick before it";
  EXPECT_THAT(ReportOf(lines, {.by = By::kPod, .from = At(600)}).error().message, HasSubstr("two complete ticks"));
}

TEST(EnergyBook, SeveralNodes_AndByNode) {
  FakeNode a("a"), b("b");
  std::vector<std::string> lines;
  for (int i = 1; i <= 3; ++i) {
    a.Use("web", 10);
    b.Use("web", 100);
    b.Idle(1);
    Append(a.Tick(i * 60), lines);
    Append(b.Tick(i * 60 + 7), lines);
  }
  const auto by_pod = ReportOf(lines, {.by = By::kPod});
  EXPECT_EQ(In(by_pod->rows, "shop/web"), 220);
  EXPECT_EQ(by_pod->nodes, (std::vector<std::string>{"a", "b"}));
  const auto by_node = ReportOf(lines, {.by = By::kNode});
  ASSERT_TRUE(by_node);
  EXPECT_EQ(In(by_node->rows, "b"), 202);
  EXPECT_EQ(SumOf(*by_node), by_node->total.energy);
}

TEST(EnergyBook, Bins_HaveTheEnergyOfTheirTime) {
  FakeNode node;
  std::vector<std::string> lines;
  for (int i = 1; i <= 21; ++i) {
    node.Use("web", 60'000'000);
    Append(node.Tick(i * 60), lines);
  }
  const auto report = ReportOf(lines, {.by = By::kPod});
  ASSERT_TRUE(report);
  const auto& bins = report->total.bins;
  ASSERT_EQ(report->bin_width, std::chrono::seconds(16));
  for (size_t i = 0; i + 1 < bins.size(); ++i) EXPECT_NEAR(bins[i].ToJoules(), 16, 1e-5) << i;
  EXPECT_EQ(std::accumulate(bins.begin(), bins.end(), Energy(), [](Energy a, Energy b) { return a + b; }),
            Energy::Joules(20 * 60));
}

TEST(EnergyBook, NodeWhoseFileBeginsEarlier_MovesTheBins) {
  FakeNode late("late"), early("early");
  std::vector<std::string> lines;
  for (int i = 0; i < 3; ++i) {
    late.Use("web", 10);
    Append(late.Tick(100'000 + i), lines);
  }
  for (int i = 0; i < 3; ++i) {
    early.Use("web", 100);
    Append(early.Tick(i * 60), lines);
  }
  const auto report = ReportOf(lines, {.by = By::kPod});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->from, At(0));
  EXPECT_LE(report->bins_from, At(0));
  Energy bins;
  for (const Energy bin : report->rows[0].amount.bins) bins += bin;
  EXPECT_EQ(bins.microjoules(), 320);
  EXPECT_LE(report->total.bins.size(), 96U);
}

/// Containers of one name in two nodes of kind, or of two users, are two rows.
TEST(RowName, ContainersWithAuthorities) {
  EnergyLine line;
  line.texts = {{"container_id", "aaaaaaaaaaaaaaaa/bbbbbbbbbbbbbbbbbb"}, {"container_name", "app"}};
  EXPECT_EQ(RowName(By::kContainer, line), "app (aaaaaaaaaaaa/bbbbbbbbbbbb)");
  line.texts[0].second = "uid1000/cccccccccccccccc";
  EXPECT_EQ(RowName(By::kContainer, line), "app (uid1000/cccccccccccc)");
}

/// A tick of a node on which two machines of a project, one of a project with the same name, and one of nobody have
/// used 1, 2, 4 and 8 J times `factor`, and 16 J were idle.
std::vector<std::string> MachinesAt(int64_t second, int64_t factor) {
  auto snapshot = testing::EmptySnapshot({"package"});
  snapshot.taken_at = WallTime(std::chrono::seconds(kBookStart + second));
  snapshot.begun = BootTime(std::chrono::seconds(1'000 + second));
  snapshot.started = BootTime(std::chrono::seconds(1'000));
  const auto add = [&](int64_t joules, const std::string& id, snapshot::VmMetadata metadata) {
    testing::AddRow(snapshot.vms, snapshot::VmIdentity{id, "i-" + id, "kvm", std::move(metadata)},
                    {Energy::Joules(joules * factor)});
  };
  add(1, "1", {.instance_name = "web", .project_id = "995b4947cc4044fb", .project_name = "shop"});
  add(2, "2", {.instance_name = "db", .project_id = "995b4947cc4044fb", .project_name = "shop"});
  add(4, "3", {.instance_name = "web", .project_id = "2d1d6c8084544f09", .project_name = "shop"});
  add(8, "4", {});
  snapshot.node[0].active = Energy::Joules(15 * factor);
  snapshot.node[0].idle = Energy::Joules(16 * factor);
  snapshot.node[0].total = Energy::Joules(31 * factor);
  return LinesOf(snapshot, "n1");
}

TEST(EnergyBook, Projects_AreTheSumsOfTheirMachines) {
  std::vector<std::string> lines = MachinesAt(0, 1);
  Append(MachinesAt(60, 10), lines);
  const auto rows = [&](By by) {
    const auto report = ReportOf(lines, {.by = by});
    EXPECT_EQ(report->total.energy, Energy::Joules(310));
    std::map<std::string, int64_t> joules;
    for (const Row& row : report->rows) joules[row.name] = row.amount.energy.microjoules() / 1'000'000;
    for (const Row& row : report->rest) joules[row.name] += row.amount.energy.microjoules() / 1'000'000;
    return joules;
  };
  using Joules = std::map<std::string, int64_t>;
  EXPECT_EQ(rows(By::kProject),
            (Joules{{"shop (995b4947cc40)", 30}, {"shop (2d1d6c808454)", 40}, {"(no project)", 80}, {"idle", 160}}));
  EXPECT_EQ(rows(By::kVm),
            (Joules{{"web (i-1)", 10}, {"db (i-2)", 20}, {"web (i-3)", 40}, {"i-4", 80}, {"idle", 160}}));
  std::erase_if(lines, [](const std::string& line) { return line.contains("vm"); });
  EXPECT_THAT(ReportOf(lines, {.by = By::kProject}).error().message, HasSubstr("no energy of level 'vm'"));
}

TEST(EnergyBook, Carbon_ByTheTimeOfTheEnergy) {
  FakeNode node;
  std::vector<std::string> lines;
  Append(node.Tick(0), lines);
  for (int i = 1; i <= 2; ++i) {
    node.Use("web", 3'600'000'000'000);
    Append(node.Tick(i * 100), lines);
  }
  const auto intensity = Intensity::Read(fmt::format("time,g_per_kwh\n{},100\n{},300\n", kBookStart, kBookStart + 150));
  const auto report = ReportOf(lines, {.by = By::kPod, .intensity = *intensity});
  EXPECT_DOUBLE_EQ(report->rows[0].amount.grams, 300);  // the energy of the second tick was used from 100 s to 200 s
  EXPECT_DOUBLE_EQ(report->total.grams, 300);
  EXPECT_TRUE(report->notes.empty()) << report->notes[0];
}

TEST(EnergyBook, CarbonOutsideTheSeries_IsNoted) {
  FakeNode node;
  std::vector<std::string> lines;
  for (int hour = 0; hour <= 4; ++hour) {
    node.Use("web", 3'600'000'000'000);
    Append(node.Tick(hour * 3'600), lines);
  }
  const auto notes = [&](int64_t begin, std::optional<int64_t> end = {}) {
    std::string csv = fmt::format("time,g_per_kwh\n{},100\n", kBookStart + begin);
    if (end) csv += fmt::format("{},200\n", kBookStart + *end);
    const auto series = Intensity::Read(csv);
    return ReportOf(lines, {.by = By::kPod, .intensity = *series})->notes;
  };
  EXPECT_THAT(
      notes(9'000),
      ::testing::ElementsAre("no carbon intensity is known from 2023-11-14T22:13:20.000Z to 2023-11-15T00:43:20.000Z "
                             "(2.5 hours); the first value of the series is used"));
  EXPECT_THAT(notes(1'000'000), ::testing::ElementsAre(HasSubstr("to 2023-11-15T02:13:20.000Z (4.0 hours)")));
  EXPECT_TRUE(notes(0).empty());
  EXPECT_TRUE(notes(0, 7'200).empty());
  EXPECT_THAT(notes(0, 3'600),
              ::testing::ElementsAre("no carbon intensity is known from 2023-11-15T00:13:20.000Z to "
                                     "2023-11-15T02:13:20.000Z (2.0 hours); the last value of the series is used"));
  EXPECT_TRUE(ReportOf(lines, {.by = By::kPod, .intensity = Intensity(380)})->notes.empty());
}

TEST(EnergyBook, WhatIsMissing_IsNamed) {
  FakeNode node;
  const auto lines = node.Tick(60);
  EXPECT_THAT(ReportOf(lines, {.by = By::kPod, .zones = {"dram"}}).error().message, HasSubstr("they have package"));
  EXPECT_THAT(ReportOf({}, {.by = By::kPod}).error().message, HasSubstr("no line of a node"));
  EXPECT_THAT(ReportOf(lines, {.by = By::kPod, .to = At(10)}).error().message, HasSubstr("two complete ticks"));
  std::vector<std::string> without;
  for (const std::string& line : lines)
    if (!line.contains("\"of\":\"pod\"")) without.push_back(line);
  EXPECT_THAT(ReportOf(without, {.by = By::kPod}).error().message,
              HasSubstr("no energy of level 'pod'; use --by=process, container, namespace, owner, vm, user or node"));
  node.Use("web", 5);
  auto cut = node.Tick(120);
  std::erase_if(cut, [](const std::string& line) { return line.contains("\"unlisted\""); });
  EXPECT_THAT(ReportOf(cut, {.by = By::kPod}).error().message,
              HasSubstr("two complete ticks of a node; 1 tick left out, because last lines are missing"));
}

/// Any history of pods, restarts and cut ticks: rows and rest are the node's energy.
TEST(EnergyBook, AnyHistory_AddsUp) {
  uint64_t random = 88172645463325252;
  const auto next = [&](uint64_t below) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return random % below;
  };
  for (int round = 0; round < 50; ++round) {
    FakeNode node;
    std::vector<std::string> lines;
    int64_t second = 0;
    for (int step = 0; step < 40; ++step) {
      second += 1 + static_cast<int64_t>(next(200));
      const std::string pod = fmt::format("p{}", next(6));
      node.Use(pod, static_cast<int64_t>(next(1'000)));
      node.Idle(static_cast<int64_t>(next(10)));
      node.Nobody(static_cast<int64_t>(next(10)));
      node.Cap(static_cast<int64_t>(next(10)));
      if (next(5) == 0) node.UseUnnamed(pod, static_cast<int64_t>(next(1'000)));
      if (next(5) == 0) node.Name(pod);
      if (next(4) == 0) node.End(pod);
      if (next(12) == 0) node.Restart(second);
      auto tick = node.Tick(second);
      if (next(8) == 0) tick.resize(next(tick.size()));
      Append(tick, lines);
    }
    const auto report = ReportOf(lines, {.by = By::kPod, .from = At(static_cast<int64_t>(next(2'000)))});
    if (!report) continue;  // every tick was before it
    EXPECT_EQ(SumOf(*report), report->total.energy);
    Energy bins;
    for (const Energy bin : report->total.bins) bins += bin;
    EXPECT_EQ(bins, report->total.energy);
  }
}

}  // namespace
}  // namespace kepler::report
