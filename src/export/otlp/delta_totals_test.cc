#include "export/otlp/delta_totals.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <variant>

namespace kepler::otlp {
namespace {

using series::Number;

constexpr BootTime kBegin = BootTime(std::chrono::seconds(1));

int64_t Microjoules(const DeltaTotals::Growth& growth) { return std::get<Energy>(growth.value).microjoules(); }

/// Passes with one counter of energy, at most.
class DeltaTotalsTest : public ::testing::Test {
 protected:
  DeltaTotals::Growth Pass(int64_t total, uint64_t time, BootTime begin = kBegin, bool ends = true) {
    totals_.Begin("energy", ends);
    const auto growth = totals_.Grow("pid=1", "zone=package", Energy::Microjoules(total), begin, 10, time);
    totals_.EndPass();
    return growth;
  }
  DeltaTotals totals_;
};

TEST_F(DeltaTotalsTest, SumOfTheGrowth_IsTheTotal_AndIntervalsMeet) {
  std::minstd_rand random(7);
  int64_t total = 0, sum = 0;
  uint64_t end = 10;
  for (uint64_t time = 100; time < 10'000; time += 100) {
    total += random() % 3 == 0 ? 0 : static_cast<int64_t>(random()) * 1'000'003;
    const auto growth = Pass(total, time);
    EXPECT_EQ(growth.start, end);
    sum += Microjoules(growth);
    end = time;
  }
  EXPECT_EQ(sum, total);
}

TEST_F(DeltaTotalsTest, AnotherBegin_IsAnotherCounter) {
  EXPECT_EQ(Microjoules(Pass(100, 20)), 100);
  const auto growth = Pass(30, 40, BootTime(std::chrono::seconds(2)));
  EXPECT_EQ(Microjoules(growth), 30);
  EXPECT_EQ(growth.start, 20U) << "intervals do not overlap";
}

TEST_F(DeltaTotalsTest, CounterThatEnded_IsForgotten) {
  EXPECT_EQ(Microjoules(Pass(100, 20)), 100);
  totals_.EndPass();
  EXPECT_EQ(Microjoules(Pass(30, 40)), 30);
}

TEST_F(DeltaTotalsTest, CounterOfTheNode_ComesBack) {
  EXPECT_EQ(Microjoules(Pass(100, 20, kBegin, false)), 100);
  totals_.EndPass();
  const auto growth = Pass(130, 60, kBegin, false);
  EXPECT_EQ(Microjoules(growth), 30);
  EXPECT_EQ(growth.start, 20U);
}

TEST_F(DeltaTotalsTest, TotalThatFalls_GrowsAgainAboveItsMaximum) {
  EXPECT_EQ(Microjoules(Pass(100, 20)), 100);
  EXPECT_EQ(Microjoules(Pass(90, 30)), 0);
  EXPECT_EQ(Microjoules(Pass(110, 40)), 10);
}

TEST_F(DeltaTotalsTest, ClockThatIsSetBack_HasOrderedTimes) {
  EXPECT_EQ(Pass(100, 1000).start, 10U);
  EXPECT_EQ(Pass(200, 500).start, 500U);
  EXPECT_EQ(Pass(300, 600).start, 500U);
}

TEST_F(DeltaTotalsTest, NamesRowsAndZones_AreOtherCounters) {
  const auto grow = [&](std::string_view name, std::string_view row, std::string_view zone) {
    totals_.Begin(name, true);
    return std::get<uint64_t>(totals_.Grow(row, zone, uint64_t{7}, kBegin, 0, 1).value);
  };
  for (const char* const name : {"a", "b"})
    for (const char* const row : {"", "x", "y"})
      for (const char* const zone : {"", "z"}) EXPECT_EQ(grow(name, row, zone), 7U) << name << row << zone;
  EXPECT_EQ(grow("a", "x", "z"), 0U);
}

}  // namespace
}  // namespace kepler::otlp
