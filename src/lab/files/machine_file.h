#pragma once
// The machine that a model is of, from a file.
#include <cstddef>
#include <string>

#include "base/result.h"
#include "model/machine.h"

namespace kepler::lab::files {

/// Of a file about machines: a database of node types has some kilobytes.
inline constexpr size_t kMaxMachineBytes = size_t{16} << 20;

/// What model/machine_json.h reads; errors name the path. kNotFound where it says nothing of the machine.
[[nodiscard]] Result<model::MachineSpec> ReadMachine(const std::string& path);

}  // namespace kepler::lab::files
