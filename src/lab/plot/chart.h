#pragma once
// Charts as what they show, and how they come onto a page: titles, axes on round numbers, legends. Pure. Values are
// finite.
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "lab/plot/drawing.h"

namespace kepler::lab::plot {

// Told apart by people who do not see all colours, and in grey (Okabe and Ito, "Color Universal Design", 2008).
inline constexpr Color kBlue = {.red = 0, .green = 114, .blue = 178};
inline constexpr Color kOrange = {.red = 230, .green = 159, .blue = 0};
inline constexpr Color kVermilion = {.red = 213, .green = 94, .blue = 0};
inline constexpr Color kGreen = {.red = 0, .green = 158, .blue = 115};
inline constexpr Color kGrey = {.red = 110, .green = 110, .blue = 110};

struct Series {
  std::string name;  // in the legend, where there are several
  Color color;
  std::vector<Point> points;
};

/// Dots, or lines through points in the order of x.
struct Marks {
  enum class Guide : uint8_t {
    kNone,
    kDiagonal,  // where x is y; both axes cover the same values
    kZero,      // where y is 0
  };
  std::vector<Series> series;
  bool lines = false;
  Guide guide = Guide::kNone;
};
/// Columns between edges; there is one more edge than columns.
struct Columns {
  std::vector<double> edges;
  std::vector<double> heights;  // NaN: unknown, shown as "-"
  Color color;
};
/// Bars to the right, each with a name and a text; the first is the one that the page is about.
struct Bars {
  struct Bar {
    std::string name;
    double length = 0;
    std::string text;
  };
  std::vector<Bar> bars;
};

struct Panel {
  std::string title;
  std::string x_label;  // with the unit
  std::string y_label;
  bool wide = false;
  std::variant<Marks, Columns, Bars> chart;
};

/// A figure at the head of the page: "10.1 W", "mean absolute error".
struct Fact {
  std::string value;
  std::string meaning;
};

struct Page {
  std::string title;
  std::string subtitle;
  std::vector<Fact> facts;
  std::vector<Panel> panels;  // two side by side, unless one is wide or the last alone
};

[[nodiscard]] Drawing LayOut(const Page& page);
/// One chart without a head, for pages that have their own. Narrow enough for a phone.
[[nodiscard]] Drawing LayOut(const Panel& panel);

}  // namespace kepler::lab::plot
