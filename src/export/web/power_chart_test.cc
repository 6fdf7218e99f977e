#include "export/web/power_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>

namespace kepler::web {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

/// Points of two zones; the second one is drawn.
api::PowerHistory::Points PointsAt(const std::vector<std::pair<int, float>>& points) {
  api::PowerHistory::Points all{.step = seconds(5), .zones = {"dram", "package"}};
  for (const auto& [at, watts] : points) {
    all.times.emplace_back(seconds(at));
    all.active.insert(all.active.end(), {1000.0F, watts});
    all.idle.insert(all.idle.end(), {1000.0F, 5.0F});
  }
  return all;
}

TEST(PowerChart, ActiveOnTopOfIdle_NewestAtTheRight) {
  const std::string svg = PowerChart(PointsAt({{5000, 5}, {5015, 15}}), 1);
  EXPECT_THAT(svg, HasSubstr("maximum 20.0 W"));
  EXPECT_THAT(svg, HasSubstr("id=\"active\" class=\"active\" d=\"M476 150L476 85.0H478L478 20.0H480V150H476Z\""));
  EXPECT_THAT(svg, HasSubstr("id=\"idle\" class=\"idle\" d=\"M476 150L476 117.5H478L478 117.5H480V150H476Z\""));
}

TEST(PowerChart, PointsOfOneBinAreAveraged) {
  EXPECT_THAT(PowerChart(PointsAt({{5000, 10}, {5005, 20}}), 1), HasSubstr("maximum 20.0 W"));
}

TEST(PowerChart, AGapIsNotJoined_AndOldPointsAreLeftOut) {
  const std::string svg = PowerChart(PointsAt({{100, 99}, {5000, 15}, {5600, 15}}), 1);
  EXPECT_THAT(svg, HasSubstr("d=\"M398 150L398 20.0H400V150H398ZM478 150L478 20.0H480V150H478Z\""));
}

TEST(PowerChart, UnknownAndZeroWatts) {
  const std::string svg = PowerChart(PointsAt({{5000, std::numeric_limits<float>::quiet_NaN()}}), 1);
  EXPECT_THAT(svg, HasSubstr("d=\"\""));
  EXPECT_THAT(svg, HasSubstr("maximum 0.00 W"));
}

}  // namespace
}  // namespace kepler::web
