#pragma once
// MachineInfo: hardware attributes of a machine.
#include <cstdint>
#include <string>
#include <vector>

namespace kepler {

/// Numbers that identify a processor in a guest, too: a hypervisor may hide the name.
struct CpuId {
  std::string vendor;  // "GenuineIntel"; Arm: the implementer, "0x41"; empty: unknown
  uint32_t family = 0;
  uint32_t model = 0;                   // Arm: the part
  std::vector<std::string> features{};  // instruction sets in use, sorted; a hypervisor may hide some
  bool operator==(const CpuId&) const = default;
};

/// An unknown attribute is empty or 0.
struct MachineInfo {
  std::string processor;  // name from the kernel or the firmware: "AMD EPYC 7763 64-Core Processor"
  uint32_t cpus = 0;      // logical, online
  uint32_t packages = 0;
  uint32_t memory_gib = 0;  // MemTotal, rounded down: slightly less than the installed memory
  uint32_t max_mhz = 0;
  uint32_t threads_per_core = 0;
  CpuId cpuid{};
  bool is_guest = false;  // a virtual machine, which sees only a part of its host
  bool operator==(const MachineInfo&) const = default;
};

}  // namespace kepler
