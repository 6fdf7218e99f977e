#include "top/zone_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::top {
namespace {

TEST(ZoneTable, HasMoreColumnsOnAWiderScreen) {
  const Readings readings{
      .zones = {{.zone = "package", .watts = 40.1, .active_watts = 30, .joules = 3.6e6}, {.zone = "dram"}}};
  const PowerHistory history{.step_seconds = 60, .zones = {{"package", {1, 2, 3}}}};
  const Look look{.price = 0.25, .carbon = 100};
  const auto line = [&](size_t width, size_t number) {
    return ZoneLines(readings, history, width, 10, look)[number].text;
  };
  EXPECT_EQ(line(30, 0), "ZONE         WATTS     IDLE  ");
  EXPECT_EQ(line(40, 1), "package      40.10        -  ▁▅█");
  EXPECT_EQ(line(80, 0), "ZONE         WATTS   ACTIVE     IDLE   JOULES     COST   CARBON  LAST 3m00s");
  EXPECT_EQ(line(80, 1), "package      40.10    30.00        -    3.60M    0.250   100.0g  ▁▅█");
  EXPECT_EQ(line(40, 2), "dram             -        -  ") << "no history";
  EXPECT_EQ(ZoneLines(readings, history, 80, 1, look).size(), 2) << "a header and one zone";
}

TEST(ZoneTable, WithoutAMeterItSaysWhy) {
  const Readings readings{.meters = {{"rapl", "not used", "no powercap"}, {"hwmon", "failed", "x"}}};
  const auto lines = ZoneLines(readings, {}, 80, 1, {});
  ASSERT_EQ(lines.size(), 2);
  EXPECT_EQ(lines[0].style, Style::kAlert);
  EXPECT_EQ(lines[1].text, "rapl: not used no powercap");
}

}  // namespace
}  // namespace kepler::top
