// kepler-model machine.
#include <fmt/format.h>

#include <string>

#include "apps/kepler-model/commands.h"
#include "lab/files/files.h"
#include "lab/files/model_file.h"
#include "model/machine_json.h"
#include "os/read_machine_info.h"

namespace kepler::lab::tool {
namespace {

using settings::kAt;
using settings::Key;

struct MachineQuery {
  std::string procfs = "/proc";
  std::string sysfs = "/sys";
  std::string machine;
  std::string types;
};

constexpr Key kMachineKeys[] = {
    Key("procfs", "procfs", "Path to the machine's procfs", kAt<&MachineQuery::procfs>, {.is_path = true}),
    Key("sysfs", "sysfs", "Path to the machine's sysfs", kAt<&MachineQuery::sysfs>, {.is_path = true}),
    Key("machine", "machine", "Machine to use instead of this one: JSON file, or KEY=VALUE,...",
        kAt<&MachineQuery::machine>, {.is_path = true}),
    Key("types", "types", "node_type_index.json of a model database: print the type nearest to the machine",
        kAt<&MachineQuery::types>, {.is_path = true}),
};
constexpr settings::TableOf<MachineQuery> kMachineTable(kMachineKeys);

constexpr std::string_view kAboutMachine = R"(Prints the description of this machine for models, as JSON.

It contains processor, logical CPUs, sockets, memory and maximum clock, and the processor's numbers (cpuid); unknown values are left
out. A similarity of 1 is the same machine. From 0.8 on agents use a model of that machine. In guests they compare only the processor.

Examples:
  kepler-model machine > machine.json
  kepler-model machine --types=node_type_index.json)";

Result<model::MachineSpec> FindMachine(const MachineQuery& config) {
  if (!config.machine.empty()) return files::ReadMachine(config.machine);
  return model::SpecOf(os::ReadMachineInfo(config.procfs, config.sysfs));
}

Status PrintMachine(const MachineQuery& config) {
  KEPLER_TRY(const model::MachineSpec machine, FindMachine(config));
  if (machine == model::MachineSpec())
    return Fail(ErrorKind::kNotFound, fmt::format("{}: no property of this machine is known",
                                                  config.machine.empty() ? config.procfs : config.machine));
  if (config.types.empty()) return PrintResult(model::WriteMachineJson(machine) + "\n");
  KEPLER_TRY(const std::string text, files::ReadBounded(config.types, files::kMaxMachineBytes));
  KEPLER_TRY(const auto types, files::InFile(config.types, model::ReadNodeTypesJson(text)));
  KEPLER_TRY(const auto found, files::InFile(config.types, model::FindNodeType(types, machine)));
  const model::NodeType& type = types[found.type];
  return PrintResult(fmt::format("{{\"type\":{},\"similarity\":{:.6f},\"uncertainty\":{:.6f},\"machine\":{}}}\n",
                                 type.number, found.similarity, found.uncertainty,
                                 model::WriteMachineJson(type.machine)));
}

}  // namespace

int RunMachine(std::span<const char* const> arguments) {
  return RunCommand<MachineQuery>("machine", kAboutMachine, arguments, kMachineTable, PrintMachine);
}

}  // namespace kepler::lab::tool
