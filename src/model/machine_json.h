#pragma once
// Machines as JSON: {"processor": "amd_epyc_7763", "cores": 128, "chips": 2, "memory_gib": 503, "frequency_mhz": 3500}.
// Also as the published model server (0.7) writes them: with "memory" and "frequency", in "attrs" or by themselves.
// Pure.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/machine.h"
#include "model/node_types.h"

namespace kepler::model {

/// What is missing or null is not known; the processor's name is normalised. kMalformed with the place, for a key that
/// is not known too, but for those of the model server (vendor, threads_per_core) that do not matter.
[[nodiscard]] Result<MachineSpec> ReadMachineJson(std::string_view text);
/// One line, without its end. What is not known is left out. Reading gives the same machine where its name is normal.
[[nodiscard]] std::string WriteMachineJson(const MachineSpec& machine);

/// node_type_index.json: {"0": {"attrs": {...}, "members": ["id", ...]}, ...}, by number.
[[nodiscard]] Result<std::vector<NodeType>> ReadNodeTypesJson(std::string_view text);

}  // namespace kepler::model
