#pragma once
// The live part of the page at "/": power now and in the last hour, and the top workloads, as HTML that is readable
// without scripts. The script of the page keeps it up to date. Pure.
#include <cstddef>
#include <cstdint>
#include <string>

#include "export/api/power_history.h"
#include "export/api/workload_query.h"
#include "snapshot/snapshot.h"

namespace kepler::web {

inline constexpr size_t kPageRows = 20;

struct LiveView {
  const snapshot::Snapshot& snapshot;
  bool stale = false;
  double age_seconds = 0;
  uint32_t gates = 0;  // levels of the metrics, as in api::ParseQuery()
  api::Query query{};
  std::string problem{};  // why `query` is not the one of the request; ""
  api::PowerHistory::Points points{};
};

[[nodiscard]] std::string LiveSection(const LiveView& view);

}  // namespace kepler::web
