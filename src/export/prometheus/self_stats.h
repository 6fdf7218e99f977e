#pragma once
// What the `process` collector shows of the agent itself. Filled by the caller: this room does no I/O.
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/units.h"

namespace kepler::prometheus {

struct SelfStats {
  Nanoseconds cpu{0};  // user + system
  uint64_t open_fds = 0;
  uint64_t max_fds = 0;
  uint64_t virtual_memory_bytes = 0;
  uint64_t virtual_memory_max_bytes = 0;  // no limit: the largest uint64
  uint64_t resident_memory_bytes = 0;
  WallTime start_time{};
  std::optional<uint64_t> network_receive_bytes = std::nullopt;  // of the network namespace; not shown where unknown
  std::optional<uint64_t> network_transmit_bytes = std::nullopt;
};

}  // namespace kepler::prometheus
