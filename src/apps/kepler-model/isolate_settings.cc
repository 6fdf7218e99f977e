#include "apps/kepler-model/isolate.h"

namespace kepler::lab::tool {
namespace {

using settings::kAt;
using settings::Key;

constexpr Key kIsolateKeys[] = {
    Key("input", "input", "CSV file of measurements with node power; -: standard input", kAt<&Isolating::input>,
        {.is_path = true, .required = true}),
    Key("output", "output", "CSV file for the result with dynamic power; -: standard output", kAt<&Isolating::output>,
        {.is_path = true, .required = true}),
    Key("method", "method", "Method, as above", kAt<&Isolating::method>, {.choices = kMethods}),
    Key("load", "load", "min-idle: column of load; empty: bpf_cpu_time_ms, else cpu_instructions, else cpu_cycles",
        kAt<&Isolating::load>),
    Key("share", "share", "min-idle: idle power is searched in this percentage of the rows, those with the least load",
        kAt<&Isolating::share>, {.min = 0, .max = 100}),
    Key("percentile", "percentile", "min-idle: percentile of the watts of these rows that is the idle power",
        kAt<&Isolating::percentile>, {.min = 0, .max = 100}),
    Key("profile", "profile", R"(profile: JSON file of idle watts: {"package": 31.5, "dram": 4})",
        kAt<&Isolating::profile>, {.is_path = true}),
    Key("idle", "idle", "profile: CSV file of an idle machine, whose median watts are used instead",
        kAt<&Isolating::idle>, {.is_path = true}),
    Key("model", "model", "background: directory of a model of all power (AbsPower)", kAt<&Isolating::model>,
        {.is_path = true}),
    Key("background", "background",
        "background: CSV file of the machine without the load; empty: columns background_FEATURE of the input",
        kAt<&Isolating::background>, {.is_path = true}),
    Key("json", "json", "Print the subtracted watts as JSON", kAt<&Isolating::json>),
};

}  // namespace

const settings::TableOf<Isolating> kIsolateTable(kIsolateKeys);

const std::string_view kAboutIsolate = R"(Subtracts idle power from node power (AbsPower -> DynPower).

The columns of watts (package_power, dram_watts) get the names package_dynamic_power, dram_dynamic_power; train makes
DynPower models of them. --method selects the watts that are subtracted from each column, never below 0:
  none        nothing
  min-idle    per node, a low percentile of the watts of the rows with the least load
  profile     the idle watts in a file, or the median watts of an idle machine
  background  the prediction of a model of all power for the background alone; also subtracted from the features

Examples:
  kepler-model isolate --input=table.csv --output=dynamic.csv
  kepler-model isolate --input=table.csv --output=dynamic.csv --method=profile --idle=idle.csv
  kepler-model isolate --input=table.csv --output=dynamic.csv --method=background --model=model --background=idle.csv)";

void CheckIsolating(settings::Draft& draft, const Isolating& config) {
  if (config.json && config.output == "-")
    draft.Reject("json", "cannot be combined with --output=-, because both use standard output");
  if (config.method != Method::kMinIdle) {
    const Isolating usual;
    if (!config.load.empty()) draft.Reject("load", "is for --method=min-idle");
    if (config.share != usual.share) draft.Reject("share", "is for --method=min-idle");
    if (config.percentile != usual.percentile) draft.Reject("percentile", "is for --method=min-idle");
  }
  const bool by_profile = config.method == Method::kProfile;
  if (by_profile && config.profile.empty() == config.idle.empty())
    draft.Reject("profile", "set --profile or --idle, not both");
  if (!by_profile && !config.profile.empty()) draft.Reject("profile", "is for --method=profile");
  if (!by_profile && !config.idle.empty()) draft.Reject("idle", "is for --method=profile");
  const bool by_model = config.method == Method::kBackground;
  if (by_model && config.model.empty()) draft.Reject("model", "must be set: the model of the background");
  if (!by_model && !config.model.empty()) draft.Reject("model", "is for --method=background");
  if (!by_model && !config.background.empty()) draft.Reject("background", "is for --method=background");
}

}  // namespace kepler::lab::tool
