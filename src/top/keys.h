#pragma once
// Applies keys and clicks to the view. Pure.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "top/readings.h"
#include "top/view.h"

namespace kepler::top {

enum class Key : uint8_t {
  kNone,
  kText,
  kUp,
  kDown,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kEnter,
  kEscape,
  kBackspace,
  kTab,
  kClear,
  kClick,
  kResize,
  kInterrupt
};

struct Input {
  Key key = Key::kNone;
  char32_t text = 0;            // for kText
  size_t line = 0, column = 0;  // for kClick
};

/// Positions of the table and of its headings on the screen, for clicks and page keys.
struct SortArea {
  size_t begin, end;  // columns
  Sort sort;
};
struct Placement {
  size_t header_line = 0;           // line of the table's header; 0: no table
  size_t first_line = 0, rows = 0;  // line of the first row, and number of rows
  std::vector<SortArea> areas{};
};

enum class Effect : uint8_t { kNone, kFetch, kQuit };

/// Changes `view` by the input. `readings` are those on the screen. kFetch: the view needs other rows.
[[nodiscard]] Effect Apply(const Input& input, const Readings& readings, const Placement& placement, View& view);

}  // namespace kepler::top
