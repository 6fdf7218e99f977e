#pragma once
// Text of the stdout exporter: the zones of the node, then the top workloads. Pure; the caller writes the text.
#include <cstddef>
#include <string>

#include "snapshot/snapshot.h"

namespace kepler::console {

struct ReportOptions {
  size_t top = 0;       // rows per workload table; 0: only the node's table, as upstream
  bool screen = false;  // starts with the ANSI sequences that clear a terminal, for a live view
};

/// Ranks workloads by watts in the snapshot's primary zone, then by joules. If a zone was not read in the last tick, or
/// the snapshot is `stale` (too old for its watts to be valid), its watts are "-". The text ends with a newline.
[[nodiscard]] std::string Report(const snapshot::Snapshot& snapshot, const ReportOptions& options, bool stale = false);

}  // namespace kepler::console
