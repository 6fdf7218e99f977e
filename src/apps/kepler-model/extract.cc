// kepler-model extract.
#include "lab/dataset/extract.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "json/document.h"
#include "lab/dataset/guests.h"
#include "lab/files/files.h"
#include "lab/judging/data.h"
#include "recording/recording_json.h"

namespace kepler::lab::tool {
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
  std::string host;
  std::vector<std::string> vm;
  bool allow_estimates = false;
  bool json = false;
};

constexpr std::string_view kNames[] = {"auto"sv, "kepler"sv, "legacy"sv};

constexpr Key kExtractKeys[] = {
    Key("input", "input", "Recording of kepler-model query or of Kepler's model server; -: standard input",
        kAt<&Extracting::input>, {.is_path = true, .required = true}),
    Key("output", "output", "CSV file for the table; -: standard output", kAt<&Extracting::output>,
        {.is_path = true, .required = true}),
    Key("metrics", "metrics",
        "Metrics to read; kepler: this agent's, legacy: Kepler's up to 0.10, auto: those in the recording",
        kAt<&Extracting::metrics>, {.choices = kNames}),
    Key("max-gap", "max-gap", "Maximum length of a row, as a multiple of the usual length", kAt<&Extracting::max_gap>,
        {.min = 1, .max = 1000}),
    Key("node", "node", "Nodes to read; none: all", kAt<&Extracting::node>),
    Key("zones", "zones", "Energies to read: package, dram, platform; none: all", kAt<&Extracting::zones>),
    Key("source", "source", "Meter of legacy metrics: rapl-sysfs, acpi; empty: the best for each energy",
        kAt<&Extracting::source>),
    Key("host", "host", "Recording of the hosts of the guests in --input, by query --vm; empty: --input has both",
        kAt<&Extracting::host>, {.is_path = true}),
    Key("vm", "vm",
        "Guests, as NODE=VM: the watts of a node are those that its host attributes to the virtual machine. VM without "
        "NODE: the node of that name, or the only node in --input",
        kAt<&Extracting::vm>),
    Key("allow-estimates", "allow-estimates", "Accept watts estimated by a model", kAt<&Extracting::allow_estimates>),
    Key("json", "json", "Print the summary as JSON", kAt<&Extracting::json>),
};
constexpr settings::TableOf<Extracting> kExtractTable(kExtractKeys);

constexpr std::string_view kAboutExtract = R"(Converts a recording of query to a table for train.

A row is the interval between two energy readings: activity of the node per second, and watts. Intervals with a decreasing or
missing counter, and too long intervals, are ignored and counted. Watts of a model are refused.

With --host or --vm a row has the features that the guest sees, and the watts that its host attributes to the virtual machine.

Examples:
  kepler-model extract --input=raw.json --output=table.csv
  kepler-model extract --input=raw.json --output=table.csv --zones=package,dram --node=worker-1,worker-2 --json
  kepler-model extract --input=guest.json --host=host.json --vm=web-1 --output=table.csv)";

void CheckExtracting(settings::Draft& draft, const Extracting& config) {
  if ((!config.host.empty() || !config.vm.empty()) && config.metrics == dataset::MetricNames::kLegacy)
    draft.Reject("metrics", "legacy metrics have no energy of virtual machines; record this agent's");
  if (config.json && config.output == "-")
    draft.Reject("json", "cannot be combined with --output=-, because both use standard output");
}

std::string SummaryJson(const dataset::Extraction& out) {
  const dataset::Dropped& dropped = out.dropped;
  return fmt::format(
      R"({{"rows":{},"metrics":"{}","nodes":{},"columns":{},"dropped":{{"reset":{},"gap":{},"incomplete":{},"overlap":{},)"
      R"("duplicate_samples":{},"not_finite_samples":{}}},"notes":{}}})"
      "\n",
      out.rows.size(), kNames[static_cast<size_t>(out.names)], json::QuoteList(out.nodes), json::QuoteList(out.columns),
      dropped.resets, dropped.gaps, dropped.incomplete, dropped.overlaps, dropped.duplicates, dropped.not_finite,
      json::QuoteList(out.notes));
}

std::string SummaryLine(const dataset::Extraction& out) {
  const dataset::Dropped& dropped = out.dropped;
  return fmt::format(
      "{} rows of {} nodes; ignored intervals: {} with a decreasing counter, {} too long, {} with a missing counter, "
      "{} covered by another scrape; ignored samples: {} duplicates, {} not finite",
      out.rows.size(), out.nodes.size(), dropped.resets, dropped.gaps, dropped.incomplete, dropped.overlaps,
      dropped.duplicates, dropped.not_finite);
}

/// Puts the watts of the virtual machines into the recording of the guests.
Result<dataset::Joined> JoinGuests(const Extracting& config, dataset::Recording& guests) {
  dataset::Recording host;
  if (!config.host.empty()) {
    KEPLER_TRY(const std::string text, files::ReadBounded(config.host, files::kMaxDataBytes));
    KEPLER_TRY(host, files::InFile(config.host, recording::ReadRecordingJson(text)));
  }
  std::vector<dataset::GuestVm> vms;
  for (const std::string& item : judging::SplitItems(config.vm)) vms.push_back(dataset::ParseGuestVm(item));
  return files::InFile(config.host.empty() ? config.input : config.host,
                       dataset::JoinHost(guests, std::move(host), vms));
}

Status ExtractTable(const Extracting& config) {
  KEPLER_CHECK_OK(files::CheckOutput(config.output, {config.input, config.host}));
  KEPLER_TRY(const std::string text, files::ReadBounded(config.input, files::kMaxDataBytes));
  KEPLER_TRY(auto recording, files::InFile(config.input, recording::ReadRecordingJson(text)));
  dataset::Joined joined;
  if (!config.host.empty() || !config.vm.empty()) {
    KEPLER_TRY(joined, JoinGuests(config, recording));
  }
  std::vector<std::string> nodes = judging::SplitItems(config.node);
  auto out = dataset::ExtractRows(std::move(recording), {.names = config.metrics,
                                                         .max_gap = config.max_gap,
                                                         .allow_estimates = config.allow_estimates,
                                                         .nodes = nodes.empty() ? joined.nodes : std::move(nodes),
                                                         .zones = judging::SplitItems(config.zones),
                                                         .source = config.source});
  if (!out) return files::InFile(config.input, out.error());
  out->notes.insert(out->notes.begin(), joined.notes.begin(), joined.notes.end());
  KEPLER_CHECK_OK(files::WriteFile(config.output, dataset::WriteTable(*out)));
  if (config.json) return PrintResult(SummaryJson(*out));
  for (const std::string& note : out->notes) Note(note);
  Note(SummaryLine(*out));
  return {};
}

}  // namespace

int RunExtract(std::span<const char* const> arguments) {
  return RunCommand<Extracting>("extract", kAboutExtract, arguments, kExtractTable, ExtractTable, CheckExtracting);
}

}  // namespace kepler::lab::tool
