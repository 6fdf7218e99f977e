#pragma once
// Load of the machine: input of power models. Filled by pipeline/.
#include <cstdint>
#include <optional>

#include "base/hardware_events.h"
#include "base/units.h"

namespace kepler::status {

/// Software interrupts for input and output.
struct NodeSoftirqs {
  uint64_t block = 0;
  uint64_t net_rx = 0;
  uint64_t net_tx = 0;
};

/// Load of the machine since the first tick, as input for power models.
struct NodeFeatures {
  Nanoseconds cpu{0};                    // busy time of all processors: user, nice, system, irq, softirq
  Nanoseconds steal{0};                  // time that the hypervisor gave to other guests while this one was ready
  std::optional<uint64_t> cpus;          // online now
  std::optional<NodeSoftirqs> softirqs;  // empty if the kernel does not report them
  std::optional<uint64_t> context_switches;
  std::optional<uint64_t> page_faults;
  std::optional<uint64_t> used_memory;   // bytes now, not a counter
  std::optional<HardwareEvents> events;  // empty if they are not counted
};

}  // namespace kepler::status
