#pragma once
// What the stdout exporter prints: the node's zones, and below them who used most. Pure; the caller writes it out.
#include <cstddef>
#include <string>

#include "snapshot/snapshot.h"

namespace kepler::console {

struct ReportOptions {
  size_t top = 0;       // rows of each table of workloads; 0: the node's table only, as upstream
  bool screen = false;  // begins with the ANSI sequences that clear a terminal, for a live view
};

/// Workloads are ranked by their watts in the snapshot's primary zone, then by joules. Watts of a zone that was not
/// read in the last tick are "-". Ends with a newline.
[[nodiscard]] std::string Report(const snapshot::Snapshot& snapshot, const ReportOptions& options);

}  // namespace kepler::console
