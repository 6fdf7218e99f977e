#include <string_view>

#include "apps/kepler-model/pipeline.h"
#include "model/features.h"

namespace kepler::lab::tool {
namespace {

using settings::kAt;
using settings::Key;

constexpr Key kPipelineKeys[] = {
    Key("data", "data", "CSV file with one measurement per row, in order of time; -: standard input",
        kAt<&Pipeline::of, &Training::data>, {.is_path = true, .required = true, .argument = true}),
    Key("output", "output", "Directory for report.html and the models; it must be empty or missing",
        kAt<&Pipeline::of, &Training::output>, {.is_path = true, .required = true}),
    Key("groups", "groups", "Feature groups; none: every group that has all its columns in the table",
        kAt<&Pipeline::groups>),
    Key("target", "target",
        "Columns with measured watts; none: each of package_power, dram_power and so on that the table has",
        kAt<&Pipeline::target>),
    Key("component", "component", "Component of each target, if its name does not contain it",
        kAt<&Pipeline::of, &Training::component>),
    Key("trainers", "trainers", "Trainers; each group uses the best of them. train --help lists them",
        kAt<&Pipeline::trainers>),
    Key("maxMae", "max-mae",
        "Maximum MAE of a component, in watts; a component above it is left out of the model; 0: no limit",
        kAt<&Pipeline::limits, &judging::Limits::mae_watts>, {.min = 0}),
    Key("maxMape", "max-mape", "Maximum MAPE of a component, in percent, with the same effect; 0: no limit",
        kAt<&Pipeline::limits, &judging::Limits::mape>, {.min = 0}),
    Key("folds", "folds", "Column with the fold in which a row is tested, as in train",
        kAt<&Pipeline::of, &Training::folds>),
    Key("group", "group", "Column with the machine of a row, as in train", kAt<&Pipeline::of, &Training::group>),
    Key("machine", "machine", "Measured machine: JSON file written by kepler-model machine, or KEY=VALUE,...",
        kAt<&Pipeline::of, &Training::machine>, {.is_path = true}),
    Key("power", "power",
        "Kind of power; AbsPower: with idle power; DynPower: only power that load adds; auto: DynPower for columns of "
        "isolate (package_dynamic_power), else AbsPower",
        kAt<&Pipeline::of, &Training::power>, {.choices = kKindsOfPower}),
    Key("seed", "seed", "Seed of random choices; the same seed gives the same models",
        kAt<&Pipeline::of, &Training::seed>, {.min = 0, .max = 4'294'967'295}),
    Key("json", "json", "Print the figures as JSON", kAt<&Pipeline::json>),
};
}  // namespace

const settings::TableOf<Pipeline> kPipelineTable(kPipelineKeys);

const std::string_view kAboutPipeline =
    R"(Trains and judges a model of every feature group of a table, and writes a report.

In DIR (--output):
  report.html               errors of all models; for each component: predicted against measured, error by load, importance of
                            the features
  GROUP/model.json, card.md the model of each group, of the components within the limits
  GROUP/predictions.csv     the prediction of each tested row, for kepler-model plot

Exit code 1 if a component is within the limits by the best trainer of no group; the report is written then, too.

Examples:
  kepler-model pipeline --data=node.csv --machine=machine.json --output=models
  kepler-model pipeline --data=node.csv --machine=machine.json --max-mape=10 --trainers=linear,xgboost --output=models)";

void CheckPipeline(settings::Draft& draft, const Pipeline& config) {
  if (judging::SplitItems(config.trainers).empty()) draft.Reject("trainers", "has no trainer");
  for (const std::string& name : judging::SplitItems(config.trainers))
    if (const std::string why = WhyNoTrainer(name); !why.empty()) draft.Reject("trainers", why);
  for (const std::string& name : judging::SplitItems(config.groups))
    if (model::FindFeatureGroup(name) == nullptr)
      draft.Reject("groups", model::ResolveGroup(name, [](std::string_view) { return false; }).error().message);
  const std::vector<std::string> components = judging::SplitItems(config.of.component);
  if (config.target.empty() && !components.empty()) draft.Reject("component", "needs --target");
  if (config.target.empty()) return;
  if (const auto targets = judging::ResolveTargets(judging::SplitItems(config.target), components); !targets)
    draft.Reject("target", targets.error().message);
}

}  // namespace kepler::lab::tool
