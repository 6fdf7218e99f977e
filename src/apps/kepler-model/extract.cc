// kepler-model extract.
#include "dataset/extract.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "dataset/extract.h"
#include "dataset/recording_json.h"
#include "judging/data.h"
#include "model/json.h"
#include "model_files/files.h"

namespace kepler::model_tool {
namespace {

using settings::kAt;
using settings::Key;
using std::string_view_literals::operator""sv;

struct Extracting {
  std::string input;
  std::string output;
  dataset::MetricNames metrics = dataset::MetricNames::kAuto;
  double max_gap = 3;
  std::vector<std::string> node;
  std::vector<std::string> zones;
  std::string source;
  bool allow_estimates = false;
  bool json = false;
};

constexpr std::string_view kNames[] = {"auto"sv, "kepler"sv, "legacy"sv};

constexpr Key kExtractKeys[] = {
    Key("input", "input",
        "What kepler-model query has recorded, or the query of Kepler's model server; -: standard input",
        kAt<&Extracting::input>, {.is_path = true, .required = true}),
    Key("output", "output", "CSV file for the table; -: standard output", kAt<&Extracting::output>,
        {.is_path = true, .required = true}),
    Key("metrics", "metrics",
        "Whose metrics are taken; kepler: this agent's, legacy: those of Kepler up to 0.10, auto: what there is",
        kAt<&Extracting::metrics>, {.choices = kNames}),
    Key("max-gap", "max-gap", "A row may be so many times as long as the usual one", kAt<&Extracting::max_gap>,
        {.min = 1, .max = 1000}),
    Key("node", "node", "Nodes to take; none: all", kAt<&Extracting::node>),
    Key("zones", "zones", "Energies to take: package, dram, platform; none: all", kAt<&Extracting::zones>),
    Key("source", "source", "Of legacy metrics, the meter to take: rapl-sysfs, acpi; empty: the best for each energy",
        kAt<&Extracting::source>),
    Key("allow-estimates", "allow-estimates", "Take watts that a model has estimated as if they were measured",
        kAt<&Extracting::allow_estimates>),
    Key("json", "json", "Print what became of the recording as JSON", kAt<&Extracting::json>),
};
constexpr settings::TableOf<Extracting> kExtractTable(kExtractKeys);

constexpr std::string_view kAboutExtract = R"(Makes a table for train of what query has recorded.

A row is an interval between two readings of the energy: what the node did, per second, and its watts meanwhile. Intervals
in which a counter fell, that are too long or lack a counter are left out and counted. Watts of a model are not taken.

Examples:
  kepler-model extract --input=raw.json --output=table.csv
  kepler-model extract --input=raw.json --output=table.csv --zones=package,dram --node=worker-1,worker-2 --json)";

void CheckExtracting(settings::Draft& draft, Extracting& config) {
  if (config.json && config.output == "-")
    draft.Reject("json", "needs another --output than -: both are standard output");
}

std::string JsonList(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  quoted.reserve(texts.size());
  for (const std::string& text : texts) quoted.push_back(model::JsonText(text));
  return fmt::format("[{}]", fmt::join(quoted, ","));
}

std::string SummaryJson(const dataset::Extraction& out) {
  const dataset::Dropped& dropped = out.dropped;
  return fmt::format(
      R"({{"rows":{},"metrics":"{}","nodes":{},"columns":{},"dropped":{{"reset":{},"gap":{},"incomplete":{},"overlap":{},)"
      R"("duplicate_samples":{},"not_finite_samples":{}}},"notes":{}}})"
      "\n",
      out.rows.size(), kNames[static_cast<size_t>(out.names)], JsonList(out.nodes), JsonList(out.columns),
      dropped.resets, dropped.gaps, dropped.incomplete, dropped.overlaps, dropped.duplicates, dropped.not_finite,
      JsonList(out.notes));
}

std::string SummaryLine(const dataset::Extraction& out) {
  const dataset::Dropped& dropped = out.dropped;
  return fmt::format(
      "{} rows of {} nodes; left out: {} intervals with a counter that fell, {} too long, {} without some counter, {} "
      "of time that another scrape covers; {} samples that were there twice, {} not finite",
      out.rows.size(), out.nodes.size(), dropped.resets, dropped.gaps, dropped.incomplete, dropped.overlaps,
      dropped.duplicates, dropped.not_finite);
}

Result<dataset::Recording> ReadRecording(const Extracting& config) {
  KEPLER_TRY(const std::string text, model_files::ReadBounded(config.input, model_files::kMaxDataBytes));
  auto recording = dataset::ReadRecordingJson(text);
  if (!recording) return model_files::InFile(config.input, recording.error());
  return recording;
}

Status ExtractTable(const Extracting& config) {
  KEPLER_CHECK_OK(model_files::CheckWritable(config.output));
  KEPLER_CHECK_OK(model_files::CheckDistinct(std::array{config.input, config.output}));
  KEPLER_TRY(dataset::Recording recording, ReadRecording(config));
  const auto out = dataset::ExtractRows(std::move(recording), {.names = config.metrics,
                                                               .max_gap = config.max_gap,
                                                               .allow_estimates = config.allow_estimates,
                                                               .nodes = judging::SplitItems(config.node),
                                                               .zones = judging::SplitItems(config.zones),
                                                               .source = config.source});
  if (!out) return model_files::InFile(config.input, out.error());
  const model_files::OutputFile file{config.output, dataset::WriteTable(*out)};
  KEPLER_CHECK_OK(model_files::WriteFiles({&file, 1}));
  if (config.json) return PrintResult(SummaryJson(*out));
  for (const std::string& note : out->notes) Note(note);
  Note(SummaryLine(*out));
  return {};
}

}  // namespace

int RunExtract(std::span<const char* const> arguments) {
  return RunCommand<Extracting>("extract", kAboutExtract, arguments, kExtractTable, CheckExtracting, ExtractTable);
}

}  // namespace kepler::model_tool
