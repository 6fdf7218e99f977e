#pragma once
// The lines of the screen, from what the agent has sent and what the user wants to see. Every line fits the width and
// is safe to print. Pure.
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "top/keys.h"
#include "top/look.h"
#include "top/readings.h"
#include "top/view.h"

namespace kepler::top {

/// What is known of the agent.
struct Knowledge {
  Readings readings{};
  PowerHistory history{};
  bool has_readings = false;
  std::chrono::seconds age{0};         // since the time of the readings changed
  std::string trouble{};               // why there is no answer; "": there is one
  std::vector<std::string> remarks{};  // what to know of the readings, a line each; a low screen has the first one
};

struct Size {
  size_t columns = 80, lines = 24;
};

struct Frame {
  std::vector<Line> lines{};
  Placement placement{};
};

/// Number of rows of workloads that fit. It depends on everything above them.
[[nodiscard]] size_t VisibleRows(const Knowledge& known, const Size& size);
[[nodiscard]] Frame Layout(const View& view, const Knowledge& known, const Size& size, const Look& look);

/// The zones and all rows, for a pipe. Each line ends with a newline.
[[nodiscard]] std::string PlainText(const View& view, const Readings& readings, size_t width, const Look& look);

}  // namespace kepler::top
