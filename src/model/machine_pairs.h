#pragma once
// A machine as text of a command line: "processor=amd_epyc_7763,cores=128,chips=2,memory=512,frequency=2400". Pure.
#include <string_view>

#include "base/result.h"
#include "model/machine.h"

namespace kepler::model {

/// Parses KEY=VALUE pairs, separated by commas. Keys: processor, and the names of the numbers (kNumberAttributes), old
/// names too. The processor's name is normalised, and numbers, from 1 to 1,000,000, are rounded. An attribute that is
/// missing is unknown. kMalformed with the pair and what is right.
[[nodiscard]] Result<MachineSpec> ReadMachinePairs(std::string_view text);
/// kMalformed if the machine has more chips than cores, as in a description that counts the cores of one chip.
[[nodiscard]] Status CheckCores(const MachineSpec& machine);

}  // namespace kepler::model
