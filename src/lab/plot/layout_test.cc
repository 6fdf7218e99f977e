#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "lab/plot/chart.h"

namespace kepler::lab::plot {
namespace {

using ::testing::HasSubstr;

Page PageWith(std::vector<Point> points) {
  const Series series{.name = "a", .color = kBlue, .points = points};
  const Series other{.name = "b", .color = kOrange, .points = std::move(points)};
  return {.title = "Title",
          .subtitle = "of what",
          .facts = {{.value = "1,234,567 of 1,234,567", .meaning = "rows"}, {.value = "10.1 W", .meaning = "MAE"}},
          .panels = {{.title = "Scatter",
                      .x_label = "x, W",
                      .y_label = "y, W",
                      .chart = Marks{.series = {series}, .guide = Marks::Guide::kDiagonal}},
                     {.title = "Time",
                      .x_label = "min",
                      .y_label = "W",
                      .chart = Marks{.series = {series}, .guide = Marks::Guide::kZero}},
                     {.title = "Both",
                      .x_label = "min",
                      .y_label = "W",
                      .wide = true,
                      .chart = Marks{.series = {series, other}, .lines = true}},
                     {.title = "Columns",
                      .x_label = "W",
                      .y_label = "W",
                      .chart = Columns{.edges = {1, 2, 3e6, 1e12}, .heights = {100, 100, 5}, .color = kGreen}},
                     {.title = "Bars",
                      .x_label = "",
                      .y_label = "W",
                      .chart = Bars{{{.name = std::string(200, 'n'), .length = 2, .text = "2 W"},
                                     {.name = "b", .length = 0, .text = "0 W"}}}}}};
}

struct Place {
  double left, top, right, bottom;
};

Place PlaceOf(const Text& text) {
  const double width = WidthOf(text);
  const double left = text.at.x - width * (text.align == Align::kLeft ? 0 : text.align == Align::kCenter ? 0.5 : 1);
  return {left, text.at.y - text.size * 0.75, left + width, text.at.y + text.size * 0.2};
}

void ExpectReadable(const Drawing& drawing) {
  std::vector<const Text*> texts;
  for (const Shape& shape : drawing.shapes) {
    if (const auto* const text = std::get_if<Text>(&shape); text != nullptr && !text->text.empty())
      texts.push_back(text);
    if (const auto* const line = std::get_if<Line>(&shape)) {
      for (const Point& point : line->points) {
        EXPECT_TRUE(point.x >= 0 && point.x <= drawing.width) << point.x;
        EXPECT_TRUE(point.y >= 0 && point.y <= drawing.height) << point.y;
      }
    }
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    const Place a = PlaceOf(*texts[i]);
    EXPECT_GE(a.left, 0) << texts[i]->text;
    EXPECT_LE(a.right, drawing.width) << texts[i]->text;
    EXPECT_LE(a.bottom, drawing.height) << texts[i]->text;
    for (size_t k = 0; k < i; ++k) {
      const Place b = PlaceOf(*texts[k]);
      const bool apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
      EXPECT_TRUE(apart) << texts[i]->text << " lies on " << texts[k]->text;
    }
  }
}

std::string AllText(const Drawing& drawing) {
  std::string all;
  for (const Shape& shape : drawing.shapes)
    if (const auto* const text = std::get_if<Text>(&shape)) all += text->text + "\n";
  return all;
}

std::vector<Point> Noise(int count) {
  std::vector<Point> points;
  points.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) points.push_back({.x = static_cast<double>(i), .y = 100 + std::sin(i) * 50});
  return points;
}

TEST(LayOut, AnyData_IsReadable) {
  std::vector<Point> wave;
  wave.reserve(3000);
  for (int i = 0; i < 3000; ++i) wave.push_back({.x = i / 20.0, .y = 100 + 80 * std::sin(i / 50.0)});
  ExpectReadable(LayOut(PageWith(wave)));
  ExpectReadable(LayOut(PageWith({{.x = 1, .y = 42.5}})));
  ExpectReadable(LayOut(PageWith({{.x = 1, .y = 7}, {.x = 2, .y = 7}})));
  ExpectReadable(LayOut(PageWith({{.x = 0, .y = 0}, {.x = 1e300, .y = 1e13}})));
  ExpectReadable(LayOut(PageWith({{.x = 0, .y = -1e-9}, {.x = 1e-12, .y = 1e-9}})));
  ExpectReadable(LayOut(PageWith({})));
}

TEST(LayOut, OnePanel_IsReadable) {
  for (const Panel& panel : PageWith({{.x = 0, .y = 40}, {.x = 1e3, .y = 1e13}}).panels) ExpectReadable(LayOut(panel));
}

TEST(LayOut, TitlesUnitsAndLegends_AreThere) {
  const std::string text = AllText(LayOut(PageWith({{.x = 1, .y = 2}, {.x = 3, .y = 4}})));
  for (const char* words :
       {"Title\n", "x, W\n", "y, W\n", "1,234,567 of 1,234,567\n", "\na\n", "\nb\n", "nnn\u2026", "2 W\n"})
    EXPECT_THAT(text, HasSubstr(words));
}

TEST(LayOut, AMillionPoints_AreAFewThousandMarksAndItIsSaid) {
  const std::vector<Point> points = Noise(1'000'000);
  const Drawing drawing = LayOut(PageWith(points));
  size_t marks = 0;
  for (const Shape& shape : drawing.shapes) {
    if (const auto* const dots = std::get_if<Dots>(&shape)) marks += dots->centers.size();
    if (const auto* const line = std::get_if<Line>(&shape)) marks += line->points.size();
  }
  EXPECT_LT(marks, 40'000u);
  EXPECT_THAT(AllText(drawing), HasSubstr("1,000,000 points, 3 px cells; darker: more points"));
  EXPECT_THAT(AllText(drawing), HasSubstr("1,000,000 points: min and max per pixel"));
}

TEST(LayOut, LongName_LeavesTheNoteWhole) {
  Page page = PageWith({});
  const std::vector<Point> points = Noise(9000);
  const Series series{.name = "a", .color = kBlue, .points = points};
  page.panels = {{.title = "t",
                  .x_label = "x",
                  .y_label = "cgroupfs_memory_usage_bytes",
                  .chart = Marks{.series = {series}, .lines = true}},
                 {.title = "t",
                  .x_label = "x",
                  .y_label = std::string(200, 'n'),
                  .chart = Marks{.series = {series}, .lines = true}}};
  const Drawing drawing = LayOut(page);
  EXPECT_THAT(AllText(drawing),
              HasSubstr("\ncgroupfs_memory_usage_bytes \u00b7 9,000 points: min and max per pixel\n"));
  EXPECT_THAT(AllText(drawing), HasSubstr("nnn\u2026 \u00b7 9,000 points: min and max per pixel\n"));
  ExpectReadable(drawing);
}

TEST(LayOut, UnknownColumn_HasADashAndNoBox) {
  const auto count = [](const Drawing& drawing, std::string_view text) {
    return std::ranges::count_if(drawing.shapes, [&](const Shape& shape) {
      const auto* const words = std::get_if<Text>(&shape);
      return text.empty() ? std::holds_alternative<Box>(shape) : words != nullptr && words->text == text;
    });
  };
  const auto panel = [](double height) {
    return Panel{.title = "t",
                 .x_label = "x",
                 .y_label = "y",
                 .chart = Columns{.edges = {1, 2, 3}, .heights = {height, 5}, .color = kGreen}};
  };
  const Drawing known = LayOut(panel(0)), unknown = LayOut(panel(std::nan("")));
  EXPECT_EQ(count(unknown, "-"), 1);
  EXPECT_EQ(count(known, "-"), 0);
  EXPECT_EQ(count(unknown, "") + 1, count(known, ""));
  ExpectReadable(unknown);
}

}  // namespace
}  // namespace kepler::lab::plot
