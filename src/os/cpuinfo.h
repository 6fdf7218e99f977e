#pragma once
// <procfs>/cpuinfo: what the processors are.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::os {

/// One logical processor. Text as the kernel wrote it; "" where this architecture does not say.
struct CpuInfo {
  std::string processor;
  std::string vendor_id;   // Arm: "CPU implementer"
  std::string model_name;  // Arm without a name: "CPU part"
  std::string physical_id;
  std::string core_id;
  std::string cpu_family;  // Arm: "CPU architecture"
  std::string model;       // Arm: "CPU variant"
  bool operator==(const CpuInfo&) const = default;
};

/// kMalformed if there is not one processor in it.
[[nodiscard]] Result<std::vector<CpuInfo>> ParseCpuInfo(std::string_view text);
[[nodiscard]] Result<std::vector<CpuInfo>> ReadCpuInfo(const std::string& procfs);

}  // namespace kepler::os
