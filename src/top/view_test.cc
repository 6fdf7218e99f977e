#include "top/view.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace kepler::top {
namespace {

Readings Processes(size_t rows) {
  Readings readings{.level = "process"};
  for (size_t i = 0; i < rows; ++i) readings.rows.push_back({.id = "id" + std::to_string(i)});
  return readings;
}

TEST(View, IsARequest) {
  EXPECT_EQ(Target({}, 20), "/api/v1/snapshot?level=process&sort=watts&limit=50");
  View view{.now = {.level = Level::kContainer, .filter = "a&b=%/\n", .under = "pod 1"}, .sort = Sort::kJoules};
  EXPECT_EQ(Target(view, 20),
            "/api/v1/snapshot?level=container&sort=joules&limit=50&search=a%26b%3D%25%2F%0A&under=pod%201");
  view.row = 60;
  EXPECT_TRUE(Target(view, 20).contains("&limit=150&")) << "more rows than the screen shows";
  view.row = 5000;
  EXPECT_TRUE(Target(view, 20).contains("&limit=1000&")) << "the maximum of the API";
}

TEST(View, TheSelectionFollowsItsRow) {
  Readings readings = Processes(40);
  View view{.now = {.selected = "id11"}};
  Follow(readings, 10, view);
  EXPECT_EQ(view.row, 11);
  EXPECT_EQ(view.first, 2) << "the selected row is on the screen";
  std::swap(readings.rows[11], readings.rows[30]);
  Follow(readings, 10, view);
  EXPECT_EQ(view.row, 30);
  EXPECT_EQ(view.first, 21);
  readings.rows.resize(5);
  Follow(readings, 10, view);
  EXPECT_EQ(view.row, 4) << "the row is gone";
  EXPECT_EQ(view.first, 4);
  readings.rows.clear();
  Follow(readings, 0, view);
  EXPECT_EQ(view.row, 0);
}

TEST(View, RowsOfAnEarlierRequestChangeNothing) {
  View view{.now = {.level = Level::kPod, .selected = "id11"}, .row = 3};
  Follow(Processes(40), 10, view);
  EXPECT_EQ(view.row, 3);
}

}  // namespace
}  // namespace kepler::top
