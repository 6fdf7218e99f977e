#pragma once
// What keys do to the view. Pure.
#include <cstddef>
#include <cstdint>

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
  kResize,
  kInterrupt
};

struct Input {
  Key key = Key::kNone;
  char32_t text = 0;  // of kText
};

/// What was drawn where, for pages.
struct Placement {
  size_t first_line = 0, rows = 0;  // of its rows
};

enum class Effect : uint8_t { kNone, kFetch, kQuit };

/// Changes `view` by the input. `readings` are those on the screen. kFetch: the view wants other rows.
[[nodiscard]] Effect Apply(const Input& input, const Readings& readings, const Placement& placement, View& view);

}  // namespace kepler::top
