#include "lab/files/machine_file.h"

#include "lab/files/files.h"
#include "model/machine_json.h"

namespace kepler::lab::files {

Result<model::MachineSpec> ReadMachine(const std::string& path) {
  KEPLER_TRY(const std::string text, ReadBounded(path, kMaxMachineBytes));
  auto machine = model::ReadMachineJson(text);
  if (!machine) return InFile(path, machine.error());
  if (*machine == model::MachineSpec()) return Fail(ErrorKind::kNotFound, path + ": nothing is known of this machine");
  return machine;
}

}  // namespace kepler::lab::files
