#pragma once
// What keys and clicks do to the view. Pure.
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
  char32_t text = 0;            // of kText
  size_t line = 0, column = 0;  // of kClick
};

/// What was drawn where, for clicks and pages.
struct SortArea {
  size_t begin, end;  // columns
  Sort sort;
};
struct Placement {
  size_t header_line = 0;           // of the table; 0: none
  size_t first_line = 0, rows = 0;  // of its rows
  std::vector<SortArea> areas{};
};

enum class Effect : uint8_t { kNone, kFetch, kQuit };

/// Changes `view` by the input. `readings` are those on the screen. kFetch: the view wants other rows.
[[nodiscard]] Effect Apply(const Input& input, const Readings& readings, const Placement& placement, View& view);

}  // namespace kepler::top
