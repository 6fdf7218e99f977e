#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "report/energy_book.h"
#include "report/energy_book_test_util.h"

namespace kepler::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Two machines with one node name, each with 1,000 microjoules in each tick.
class TwoMachines {
 public:
  TwoMachines() { b_.Restart(30); }
  std::vector<std::string> A(int64_t second) { return Tick(a_, second); }
  std::vector<std::string> B(int64_t second) { return Tick(b_, second); }

 private:
  static std::vector<std::string> Tick(FakeNode& node, int64_t second) {
    node.Use("web", 1000);
    return node.Tick(second);
  }
  FakeNode a_, b_;
};

TEST(EnergyBook, TwoMachinesWithOneName_TheirTicksInOneFileAreNotMixed) {
  TwoMachines machines;
  std::vector<std::string> lines;
  for (const int64_t second : {60, 120, 180, 240}) {
    Append(machines.A(second), lines);
    Append(machines.B(second + 1), lines);
  }
  const auto report = ReportOf(lines, {.by = By::kPod, .from = At(0)});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(In(report->rows, "shop/web"), 5000) << "one tick of A, then all ticks of B, each once";
  EXPECT_EQ(SumOf(*report), report->total.energy);
  EXPECT_THAT(report->notes, ElementsAre(AllOf(HasSubstr("n1: ticks of two agents"), HasSubstr("; 3 ticks left out"))));
}

TEST(EnergyBook, TwoMachinesWithOneName_TheirFilesAreAddedUp) {
  TwoMachines machines;
  std::vector<std::string> lines;
  for (const int64_t second : {60, 120}) Append(machines.A(second), lines);
  for (const int64_t second : {61, 121}) Append(machines.B(second), lines);
  const auto report = ReportOf(lines, {.by = By::kPod, .from = At(0)});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(In(report->rows, "shop/web"), 4000);
  EXPECT_THAT(report->notes, ElementsAre(HasSubstr("their energy is added up")));
}

TEST(EnergyBook, TimesWithoutTicks_AreNamed) {
  FakeNode node;
  std::vector<std::string> lines;
  for (const int64_t second : {60, 120, 180, 240, 900, 960}) {
    node.Use("web", 1000);
    Append(node.Tick(second), lines);
  }
  const auto report = ReportOf(lines, {.by = By::kPod, .from = At(-600), .to = At(3600)});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->notes, IsEmpty());
  ASSERT_EQ(report->gaps.size(), 1U);
  EXPECT_EQ(report->gaps[0].from, At(240));
  EXPECT_EQ(report->gaps[0].to, At(900));
  EXPECT_EQ(In(report->rows, "shop/web"), 6000) << "the energy in the gap is known";
  ASSERT_EQ(report->downtimes.size(), 2U) << "before the agent started, and after its last tick";
  EXPECT_EQ(report->downtimes[0].from, At(-600));
  EXPECT_EQ(report->downtimes[0].to, At(0));
  EXPECT_EQ(report->downtimes[1].from, At(960));
  EXPECT_EQ(report->downtimes[1].to, At(3600));
}

/// A report of a node with ticks after these times. A negative time begins another run of the agent.
Result<Report> TicksAfter(const std::vector<int64_t>& times, std::optional<int64_t> from, int64_t until) {
  FakeNode node;
  std::vector<std::string> lines;
  int64_t second = 0;
  for (const int64_t after : times) {
    second += std::abs(after);
    if (after < 0) node.Restart(second - 1);
    node.Use("web", 1000);
    Append(node.Tick(second), lines);
  }
  EnergyBook::Options options{.by = By::kPod, .to = At(second + until)};
  if (from) options.from = At(*from);
  return ReportOf(lines, options);
}

std::vector<int64_t> LengthsOf(const std::vector<Downtime>& times) {
  std::vector<int64_t> seconds;
  for (const Downtime& time : times) seconds.push_back((time.to - time.from).count() / 1000);
  return seconds;
}

