#pragma once
// Facts that the files of a store state about their models, without the formulas: what a choice and a list need. The
// format is that of the published model server (0.7): a zip archive with metadata.json and a list of components, and
// weights as JSON. Watts. Pure; any thread.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/power_model.h"

namespace kepler::modelserver {

/// Numbers that a file states, by key: "mae", "mape", "package_mae" … Watts, and percent for mape. An unknown error has
/// no key.
using Stated = std::map<std::string, double, std::less<>>;

struct ArchiveSummary {
  std::string name;                   // "XgboostFitTrainer_0"
  std::string model_class;            // "scikit", "xgboost", "curvefit"; may be empty
  std::vector<std::string> features;  // as the file spells them
  Stated stated;
  // Name, output, canonical features, machine if stated, and errors. The predictors are placeholders that use every
  // feature.
  model::PowerModel outline;
};

/// Reads the archive of a model, whose files must be complete. kMalformed names the file in the archive.
[[nodiscard]] Result<ArchiveSummary> ReadArchiveSummary(std::string_view zip);

/// Weights as the agent of Kepler 0.7 reads them, with these keys at the top, unless the text has them: `model_name`
/// (selects the formula), `machine_spec`, `mae`. The other bytes of the object stay the same. kMalformed if `weights`
/// is not an object.
[[nodiscard]] Result<std::string> CompleteWeights(std::string_view weights, std::string_view model_name,
                                                  const std::optional<model::MachineSpec>& machine,
                                                  std::optional<double> mae);

/// The number of the node type at the end of a model's name: 3 of "SGDRegressorTrainer_3". Empty if there is none.
[[nodiscard]] std::optional<uint32_t> TypeOfName(std::string_view name);

/// Stated errors of a component model: "package_mae", "package_mape" of each, and the largest of them as "mae" and
/// "mape".
[[nodiscard]] Stated StatedErrors(const model::PowerModel& model);

}  // namespace kepler::modelserver
