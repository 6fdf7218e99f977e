#include "lab/files/model_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/text.h"
#include "lab/files/files.h"
#include "model/any_json.h"
#include "model/file_name.h"
#include "model/machine_pairs.h"
#include "model/model_json.h"

namespace kepler::lab::files {
namespace {

/// As the model server has it, in a directory with the name of the model.
constexpr char kWeightFile[] = "/weight.json";

bool ArePairs(const std::string& path_or_pairs) {
  std::error_code failed;
  return path_or_pairs.contains('=') && !std::filesystem::exists(path_or_pairs, failed);
}

}  // namespace

Result<model::PowerModel> ReadModel(const std::string& path, std::span<const std::string> features,
                                    model::Component component) {
  namespace fs = std::filesystem;
  std::error_code failed;
  std::string file = path;
  if (fs::is_directory(path, failed)) {
    file = path + kModelFile;
    if (!fs::exists(file, failed) && fs::exists(path + kWeightFile, failed)) file = path + kWeightFile;
  }
  KEPLER_TRY(const std::string text, ReadBounded(file, model::kMaxModelBytes));
  const std::string name = model::NameOfFile(file);
  return InFile(file, model::ReadAnyModelJson(text, {.name = name, .features = features, .component = component}));
}

Result<std::string> ModelText(const model::PowerModel& model) {
  KEPLER_CHECK_OK(model::Check(model));
  std::string text = model::WriteModelJson(model);
  if (text.size() > model::kMaxModelBytes)
    return Fail(ErrorKind::kInvalid,
                fmt::format("the model has {} MiB, and no more than {} are read; take fewer rows or columns, or a "
                            "trainer that does not keep its rows",
                            (text.size() >> 20) + 1, model::kMaxModelBytes >> 20));
  return text;
}

Status CheckMachinePairs(const std::string& path_or_pairs) {
  if (!ArePairs(path_or_pairs)) return {};
  KEPLER_TRY(const auto machine, model::ReadMachinePairs(path_or_pairs));
  return {};
}

Result<model::MachineSpec> ReadMachine(const std::string& path_or_pairs) {
  KEPLER_TRY(auto machines, ReadMachines(path_or_pairs));
  if (!machines.contains(""))
    return Fail(ErrorKind::kInvalid, path_or_pairs + ": it describes several machines; use the file of one machine");
  return std::move(machines[""]);
}

Result<model::MachinesByName> ReadMachines(const std::string& path_or_pairs) {
  const std::string& path = path_or_pairs;
  if (ArePairs(path)) {
    KEPLER_TRY(auto machine, InFile("machine", model::ReadMachinePairs(path)));
    return model::MachinesByName{{"", std::move(machine)}};
  }
  KEPLER_TRY(const std::string text, ReadBounded(path, kMaxMachineBytes));
  KEPLER_TRY(auto machines, InFile(path, model::ReadMachinesJson(text)));
  if (machines == model::MachinesByName{{"", {}}})
    return Fail(ErrorKind::kNotFound, path + ": no property of this machine is known");
  for (const auto& [name, machine] : machines)
    if (const auto checked = model::CheckCores(machine); !checked)
      return InFile(name.empty() ? path : fmt::format("{}: {}", path, EscapeControls(name)), checked.error());
  return machines;
}

}  // namespace kepler::lab::files
