#pragma once
// Reading: the data of one push.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "export/series/visit.h"
#include "snapshot/snapshot.h"
#include "status/agent_status.h"
#include "status/http_status.h"
#include "status/push_status.h"

namespace kepler::series {

struct Reading {
  std::shared_ptr<const snapshot::Snapshot> snapshot;  // null: no snapshot yet
  bool stale = false;                                  // too old for its watts to be valid
  std::vector<status::PushStatus> pushes{};
  std::optional<status::SelfStatus> self{};  // nothing: the `process` collector is off
  std::optional<status::HttpStatus> http{};  // nothing: not sent
  uint64_t log_lines_dropped = 0;
};

/// `reading` must outlive the result.
[[nodiscard]] inline Extras ExtrasOf(const Reading& reading) {
  return {.stale = reading.stale,
          .self = reading.self ? &*reading.self : nullptr,
          .http = reading.http ? &*reading.http : nullptr,
          .pushes = reading.pushes,
          .log_lines_dropped = reading.log_lines_dropped};
}

}  // namespace kepler::series
