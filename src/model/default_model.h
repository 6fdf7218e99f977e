#pragma once
// The shipped model, for machines that nobody has trained one for: the table of cpu_power.h as a PowerModel, and what
// of its watts are the processors' and the memory's. What it is good for: docs/default-model.md. Pure.
#include <cstdint>

#include "model/cpu_power.h"
#include "model/power_model.h"

namespace kepler::model {

/// How much of what a server draws at the wall one part of it is.
struct WallShare {
  double idle = 0;
  double full = 0;
};

/// Measured on ONE server with two processors, whose processors and memory RAPL metered and whose supply its BMC did
/// (data/nx12.csv): idle over its rows with least wall power, full over those with most, a tenth of all rows each (more
/// where they are equal). Other servers differ: fans, disks and power supplies are what is left.
inline constexpr WallShare kPackageOfWall{.idle = 0.196, .full = 0.488};
inline constexpr WallShare kDramOfWall{.idle = 0.227, .full = 0.166};

/// Of a machine with `cpus` logical CPUs like `row`. Its one feature is bpf_cpu_time_ms; platform is the table's
/// idle × CPUs + (full − idle) × busy CPUs, package and dram are straight lines between their shares of that at idle
/// and under full load. It states no training domain and no accuracy: see kStatedErrorAtFullLoad.
[[nodiscard]] PowerModel DefaultModel(const CpuPower& row, uint32_t cpus);

}  // namespace kepler::model
