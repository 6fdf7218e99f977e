#pragma once
// MachineInfo: hardware attributes of a machine.
#include <cstdint>
#include <string>

namespace kepler {

/// An unknown attribute is empty or 0.
struct MachineInfo {
  std::string processor;  // name from the kernel or the firmware: "AMD EPYC 7763 64-Core Processor"
  uint32_t cpus = 0;      // logical, online
  uint32_t packages = 0;
  uint32_t memory_gib = 0;  // MemTotal, rounded down: slightly less than the installed memory
  uint32_t max_mhz = 0;
  uint32_t threads_per_core = 0;
  bool operator==(const MachineInfo&) const = default;
};

}  // namespace kepler
