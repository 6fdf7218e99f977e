#pragma once
// Status of the agent's own work and process. Filled by pipeline/ and daemon/. Counters are totals since startup.
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/units.h"

namespace kepler::status {

/// Rejected claims of an id that belongs to another workload.
struct RefusedClaims {
  uint64_t containers = 0;  // each is counted as a container with its own id; pods likewise
  uint64_t pods = 0;
  uint64_t vms = 0;  // counted as plain processes
};

/// The agent's own work. Filled by pipeline/.
struct PipelineStatus {
  uint64_t ticks = 0;
  uint64_t missed_ticks = 0;  // ticks missed because a tick was running or the machine was suspended
  uint64_t failed_ticks = 0;  // ticks in which no process could be listed
  uint64_t unpublished = 0;   // ticks without a snapshot because readers held all snapshots
  Nanoseconds tick_time{0};   // wall time spent in ticks
  Nanoseconds tick_cpu{0};    // CPU time of the collection thread spent in ticks
  Nanoseconds skew{0};        // last tick: time between the activity reading and the energy reading
  RefusedClaims refused_claims{};
};

/// Resources used by the agent process. Filled by daemon/.
struct SelfStatus {
  Nanoseconds cpu{0};  // user + system
  uint64_t open_fds = 0;
  uint64_t max_fds = 0;
  uint64_t virtual_memory_bytes = 0;
  uint64_t virtual_memory_max_bytes = 0;  // the largest uint64 if there is no limit
  uint64_t resident_memory_bytes = 0;
  WallTime start_time{};
  // bytes of the network namespace; not exported if unknown
  std::optional<uint64_t> network_receive_bytes = std::nullopt;
  std::optional<uint64_t> network_transmit_bytes = std::nullopt;
};

}  // namespace kepler::status
