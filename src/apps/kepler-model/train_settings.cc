#include <fmt/format.h>

#include <string_view>

#include "apps/kepler-model/train.h"
#include "base/text.h"
#include "judging/data.h"
#include "training/trainer.h"

namespace kepler::model_tool {
namespace {

using settings::kAt;
using settings::Key;
using std::string_view_literals::operator""sv;

constexpr std::string_view kPowers[] = {"AbsPower"sv, "DynPower"sv};

constexpr Key kTrainKeys[] = {
    Key("data", "data", "CSV file of measurements, a row each, in the order of time; -: standard input",
        kAt<&Training::data>, {.is_path = true, .required = true}),
    Key("target", "target", "Columns of watts to learn", kAt<&Training::target>),
    Key("component", "component",
        "What each target is of: package, core, uncore, dram or platform; none: as its name says, package_power or "
        "package_watts",
        kAt<&Training::component>),
    Key("features", "features", "Columns to learn from, or a group of them (CounterOnly); other columns are ignored",
        kAt<&Training::features>, {.required = true}),
    Key("trainer", "trainer", "How to learn; auto: several, and what did best on rows that they had not seen",
        kAt<&Training::trainer>),
    Key("set", "set", "NAME=NUMBER for the trainer: trees=200", kAt<&Training::set>),
    Key("search", "search",
        "So many hyper-parameters at random that auto tries beside its own list, in each fit; with --budget: at most",
        kAt<&Training::search>, {.min = 0, .max = 100'000}),
    Key("budget", "budget",
        "How long auto may search in all, over all folds, beside its own list; 0s: as long as --search takes",
        kAt<&Training::budget>),
    Key("goodEnough", "good-enough", "MAE in watts, on blocks of the rows that train, at which auto ends its search",
        kAt<&Training::good_enough>),
    Key("seed", "seed",
        "What random choices start from; the same seed gives the same model, but with --budget it also depends on how "
        "fast the machine is",
        kAt<&Training::seed>, {.min = 0, .max = 4'294'967'295}),
    Key("folds", "folds",
        "Column that says by which fold a row is tested, from 0; -1: by none. Without it and --group, five blocks of "
        "rows",
        kAt<&Training::folds>),
    Key("group", "group", "Column that says which machine a row is of: each is tested by models of the others",
        kAt<&Training::group>),
    Key("machine", "machine",
        "JSON file of the machine that was measured, as kepler-model machine prints it; agents take models of machines "
        "like theirs",
        kAt<&Training::machine>, {.is_path = true}),
    Key("power", "power", "What the watts are; AbsPower: all, idle power included, DynPower: what load adds",
        kAt<&Training::power>, {.choices = kPowers}),
    Key("name", "name", "Name of the model; empty: that of its directory", kAt<&Training::name>),
    Key("modelVersion", "model-version", "Of two models of one name the one with the larger number is newer",
        kAt<&Training::model_version>, {.min = 0, .max = 4'294'967'295}),
    Key("output", "output", "Directory for model.json and card.md", kAt<&Training::output>,
        {.is_path = true, .required = true}),
    Key("predictions", "predictions",
        "CSV file for what each tested row was predicted to be, by a model that has not seen it",
        kAt<&Training::predictions>, {.is_path = true}),
    Key("json", "json", "Print the figures as JSON", kAt<&Training::json>),
};

constexpr std::string_view kAboutTrain = R"(Fits a power model to a table of measurements and says how far it is off.

Every figure is of rows that the fit had not seen; the model that is written has seen all of them. Lists are given with
commas or by repeating the flag.

Examples:
  kepler-model machine >machine.json
  kepler-model train --data=node.csv --features=bpf_cpu_time_ms,bpf_net_rx_irq --machine=machine.json --output=model
  kepler-model train --data=fleet.csv --target=package_power,dram_power --features=bpf_cpu_time_ms,bpf_block_irq \
      --group=node --trainer=xgboost --output=fleet --json

Agents know CPU time and software interrupts (bpf_*) on every node. They know cpu_cycles, cpu_instructions and cache_miss
(CounterOnly) only with activity.counters: hardware, where the processor's counters can be read.

Trainers:
  auto                        the best of those below, or a blend of them
)";

/// "name=number".
bool IsAssignment(std::string_view text) { return text.find('=') != std::string_view::npos && !text.starts_with('='); }

}  // namespace

const settings::TableOf<Training> kTrainTable(kTrainKeys);

std::string AboutTraining() {
  std::string about(kAboutTrain);
  for (const training::Trainer& trainer : training::Trainers())
    about += fmt::format("  {:27} {}{}\n", trainer.name, trainer.description,
                         trainer.upstream_name.empty() ? "" : fmt::format("; also {}", trainer.upstream_name));
  about.pop_back();
  return about;
}

void CheckTraining(settings::Draft& draft, const Training& config) {
  const auto targets =
      judging::ResolveTargets(judging::SplitItems(config.target), judging::SplitItems(config.component));
  if (!targets) draft.Reject("target", targets.error().message);
  if (const auto features = judging::ResolveFeatures(judging::SplitItems(config.features)); !features)
    draft.Reject("features", features.error().message);
  if (const auto name = model::CheckName(config.name); !name) draft.Reject("name", name.error().message);
  if (config.trainer != "auto" && training::FindTrainer(config.trainer) == nullptr) {
    std::vector<std::string_view> names = {"auto"};
    for (const training::Trainer& trainer : training::Trainers()) {
      names.push_back(trainer.name);
      if (!trainer.upstream_name.empty()) names.push_back(trainer.upstream_name);
    }
    const std::string_view nearest = NearestName(config.trainer, names);
    draft.Reject("trainer", fmt::format("no trainer '{}'{}{}; --help lists them", config.trainer,
                                        nearest.empty() ? "" : "; did you mean ", nearest));
  }
  if (config.budget < Duration{}) draft.Reject("budget", "less than nothing");
  if (!(config.good_enough >= 0)) draft.Reject("goodEnough", "not a number of watts from 0");
  const bool searches = config.search > 0 || config.budget > Duration{} || config.good_enough > 0;
  if (searches && config.trainer != "auto")
    draft.Reject("search", "only auto searches; take --trainer=auto, or give one trainer its numbers by --set");
  if (config.good_enough > 0 && config.search == 0 && config.budget == Duration{})
    draft.Reject("goodEnough", "without an end: give --search or --budget, too");
  if (!config.machine.empty() && !config.group.empty())
    draft.Reject("machine", "rows of several machines (--group) are of none in particular");
  if (!config.set.empty() && config.trainer == "auto")
    draft.Reject("set", "auto chooses by itself; name one trainer to set its numbers");
  for (const std::string& text : judging::SplitItems(config.set))
    if (!IsAssignment(text)) draft.Reject("set", fmt::format("'{}' is not NAME=NUMBER", text));
}

}  // namespace kepler::model_tool
