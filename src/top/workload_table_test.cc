#include "top/workload_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kepler::top {
namespace {

using testing::HasSubstr;
using testing::Not;

Readings OneProcess() {
  Readings readings{
      .zones = {{.zone = "package"}, {.zone = "dram"}, {.zone = "gpu"}}, .level = "process", .zone = "package"};
  readings.rows.push_back({.id = "1-2",
                           .container = "db",
                           .comm = "postgres",
                           .pid = 42,
                           .watts = 1.5,
                           .cpu_cores = 0.25,
                           .joules = 7.2e6,
                           .cpu_seconds = 61,
                           .zones = {{"package", 1.5, 7.2e6}, {"dram", 0.5, 1}}});
  return readings;
}

TEST(WorkloadTable, HasMoreColumnsOnAWiderScreen) {
  const Readings readings = OneProcess();
  const Look look{.price = 0.25, .carbon = 100};
  const auto header = [&](size_t width) { return WorkloadTable(readings, Sort::kJoules, width, look).Header(); };
  EXPECT_EQ(header(30), "   WATTS   JOULES↓NAME        ");
  EXPECT_EQ(header(60), "   WATTS   JOULES↓   CORES     COST   CARBON      PID NAME  ");
  EXPECT_THAT(header(80), AllOf(HasSubstr(" NAME "), HasSubstr(" CONTAINER"), Not(HasSubstr("EXE"))));
  EXPECT_THAT(header(160),
              AllOf(HasSubstr(" CPU TIME "), HasSubstr(" DRAM W "), Not(HasSubstr("GPU")), Not(HasSubstr("EXE"))))
      << "no row has a value";
  EXPECT_EQ(WorkloadTable(readings, Sort::kWatts, SIZE_MAX, look).Row(0).substr(0, 94),
            "    1.50    7.20M     0.25    1m01s    0.500   200.0g     0.50       42 postgres db           ");
}

TEST(WorkloadTable, TheColumnOfTheOrderIsThere) {
  EXPECT_THAT(WorkloadTable(OneProcess(), Sort::kCpu, 40, {}).Header(), HasSubstr(" CPU TIME↓"));
  const auto areas = WorkloadTable(OneProcess(), Sort::kCpu, 40, {}).Areas();
  ASSERT_EQ(areas.size(), 3);
  EXPECT_EQ(areas[1].begin, 9);
  EXPECT_EQ(areas[1].end, 18);
  EXPECT_EQ(areas[2].sort, Sort::kCpu);
}

TEST(WorkloadTable, LongNamesShareTheWidth) {
  Readings readings = OneProcess();
  readings.rows[0].name = std::string(200, 'n');
  readings.rows[0].container = "short";
  readings.rows[0].running = false;
  for (size_t width = 20; width < 200; ++width)
    EXPECT_EQ(WidthOf(WorkloadTable(readings, Sort::kWatts, width, {}).Row(0)), width);
  EXPECT_THAT(WorkloadTable(readings, Sort::kWatts, 100, {}).Row(0), HasSubstr("nnn… short"));
  readings.rows[0].name = "n";
  EXPECT_THAT(WorkloadTable(readings, Sort::kWatts, 100, {}).Row(0), HasSubstr(" n (ended) short"));
}

}  // namespace
}  // namespace kepler::top