TEST(EnergyBook, GapsAmongTheFirstTicks_AreNamedAsLaterOnes) {
  using Lengths = std::vector<int64_t>;
  const Lengths early = {60, 60, 36'000, 60, 60, 60, 7'200, 60, 60, 60, 60, 60, 60, 3'600};
  const auto report = TicksAfter(early, {}, 20'000);
  EXPECT_EQ(LengthsOf(report->gaps), (Lengths{36'000, 7'200, 3'600}));
  EXPECT_EQ(LengthsOf(report->downtimes), Lengths{20'000});
  EXPECT_EQ(LengthsOf(TicksAfter(early, 40'000, 60)->gaps), (Lengths{7'200, 3'600})) << "one is before the period";
  EXPECT_EQ(LengthsOf(TicksAfter({60, 36'000, 60, 60}, {}, 60)->gaps), Lengths{36'000}) << "few ticks";
  EXPECT_EQ(LengthsOf(TicksAfter({60, 60, 60, 60, 36'000}, {}, 60)->gaps), Lengths{36'000});
}

/// A run begins with a short time between two ticks, and ends with one; between two runs the agent did not run.
TEST(EnergyBook, OtherTimesAmongTheFirstTicks_AreNoInterval) {
  std::vector<int64_t> times;
  for (int run = 0; run < 4; ++run) times.insert(times.end(), {-3'600, 5, 60, 60, 7});
  const auto runs = TicksAfter(times, {}, 100);
  EXPECT_EQ(LengthsOf(runs->gaps), std::vector<int64_t>());
  times.insert(times.end(), {600, 60});
  EXPECT_EQ(LengthsOf(TicksAfter(times, {}, 100)->gaps), std::vector<int64_t>{600});
  EXPECT_EQ(LengthsOf(TicksAfter({5, 60, 60}, {}, 100)->gaps), std::vector<int64_t>());
  const auto short_runs = TicksAfter({-60, 5, -3'600, 5, -3'600, 5, 60, 60, 60, 60, 60, 60}, {}, 100);
  EXPECT_EQ(LengthsOf(short_runs->gaps), std::vector<int64_t>());
}

TEST(EnergyBook, NodeWithOneTick_IsMissing) {
  FakeNode one("n1"), two("n2");
  std::vector<std::string> lines = one.Tick(60);
  Append(one.Tick(120), lines);
  Append(two.Tick(60), lines);
  const auto report = ReportOf(lines, {.by = By::kNode, .from = At(30), .to = At(120)});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->nodes, std::vector<std::string>{"n1"});
  ASSERT_EQ(report->downtimes.size(), 1U);
  EXPECT_EQ(report->downtimes[0].node, "n2");
}

TEST(EnergyBook, SortedSource_KeepsNoTimes_ButRefusesATickTwice) {
  FakeNode node;
  std::vector<std::string> lines;
  for (const int64_t second : {60, 120, 180}) {
    node.Use("web", 10);
    Append(node.Tick(second), lines);
  }
  Append(node.Tick(120), lines);
  const auto report = ReportOf(lines, {.by = By::kPod, .is_sorted = true});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->repeated, 1U);
  EXPECT_EQ(In(report->rows, "shop/web"), 20);
}

TEST(EnergyBook, EnergyThatIsNotMeasured_IsNoted) {
  const auto notes_of = [](const std::string& source) {
    std::vector<std::string> lines;
    for (const char* const name : {"n1", "n2"}) {
      FakeNode node(name, source);
      for (const int64_t second : {0, 60}) {
        node.Use("web", 5);
        Append(node.Tick(second), lines);
      }
    }
    return ReportOf(lines, {.by = By::kPod})->notes;
  };
  EXPECT_THAT(notes_of("rapl"), IsEmpty());
  EXPECT_THAT(notes_of("model"), ElementsAre("n1 and 1 more node: the energy of zone package is estimated by a power "
                                             "model, not measured"));
  EXPECT_THAT(notes_of("fake"),
              ElementsAre("n1 and 1 more node: the energy of zone package is simulated: nothing is measured"));
}

}  // namespace
}  // namespace kepler::report
