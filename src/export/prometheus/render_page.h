#pragma once
// Snapshot → exposition. Pure: the same input gives the same bytes; no I/O, no clock, any thread.
//   Page page = RenderPage(*board.Latest(), options, {}, Format::kText004);
#include <string>

#include "export/prometheus/negotiate.h"
#include "export/prometheus/page.h"
#include "export/series/visit.h"
#include "snapshot/snapshot.h"

namespace kepler::prometheus {

/// Options that are constant while the agent runs.
struct RenderOptions {
  std::string node_name = {};  // constant label; "" leaves it out
  series::Selection selection = {};
  bool created_lines = false;  // OpenMetrics: a line with the start time after each counter
};

/// Writes families in order of name, with the rows of each family in snapshot order. Families without a row are left
/// out. The page has pieces of about 128 KiB of text. Allocates per rendering, not per row.
[[nodiscard]] Page RenderPage(const snapshot::Snapshot& snapshot, const RenderOptions& options,
                              const series::Extras& extras, Format format);

}  // namespace kepler::prometheus
