#pragma once
// MachineInfo: what a machine says of its hardware.
#include <cstdint>
#include <string>

namespace kepler {

/// What is not known is empty or 0.
struct MachineInfo {
  std::string processor;  // as the kernel or the firmware names it: "AMD EPYC 7763 64-Core Processor"
  uint32_t cpus = 0;      // logical, online
  uint32_t packages = 0;
  uint32_t memory_gib = 0;  // MemTotal, rounded down: a little less than what is plugged in
  uint32_t max_mhz = 0;
  bool operator==(const MachineInfo&) const = default;
};

}  // namespace kepler
