#pragma once
// A snapshot as the JSON of /api/v1/snapshot (docs/api.md). Energies are exact to the microjoule. Pure; any thread.
#include <cstdint>
#include <string>
#include <vector>

#include "export/api/workload_query.h"
#include "snapshot/snapshot.h"

namespace kepler::api {

inline constexpr int kVersion = 1;

/// What is constant while the agent runs.
struct Source {
  std::string version{};  // of the agent
  std::string node{};     // name of the node
  uint32_t gates = 0;     // levels of the metrics, as in ParseQuery()
};

/// A meter that the snapshot has a status of.
struct MeterState {
  std::string name;
  std::string_view state;  // "in use", "not used", "failed"
  std::string reason;      // why it is not used, or what is wrong with it; "": nothing
};
[[nodiscard]] std::vector<MeterState> MetersOf(const snapshot::Snapshot& snapshot);

/// The sum of all magnitudes, so that errors never cancel.
[[nodiscard]] Energy ConservationError(const snapshot::Snapshot& snapshot);

/// Energy of a level without a row, in the zone that ranks workloads.
[[nodiscard]] Energy UnlistedOf(const snapshot::Snapshot& snapshot, snapshot::Level level);

/// One line. `stale`: the snapshot is too old for its watts, and they are left out.
[[nodiscard]] std::string SnapshotJson(const snapshot::Snapshot& snapshot, bool stale, const Query& query,
                                       const Source& source);

}  // namespace kepler::api
