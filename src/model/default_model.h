#pragma once
// The built-in model, for machines without a trained model: the table of cpu_power.h as a PowerModel, with the shares
// of processors and memory. docs/default-model.md describes its accuracy. Pure.
#include <cstdint>

#include "model/cpu_power.h"
#include "model/power_model.h"

namespace kepler::model {

/// Share of one component in a server's wall power.
struct WallShare {
  double idle = 0;
  double full = 0;
};

/// Measured on ONE server with two processors (data/nx12.csv). RAPL metered the processors and the memory, and the BMC
/// metered the power supply. Idle is the tenth of all rows with the lowest wall power, full is the tenth with the
/// highest (more if rows are equal). Other servers differ. The remaining power is that of fans, disks and power
/// supplies.
inline constexpr WallShare kPackageOfWall{.idle = 0.196, .full = 0.488};
inline constexpr WallShare kDramOfWall{.idle = 0.227, .full = 0.166};

/// Returns the model of a machine with `cpus` logical CPUs like `row`. Its one feature is bpf_cpu_time_ms. Platform is
/// the table's idle × CPUs + (full − idle) × busy CPUs. Package and dram are straight lines between their shares of
/// platform at idle and at full load. The model states no training domain and no accuracy: see kStatedErrorAtFullLoad.
[[nodiscard]] PowerModel DefaultModel(const CpuPower& row, uint32_t cpus);

}  // namespace kepler::model
