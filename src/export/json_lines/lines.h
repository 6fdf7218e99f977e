#pragma once
// One tick as lines of JSON: the node, every listed workload, and the energy that belongs to none, so that the lines of
// a tick add up as a scrape does. The form is in docs/json-lines.md; kVersion counts changes that break readers. Pure.
#include <cstdint>
#include <string>
#include <string_view>

#include "snapshot/snapshot.h"

namespace kepler::json_lines {

inline constexpr int kVersion = 1;

struct LineOptions {
  std::string node{};   // name of the node
  uint32_t levels = 0;  // of workloads, as series::Selection
  bool stale = false;   // the watts are too old to be valid, and left out
};

/// Appends the lines of `snapshot` to `out`, and returns their number.
uint64_t AppendLines(const snapshot::Snapshot& snapshot, const LineOptions& options, std::string& out);

}  // namespace kepler::json_lines
