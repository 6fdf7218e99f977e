#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "apps/kepler-model/train.h"
#include "base/parse.h"
#include "base/text.h"
#include "lab/judging/data.h"
#include "lab/training/trainer.h"
#include "model/features.h"

namespace kepler::lab::tool {
namespace {

using settings::kAt;
using settings::Key;
using std::string_view_literals::operator""sv;

constexpr std::string_view kPers[] = {"machine"sv, "core"sv};

constexpr Key kTrainKeys[] = {
    Key("data", "data", "CSV file with one measurement per row, in order of time; -: standard input",
        kAt<&Training::data>, {.is_path = true, .required = true}),
    Key("target", "target", "Columns with measured watts, for which the model is trained", kAt<&Training::target>),
    Key("component", "component",
        "Component of each target: package, core, uncore, dram or platform; none: from its name, as in package_power "
        "or package_watts",
        kAt<&Training::component>),
    Key("features", "features", "Feature columns, or a feature group (CounterOnly); other columns are ignored",
        kAt<&Training::features>, {.required = true}),
    Key("trainer", "trainer", "Trainer; auto: the best of several, by the error on unseen rows",
        kAt<&Training::trainer>),
    Key("set", "set", "Hyper-parameter NAME=NUMBER of the trainer, such as trees=200", kAt<&Training::set>),
    Key("search", "search",
        "Number of random hyper-parameter sets that auto tries in each fold (an upper limit if --budget is set)",
        kAt<&Training::search>, {.min = 0, .max = 100'000}),
    Key("budget", "budget", "Time limit of auto's search over all folds, in addition to its fixed list; 0s: no limit",
        kAt<&Training::budget>),
    Key("goodEnough", "good-enough", "MAE in watts, on blocks of training rows, at which auto ends its search",
        kAt<&Training::good_enough>),
    Key("seed", "seed",
        "Seed of random choices. The same seed gives the same model, except with --budget: then the model depends on "
        "the speed of the machine",
        kAt<&Training::seed>, {.min = 0, .max = 4'294'967'295}),
    Key("folds", "folds",
        "Column with the number of the fold that tests the row, from 0; -1: training only. Without --folds and "
        "--group: one fold per machine in the column node or machine, else five blocks of rows",
        kAt<&Training::folds>),
    Key("group", "group", "Column with the machine of a row; each machine is tested with models of the others",
        kAt<&Training::group>),
    Key("machine", "machine",
        "Measured machine: JSON file written by kepler-model machine, or of several by name, or "
        "processor=NAME,cores=N,chips=N,memory=GIB,frequency=MHZ; agents use models of similar machines",
        kAt<&Training::machine>, {.is_path = true}),
    Key("power", "power",
        "Kind of power; AbsPower: with idle power; DynPower: only power that load adds; auto: DynPower for columns of "
        "isolate (package_dynamic_power), else AbsPower",
        kAt<&Training::power>, {.choices = kKindsOfPower}),
    Key("per", "per", "Unit of the model; core: one logical CPU, so that the model serves machines of other sizes",
        kAt<&Training::per>, {.choices = kPers}),
    Key("name", "name", "Name of the model; empty: the name of its directory", kAt<&Training::name>),
    Key("modelVersion", "model-version", "Version of the model; a larger number is newer",
        kAt<&Training::model_version>, {.min = 0, .max = 4'294'967'295}),
    Key("output", "output", "Directory for model.json and card.md", kAt<&Training::output>,
        {.is_path = true, .required = true}),
    Key("predictions", "predictions", "CSV file for the prediction of each tested row, by a model that has not seen it",
        kAt<&Training::predictions>, {.is_path = true}),
    Key("json", "json", "Print the figures as JSON", kAt<&Training::json>),
};

constexpr std::string_view kAboutTrain = R"(Trains a power model on a table of measurements and prints its error.

All errors are of rows that were not used for training; the written model is trained on all rows. Lists are separated by commas,
or given by repeating the flag.

Examples:
  kepler-model machine >machine.json
  kepler-model train --data=node.csv --features=bpf_cpu_time_ms,bpf_net_rx_irq --machine=machine.json --output=model
  kepler-model train --data=fleet.csv --target=package_power,dram_power --features=bpf_cpu_time_ms,bpf_block_irq \
      --group=node --trainer=xgboost --output=fleet --json

Agents know CPU time and software interrupts (bpf_*) on every node. They know cpu_cycles, cpu_instructions and cache_miss
(CounterOnly) only with activity.counters: hardware, where the processor's counters can be read.

Trainers:
  auto                        the best of the trainers below, or a blend of them
)";

Status CheckSet(const Training& config) {
  if (config.set.empty()) return {};
  if (config.trainer == "auto")
    return Fail(ErrorKind::kInvalid, "auto selects hyper-parameters itself; name a trainer to set them");
  KEPLER_TRY(const training::TrainerOptions options, ReadSet(config.set));
  const training::Trainer* const trainer = training::FindTrainer(config.trainer);
  return trainer == nullptr ? Status() : training::CheckParameters(*trainer, options);
}

}  // namespace

const settings::TableOf<Training> kTrainTable(kTrainKeys);

std::string AboutTraining() {
  std::string about(kAboutTrain);
  for (const training::Trainer& trainer : training::Trainers())
    about += fmt::format("  {:27} {}{}\n", trainer.name, trainer.description,
                         trainer.upstream_name.empty() ? "" : fmt::format("; also {}", trainer.upstream_name));
  about += "\nHyper-parameters for --set, with defaults:\n";
  for (const training::Trainer& trainer : training::Trainers())
    about += fmt::format("  {:27} {}\n", trainer.name, training::ParametersOf(trainer));
  about += "\nFeature groups; of several with one name the first that has all its columns in the table:\n";
  for (const model::FeatureGroup& group : model::FeatureGroups())
    about += fmt::format("  {:27} {}\n", group.name, fmt::join(group.features, ", "));
  about.pop_back();
  return about;
}

std::string WhyNoTrainer(std::string_view given) {
  if (given == "auto" || training::FindTrainer(given) != nullptr) return {};
  std::vector<std::string_view> names = {"auto"};
  for (const training::Trainer& trainer : training::Trainers()) {
    names.push_back(trainer.name);
    if (!trainer.upstream_name.empty()) names.push_back(trainer.upstream_name);
  }
  const std::string_view nearest = NearestName(given, names);
  return fmt::format("no trainer '{}'; {}--help lists them", given,
                     nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest));
}

Result<training::TrainerOptions> ReadSet(std::span<const std::string> set) {
  training::TrainerOptions options;
  for (const std::string& text : judging::SplitItems(set)) {
    const size_t equals = std::min(text.find('='), text.size());
    const std::string_view name = Trim(std::string_view(text).substr(0, equals));
    const auto number = ParseNumber<double>(Trim(std::string_view(text).substr(std::min(equals + 1, text.size()))));
    if (name.empty() || !number || !std::isfinite(*number))
      return Fail(ErrorKind::kInvalid, fmt::format("'{}' is not NAME=NUMBER", text));
    if (!options.parameters.emplace(name, *number).second)
      return Fail(ErrorKind::kInvalid, fmt::format("parameter '{}' appears twice", name));
  }
  return options;
}

void CheckTraining(settings::Draft& draft, const Training& config) {
  const auto targets =
      judging::ResolveTargets(judging::SplitItems(config.target), judging::SplitItems(config.component));
  if (!targets) draft.Reject("target", targets.error().message);
  if (const auto features = judging::ResolveFeatures(judging::SplitItems(config.features)); !features)
    draft.Reject("features", features.error().message);
  if (const auto name = model::CheckName(config.name); !name) draft.Reject("name", name.error().message);
  if (const std::string why = WhyNoTrainer(config.trainer); !why.empty()) draft.Reject("trainer", why);
  if (config.budget < Duration{}) draft.Reject("budget", "must not be negative");
  if (!(config.good_enough >= 0)) draft.Reject("goodEnough", "must be a non-negative number of watts");
  const bool searches = config.search > 0 || config.budget > Duration{} || config.good_enough > 0;
  if (searches && config.trainer != "auto")
    draft.Reject("search",
                 "only auto searches; use --trainer=auto, or set the hyper-parameters of one trainer with "
                 "--set");
  if (config.good_enough > 0 && config.search == 0 && config.budget == Duration{})
    draft.Reject("goodEnough", "needs --search or --budget, too");
  if (const Status set = CheckSet(config); !set) draft.Reject("set", set.error().message);
}

}  // namespace kepler::lab::tool
