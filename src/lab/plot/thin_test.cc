#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "lab/plot/frame.h"

namespace kepler::lab::plot {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

size_t CountOf(const Shaded& shaded) {
  size_t count = 0;
  for (const auto& points : shaded.by_shade) count += points.size();
  return count;
}

TEST(ShadeDots, FewPoints_StayWhereTheyAreAndAreDarkerWhereDense) {
  std::vector<Point> points(100, {.x = 10, .y = 10});
  points.push_back({.x = 500.4, .y = 7});
  const Shaded shaded = ShadeDots(points);
  EXPECT_FALSE(shaded.thinned);
  EXPECT_THAT(shaded.by_shade[0], ElementsAre(Point{.x = 500.4, .y = 7}));
  EXPECT_EQ(shaded.by_shade[kShades - 1].size(), 100u);
}

TEST(ShadeDots, ManyPoints_AreOneMarkACell) {
  std::vector<Point> points;
  for (int i = 0; i < 1'000'000; ++i) points.push_back({.x = i % 300 + 0.5, .y = static_cast<double>(i / 300 % 30)});
  const Shaded shaded = ShadeDots(points);
  EXPECT_TRUE(shaded.thinned);
  EXPECT_EQ(CountOf(shaded), 1000u);  // 100 by 10 cells
}

TEST(ShadeDots, Nothing_IsNothing) { EXPECT_EQ(CountOf(ShadeDots({})), 0u); }

TEST(ThinLine, ManyPointsAPixel_KeepTheirEndsAndExtremes) {
  std::vector<Point> points;
  for (int i = 0; i < 100'000; ++i) points.push_back({.x = i / 1000.0, .y = std::sin(i)});
  points[4321].y = 50;
  points[8765].y = -50;
  const std::vector<Point> kept = ThinLine(points);
  EXPECT_LE(kept.size(), 400u);
  EXPECT_EQ(kept.front(), points.front());
  EXPECT_EQ(kept.back(), points.back());
  EXPECT_THAT(kept, ::testing::Contains(points[4321]));
  EXPECT_THAT(kept, ::testing::Contains(points[8765]));
  for (size_t i = 1; i < kept.size(); ++i) EXPECT_LE(kept[i - 1].x, kept[i].x);
}

TEST(ThinLine, FewPoints_StayAsTheyAre) {
  const std::vector<Point> points = {{.x = 0, .y = 1}, {.x = 0.5, .y = 2}, {.x = 9, .y = 3}};
  EXPECT_EQ(ThinLine(points), points);
  EXPECT_THAT(ThinLine({}), IsEmpty());
}

}  // namespace
}  // namespace kepler::lab::plot
