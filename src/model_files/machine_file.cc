#include "model_files/machine_file.h"

#include "model/machine_json.h"
#include "model_files/files.h"

namespace kepler::model_files {

Result<model::MachineSpec> ReadMachine(const std::string& path) {
  KEPLER_TRY(const std::string text, ReadBounded(path, kMaxMachineBytes));
  auto machine = model::ReadMachineJson(text);
  if (!machine) return InFile(path, machine.error());
  if (*machine == model::MachineSpec()) return Fail(ErrorKind::kNotFound, path + ": nothing is known of this machine");
  return machine;
}

}  // namespace kepler::model_files
