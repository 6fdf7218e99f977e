#pragma once
// Features and sizes of the machines of a table's rows. What the table lacks comes from descriptions of the machines.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/judging/data.h"
#include "lab/training/samples.h"
#include "model/machine_json.h"
#include "model/power_model.h"

namespace kepler::lab::judging {

/// The machines of a table's rows: one machine of all rows, whose name is "", or one per name in a column.
struct Machines {
  model::MachinesByName by_name;  // may be empty: unknown
  std::string column;             // empty: MachineColumn() of the table
  std::string path;               // for errors
};

/// Returns the column with the machine of each row: "node" or "machine"; empty if there is no such column.
[[nodiscard]] std::string MachineColumn(const DataFile& data);

/// Reads --machine=`path`; no machine if `path` is empty. `column`: as in Machines.
[[nodiscard]] Result<Machines> ReadMachines(const std::string& path, std::string column);

/// Name of the model in the agent, which is not a file.
inline constexpr std::string_view kShippedModel = "default";
/// Reads a model file as files::ReadModel(). `path` may be kShippedModel, for the one machine in `machines`.
[[nodiscard]] Result<model::PowerModel> ReadModelFor(const std::string& path, const Machines& machines,
                                                     std::span<const std::string> features,
                                                     model::Component component = model::Component::kPackage);

/// Returns the attributes in which all machines of the table are equal; nothing if the processors differ.
[[nodiscard]] Result<std::optional<model::MachineSpec>> CommonMachine(const DataFile& data, const Machines& machines);

struct Inputs {
  training::Matrix features;
  std::vector<double> cores;  // logical CPUs of each row's machine; only for models per core
};

/// One column per feature. A column of the table counts first; an attribute without a column comes from `machines`. The
/// same applies to "cores" if `per` is kCore.
[[nodiscard]] Result<Inputs> ReadInputs(const DataFile& data, std::span<const std::string> features, model::Per per,
                                        const Machines& machines);

}  // namespace kepler::lab::judging
