#pragma once
// Snapshot → exposition. Pure: the same input gives the same bytes; no I/O, no clock, any thread.
//   StringSink sink;
//   Render(*board.Latest(), options, {}, Format::kText004, sink);
#include <cstdint>
#include <string>

#include "base/build_info.h"
#include "export/prometheus/families.h"
#include "export/prometheus/format.h"
#include "export/prometheus/sink.h"
#include "snapshot/snapshot.h"

namespace kepler::prometheus {

/// What stays the same while the agent runs.
struct RenderOptions {
  std::string node_name = {};    // constant label; "" leaves it out
  uint32_t levels = kAllLevels;  // bits of Gate
  BuildInfo build = {};
};

/// What may differ from one rendering of a snapshot to the next.
struct RenderInput {
  bool stale = false;                          // the snapshot is too old for its watts to be true: they are left out
  const snapshot::SelfStatus* self = nullptr;  // null: the `process` collector is off
  const snapshot::HttpStatus* http = nullptr;  // null: nobody serves
  uint64_t failed = 0;                         // renderings that failed so far
  uint64_t log_lines_dropped = 0;              // so far
};

/// Families by name, each with the rows of the snapshot in their order; those without a row are left out. The text goes
/// to `sink` in pieces of about 64 KiB. Allocates per rendering, not per row.
void Render(const snapshot::Snapshot& snapshot, const RenderOptions& options, const RenderInput& input, Format format,
            Sink& sink);

/// The whole body at once. `expected_bytes` of it, where that can be guessed: what grows by doubling takes twice its
/// memory meanwhile.
[[nodiscard]] std::string RenderBody(const snapshot::Snapshot& snapshot, const RenderOptions& options,
                                     const RenderInput& input, Format format, Encoding encoding,
                                     size_t expected_bytes = 0);

}  // namespace kepler::prometheus
