#pragma once
// What is on a page, as plain values: charts are laid out to it, and a library draws it. Lengths are in pixels, from
// the upper left corner.
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace kepler::lab::plot {

struct Color {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
  double alpha = 1;
  bool operator==(const Color&) const = default;
};

struct Point {
  double x = 0;
  double y = 0;
  bool operator==(const Point&) const = default;
};

struct Box {
  Point corner;  // upper left
  double width = 0;
  double height = 0;
  Color fill;
};

struct Line {
  std::vector<Point> points;
  Color color;
  double width = 1;
  bool dashed = false;
};

struct Dots {
  std::vector<Point> centers;
  Color color;
  double diameter = 1;
};

enum class Align : uint8_t { kLeft, kCenter, kRight };

struct Text {
  Point at;  // on the base line
  std::string text;
  double size = 12;
  Color color;
  Align align = Align::kLeft;
  bool bold = false;
};

using Shape = std::variant<Box, Line, Dots, Text>;

struct Drawing {
  double width = 0;
  double height = 0;
  std::vector<Shape> shapes;  // later ones lie above
};

/// No font is asked: at least as wide as sans-serif fonts have it.
[[nodiscard]] double WidthOf(const Text& text);

}  // namespace kepler::lab::plot
