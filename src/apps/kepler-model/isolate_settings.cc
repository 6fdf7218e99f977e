#include "apps/kepler-model/isolate.h"

namespace kepler::model_tool {
namespace {

using settings::kAt;
using settings::Key;

constexpr Key kIsolateKeys[] = {
    Key("input", "input", "CSV file of measurements with all of a node's watts; -: standard input",
        kAt<&Isolating::input>, {.is_path = true, .required = true}),
    Key("output", "output", "CSV file for the same with what load adds; -: standard output", kAt<&Isolating::output>,
        {.is_path = true, .required = true}),
    Key("method", "method", "What is taken off the watts, as above", kAt<&Isolating::method>, {.choices = kMethods}),
    Key("load", "load",
        "min-idle: column that says how busy a row is; empty: bpf_cpu_time_ms, else cpu_instructions, else cpu_cycles",
        kAt<&Isolating::load>),
    Key("share", "share", "min-idle: percent of the rows, those with the least load, that idle power is looked for in",
        kAt<&Isolating::share>, {.min = 0, .max = 100}),
    Key("percentile", "percentile", "min-idle: which percentile of their watts it is", kAt<&Isolating::percentile>,
        {.min = 0, .max = 100}),
    Key("profile", "profile", R"(profile: JSON file of idle watts: {"package": 31.5, "dram": 4})",
        kAt<&Isolating::profile>, {.is_path = true}),
    Key("idle", "idle", "profile: CSV file of an idle machine instead, whose median counts", kAt<&Isolating::idle>,
        {.is_path = true}),
    Key("model", "model", "background: directory of a model of all watts (AbsPower)", kAt<&Isolating::model>,
        {.is_path = true}),
    Key("background", "background",
        "background: CSV file of the machine without the load; without it, columns background_FEATURE of the input",
        kAt<&Isolating::background>, {.is_path = true}),
    Key("json", "json", "Print what was taken off as JSON", kAt<&Isolating::json>),
};

}  // namespace

const settings::TableOf<Isolating> kIsolateTable(kIsolateKeys);

const std::string_view kAboutIsolate = R"(Makes what load adds (DynPower) of all of a node's watts (AbsPower).

Of each column of watts (package_power, dram_watts) is taken off, never below 0:
  none        nothing
  min-idle    a low percentile of the watts of the rows with the least load, for each node
  profile     the idle watts of a file, or the median of those of an idle machine
  background  what a model of all watts says of the background alone; features lose their background too

Examples:
  kepler-model isolate --input=table.csv --output=dynamic.csv
  kepler-model isolate --input=table.csv --output=dynamic.csv --method=profile --idle=idle.csv
  kepler-model isolate --input=table.csv --output=dynamic.csv --method=background --model=model --background=idle.csv)";

void CheckIsolating(settings::Draft& draft, Isolating& config) {
  if (config.json && config.output == "-")
    draft.Reject("json", "needs another --output than -: both are standard output");
  if (config.method != Method::kMinIdle) {
    const Isolating usual;
    if (!config.load.empty()) draft.Reject("load", "is for --method=min-idle");
    if (config.share != usual.share) draft.Reject("share", "is for --method=min-idle");
    if (config.percentile != usual.percentile) draft.Reject("percentile", "is for --method=min-idle");
  }
  const bool by_profile = config.method == Method::kProfile;
  if (by_profile && config.profile.empty() == config.idle.empty())
    draft.Reject("profile", "or idle must say the idle watts, and not both");
  if (!by_profile && !config.profile.empty()) draft.Reject("profile", "is for --method=profile");
  if (!by_profile && !config.idle.empty()) draft.Reject("idle", "is for --method=profile");
  const bool by_model = config.method == Method::kBackground;
  if (by_model && config.model.empty()) draft.Reject("model", "must say what the background takes");
  if (!by_model && !config.model.empty()) draft.Reject("model", "is for --method=background");
  if (!by_model && !config.background.empty()) draft.Reject("background", "is for --method=background");
}

}  // namespace kepler::model_tool
