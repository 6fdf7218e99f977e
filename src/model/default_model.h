#pragma once
// The shipped model, for machines without a meter and without a trained model: wall power of servers by processor and
// size (default_table.h), with the shares of processors and memory. docs/default-model.md describes its accuracy. Pure.
#include "model/machine.h"
#include "model/power_model.h"

namespace kepler::model {

/// Share of one component in a server's wall power.
struct WallShare {
  double idle = 0;
  double full = 0;
  double mape = 0;  // error given the true wall power, in percent
};

/// Measured on ONE server with two processors (data/nx12.csv). RAPL metered the processors and the memory, and the BMC
/// metered the power supply. Idle is the tenth of all rows with the lowest wall power, full is the tenth with the
/// highest (more if rows are equal). Other servers differ. The remaining power is that of fans, disks and power
/// supplies.
inline constexpr WallShare kPackageOfWall{.idle = 0.196, .full = 0.488, .mape = 7.3};
inline constexpr WallShare kDramOfWall{.idle = 0.227, .full = 0.166, .mape = 9.3};

/// Returns the model of a machine, whose `frequency_mhz` is the nominal frequency here, not the maximum. Unknown chips
/// count as one, unknown memory and frequency as usual ones. A guest is a share of a usual server with its processor,
/// by cores. The model has one feature, bpf_cpu_time_ms; its name is that of the processors in the table. Platform is a
/// curve through 11 load levels. Package and dram are straight lines between their shares of platform at idle and at
/// full load. `unseen` is the error on server types outside the data; its watts are those at half load. For package and
/// dram it also contains the error of the share, which was measured on one server only.
[[nodiscard]] PowerModel DefaultModel(const MachineSpec& machine);

/// Returns false if the model of the machine is that of its vendor's newest processors, or of all processors.
[[nodiscard]] bool IsListedProcessor(const MachineSpec& machine);

}  // namespace kepler::model
