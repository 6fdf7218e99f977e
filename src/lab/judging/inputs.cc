#include "lab/judging/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/text.h"
#include "lab/files/files.h"
#include "lab/files/model_file.h"
#include "model/default_model.h"

namespace kepler::lab::judging {
namespace {

/// Returns the machine of each row. There is at least one machine.
Result<std::vector<const model::MachineSpec*>> MachinesOfRows(const DataFile& data, const Machines& machines) {
  if (const auto one = machines.by_name.find(""); one != machines.by_name.end() && machines.by_name.size() == 1)
    return std::vector(data.table.rows(), &one->second);
  const std::string column = machines.column.empty() ? MachineColumn(data) : machines.column;
  if (column.empty())
    return files::InFile(data.path,
                         {ErrorKind::kInvalid, fmt::format("{} describes several machines, but no column 'node' or "
                                                           "'machine' states the machine of each row",
                                                           machines.path)});
  KEPLER_TRY(const size_t index, FindColumn(data, column));
  std::vector<const model::MachineSpec*> of_rows;
  for (const std::string_view name : data.table.Texts(index)) {
    const auto found = machines.by_name.find(name);
    if (found == machines.by_name.end())
      return Fail(ErrorKind::kInvalid,
                  fmt::format("{}: no machine '{}' of column '{}', line {} of {}; add it", machines.path,
                              EscapeControls(name), column, data.table.LineOf(of_rows.size()), data.path));
    of_rows.push_back(&found->second);
  }
  return of_rows;
}

Result<std::vector<double>> ReadAttribute(const DataFile& data, std::string_view name, const Machines& machines) {
  if (machines.by_name.empty())
    return files::InFile(data.path, {ErrorKind::kInvalid, fmt::format("no column '{}' with this attribute of the "
                                                                      "machine; add it, or set --machine",
                                                                      name)});
  KEPLER_TRY(const auto of_rows, MachinesOfRows(data, machines));
  std::vector<double> values;
  values.reserve(of_rows.size());
  for (const model::MachineSpec* machine : of_rows) {
    const auto value = model::AttributeOf(*machine, name);
    if (!value)
      return Fail(
          ErrorKind::kInvalid,
          fmt::format("{}: a machine without \"{}\", and {} has no such column; add the attribute or the column",
                      machines.path, name, data.path));
    values.push_back(*value);
  }
  return values;
}

Result<std::vector<double>> ReadInput(const DataFile& data, std::string_view name, const Machines& machines) {
  KEPLER_TRY(const auto column, files::InFile(data.path, data.table.Find(name)));
  return column || !model::IsAttribute(name) ? ReadNumbers(data, name) : ReadAttribute(data, name, machines);
}

}  // namespace

std::string MachineColumn(const DataFile& data) {
  for (const char* const name : {"node", "machine"})
    if (std::ranges::find(data.table.names(), name) != data.table.names().end()) return name;
  return {};
}

Result<Machines> ReadMachines(const std::string& path, std::string column) {
  Machines machines{.by_name = {}, .column = std::move(column), .path = path};
  if (path.empty()) return machines;
  KEPLER_TRY(machines.by_name, files::ReadMachines(path));
  return machines;
}

Result<model::PowerModel> ReadModelFor(const std::string& path, const Machines& machines,
                                       std::span<const std::string> features, model::Component component) {
  if (path != kShippedModel) return files::ReadModel(path, features, component);
  const auto one = machines.by_name.find("");
  if (one == machines.by_name.end())
    return Fail(ErrorKind::kInvalid, "the model default needs --machine with one machine");
  model::MachineSpec machine = one->second;
  // A file of `kepler-model machine` has the maximum frequency, not the nominal one. The agent leaves it out, too.
  if (std::filesystem::exists(machines.path)) machine.frequency_mhz = 0;
  if (machine.cores == 0)
    return Fail(ErrorKind::kInvalid,
                machines.path + ": it has no number of cores, which the default model needs; add cores=N");
  return model::DefaultModel(machine);
}

Result<std::optional<model::MachineSpec>> CommonMachine(const DataFile& data, const Machines& machines) {
  if (machines.by_name.empty()) return std::nullopt;
  KEPLER_TRY(const auto of_rows, MachinesOfRows(data, machines));
  model::MachineSpec common = *of_rows.front();
  for (const model::MachineSpec* machine : of_rows) {
    if (machine->processor != common.processor) return std::nullopt;
    if (machine->cpuid != common.cpuid) common.cpuid = {};
    common.is_guest = common.is_guest && machine->is_guest;
    for (const model::NumberAttribute& number : model::kNumberAttributes)
      if (machine->*number.value != common.*number.value) common.*number.value = 0;
  }
  return common;
}

Result<Inputs> ReadInputs(const DataFile& data, std::span<const std::string> features, model::Per per,
                          const Machines& machines) {
  Inputs inputs;
  inputs.features.columns = features.size();
  inputs.features.values.resize(features.size() * data.table.rows());
  for (size_t column = 0; column < features.size(); ++column) {
    KEPLER_TRY(const std::vector<double> values, ReadInput(data, features[column], machines));
    for (size_t row = 0; row < values.size(); ++row)
      inputs.features.values[row * features.size() + column] = values[row];
  }
  if (per == model::Per::kMachine) return inputs;
  KEPLER_TRY(inputs.cores, ReadInput(data, "cores", machines));
  if (const auto wrong = std::ranges::find_if(inputs.cores, [](double cores) { return !(cores > 0); });
      wrong != inputs.cores.end())
    return files::InFile(data.path,
                         {ErrorKind::kMalformed,
                          fmt::format("line {}, column 'cores': {} is not a number of "
                                      "logical CPUs",
                                      data.table.LineOf(static_cast<size_t>(wrong - inputs.cores.begin())), *wrong)});
  return inputs;
}

}  // namespace kepler::lab::judging
