#pragma once
// CpuInfo: details of one logical CPU.
#include <string>

namespace kepler {

/// Text from <procfs>/cpuinfo; "" if this architecture does not report the field.
struct CpuInfo {
  std::string processor;
  std::string vendor_id;   // Arm: "CPU implementer"
  std::string model_name;  // Arm without a name: "CPU part"
  std::string physical_id;
  std::string core_id;
  std::string cpu_family;  // Arm: "CPU architecture"
  std::string model;       // Arm: "CPU variant"
  std::string stepping{};
  std::string part{};  // Arm only
  bool operator==(const CpuInfo&) const = default;
};

}  // namespace kepler
