#pragma once
// Models and machines from files. A model has a directory with model.json, and card.md for people.
#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"
#include "model/machine.h"
#include "model/machine_json.h"
#include "model/power_model.h"

namespace kepler::lab::files {

inline constexpr char kModelFile[] = "/model.json";
inline constexpr char kCardFile[] = "/card.md";
/// Of a file about machines: a database of node types has some kilobytes.
inline constexpr size_t kMaxMachineBytes = size_t{16} << 20;

/// Reads the model of a directory or a file: also a weight file (weight.json in its directory), or a file of XGBoost,
/// whose watts are those of `component`, with `features` if the file does not name its features. A file without a name
/// of its own gets that of model::NameOfFile(). Errors name the file.
[[nodiscard]] Result<model::PowerModel> ReadModel(const std::string& path, std::span<const std::string> features,
                                                  model::Component component = model::Component::kPackage);

/// The text of model.json: of a model that passes Check() and that the other commands can read.
[[nodiscard]] Result<std::string> ModelText(const model::PowerModel& model);

/// Reads a machine from a JSON file (model/machine_json.h), or from pairs such as "cores=8,chips=1"
/// (model/machine_pairs.h) if no such file exists. Errors name the file. kNotFound if a file says nothing about the
/// machine.
[[nodiscard]] Result<model::MachineSpec> ReadMachine(const std::string& path_or_pairs);
/// The same, or a file with several machines by name (model::ReadMachinesJson).
[[nodiscard]] Result<model::MachinesByName> ReadMachines(const std::string& path_or_pairs);
/// The mistake in such pairs; none for the path of a file, which is not read.
[[nodiscard]] Status CheckMachinePairs(const std::string& path_or_pairs);

}  // namespace kepler::lab::files
