#pragma once
// Reads the numbers by which a processor is identified.
#include <span>
#include <string_view>

#include "base/cpu_info.h"
#include "base/machine_info.h"

namespace kepler::os {

/// Returns the identity of the first of `cpus`, with the features in the text of /proc/cpuinfo ("flags", on Arm
/// "Features"). Unknown if the vendor or the model number is missing.
[[nodiscard]] CpuId CpuIdOf(std::string_view cpuinfo, std::span<const CpuInfo> cpus);

}  // namespace kepler::os
