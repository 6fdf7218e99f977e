#pragma once
// <procfs>/cpuinfo: what the processors are.
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_info.h"
#include "base/result.h"

namespace kepler::os {

/// kMalformed if there is not one processor in it.
[[nodiscard]] Result<std::vector<CpuInfo>> ParseCpuInfo(std::string_view text);
[[nodiscard]] Result<std::vector<CpuInfo>> ReadCpuInfo(const std::string& procfs);

}  // namespace kepler::os
