// kepler-model collect.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "base/clock.h"
#include "http/retrying/retrying_server.h"
#include "lab/dataset/extract.h"
#include "lab/files/files.h"
#include "lab/files/model_file.h"
#include "lab/recorder/collection.h"
#include "lab/recorder/this_machine.h"
#include "model/machine_json.h"
#include "os/read_machine_info.h"
#include "recording/recording_json.h"

namespace kepler::lab::tool {
namespace {

using settings::kAt;
using settings::Key;

struct Collecting {
  std::string schedule = "default";
  std::string server = "http://127.0.0.1:28282";
  Duration duration = std::chrono::seconds(20);
  Duration idle = std::chrono::seconds(60);
  Duration pause = std::chrono::seconds(5);
  Duration interval = std::chrono::seconds(3);
  int64_t seed = 0;
  bool allow_estimates = false;
  bool dry_run = false;
  std::string output;
  bool json = false;
};

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr int64_t kDay = 86'400 * kNsPerSecond;

constexpr Key kCollectKeys[] = {
    Key("schedule", "schedule",
        "Comma-separated list of loads: STRESSOR (1, 2, 4 ... instances, up to the number of CPUs), STRESSOR:1+2+max "
        "(at most 4 per CPU), idle, or default (idle,cpu,branch,regs,l1cache,cache,stream,vm,switch)",
        kAt<&Collecting::schedule>),
    Key("server", "server", "URL of the agent on this machine", kAt<&Collecting::server>),
    Key("duration", "duration", "Duration of each load", kAt<&Collecting::duration>,
        {.min = kNsPerSecond, .max = kDay}),
    Key("idle", "idle", "Duration of idle phases", kAt<&Collecting::idle>, {.min = kNsPerSecond, .max = kDay}),
    Key("pause", "pause", "Pause between two loads", kAt<&Collecting::pause>, {.min = 0, .max = kDay}),
    Key("interval", "interval", "Time between two scrapes, and length of a row", kAt<&Collecting::interval>,
        {.min = kNsPerSecond / 10, .max = 3600 * kNsPerSecond}),
    Key("seed", "seed", "Seed of the order of loads; 0: the order of --schedule", kAt<&Collecting::seed>,
        {.min = 0, .max = 4'294'967'295}),
    Key("allow-estimates", "allow-estimates", "Accept watts estimated by a model", kAt<&Collecting::allow_estimates>),
    Key("dry-run", "dry-run", "Print the phases and exit", kAt<&Collecting::dry_run>),
    Key("output", "output", "CSV file for the table; machine.json in the same directory describes the machine",
        kAt<&Collecting::output>, {.is_path = true}),
    Key("json", "json", "Print the summary, or the phases, as JSON", kAt<&Collecting::json>),
};
constexpr settings::TableOf<Collecting> kCollectTable(kCollectKeys);

constexpr std::string_view kAboutCollect = R"(Measures this machine under load of stress-ng.

The agent must run on this machine and read a meter. First the machine is idle, then it is loaded in phases, each with a
stressor and a number of instances. Run nothing else. After SIGINT or SIGTERM the measured rows are written.

Examples:
  kepler-model collect --dry-run
  kepler-model collect --output=table.csv
  kepler-model collect --output=table.csv --schedule=cpu,stream:1+max --duration=30s --seed=7)";

double SecondsOf(Duration duration) { return std::chrono::duration<double>(duration).count(); }

unsigned Processors() { return static_cast<unsigned>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L)); }

Result<std::vector<dataset::Phase>> PhasesOf(const Collecting& config) {
  KEPLER_TRY(std::vector<dataset::Phase> phases, dataset::ParseSchedule(config.schedule, Processors()));
  dataset::Shuffle(phases, static_cast<uint64_t>(config.seed));
  return phases;
}

recorder::Pace PaceOf(const Collecting& config) {
  return {.duration = SecondsOf(config.duration),
          .idle = SecondsOf(config.idle),
          .pause = SecondsOf(config.pause),
          .interval = SecondsOf(config.interval)};
}

Result<http::retrying::Server> AgentOf(const Collecting& config) {
  KEPLER_TRY(http::retrying::Server server, http::retrying::ServerAt(config.server));
  if (!server.prefix.ends_with("/metrics")) server.prefix += "/metrics";
  server.accept = "text/plain;version=0.0.4";
  server.timeout = std::chrono::seconds(5);
  server.retries = 0;
  return server;
}

void CheckCollecting(settings::Draft& draft, const Collecting& config) {
  if (const auto phases = PhasesOf(config); !phases) draft.Reject("schedule", phases.error().message);
  if (const auto server = AgentOf(config); !server) draft.Reject("server", server.error().message);
  if (config.output.empty() && !config.dry_run) draft.Reject("output", "is required: the file for the table");
  if (config.output == "-")
    draft.Reject("output",
                 "must be a file, because machine.json is written to the same "
                 "directory");
  if (config.interval * 3 > config.duration) draft.Reject("interval", "must be at most a third of the duration");
  if (config.interval * 3 > config.idle) draft.Reject("interval", "must be at most a third of the idle time");
}

std::string PhasesJson(const std::vector<dataset::Phase>& phases, const recorder::Pace& pace) {
  std::string list;
  for (const dataset::Phase& phase : phases)
    list += fmt::format(R"({}{{"stressor":"{}","instances":{},"seconds":{}}})", list.empty() ? "" : ",", phase.stressor,
                        phase.instances, phase.instances == 0 ? pace.idle : pace.duration);
  return fmt::format(R"({{"phases":[{}],"seconds":{}}})"
                     "\n",
                     list, recorder::LengthOf(phases, pace));
}

/// Prints the phases that would be run here. Without stress-ng, names of unknown stressors stay among them.
Status PrintPhases(std::vector<dataset::Phase> phases, const recorder::Pace& pace, bool json) {
  const auto prepared = recorder::PrepareStressNg(phases, Note);
  if (!prepared && prepared.error().kind != ErrorKind::kNotFound) return std::unexpected(prepared.error());
  if (!prepared) Note("stress-ng is not installed, so the names of stressors are not checked");
  if (json) return PrintResult(PhasesJson(phases, pace));
  std::string out;
  for (const dataset::Phase& phase : phases)
    out += phase.instances == 0 ? fmt::format("{} for {:g} s\n", phase.stressor, pace.idle)
                                : fmt::format("{} x {} for {:g} s\n", phase.stressor, phase.instances, pace.duration);
  return PrintResult(out + fmt::format("{} phases, {:.0f} minutes with the pauses\n", phases.size(),
                                       std::ceil(recorder::LengthOf(phases, pace) / 60)));
}

std::string TableOfPhases(const dataset::Extraction& rows, const std::vector<size_t>& places,
                          const std::vector<dataset::Lasted>& lasted) {
  std::vector<dataset::TextColumn> columns = {{.name = "stressor"}, {.name = "instances"}, {.name = "phase"}};
  for (const size_t place : places) {
    columns[0].cells.push_back(lasted[place].phase.stressor);
    columns[1].cells.push_back(fmt::format("{}", lasted[place].phase.instances));
    columns[2].cells.push_back(fmt::format("{}", place));
  }
  return dataset::WriteTable(rows, columns);
}

dataset::ExtractOptions OptionsOf(const Collecting& config) {
  return {.names = dataset::MetricNames::kKepler, .allow_estimates = config.allow_estimates};
}

std::string MachinePathOf(const Collecting& config) {
  return std::filesystem::path(config.output).parent_path() / "machine.json";
}

std::string RawPathOf(const Collecting& config) { return config.output + ".raw.json"; }

/// What was measured is not thrown away where it makes no rows.
Status WriteRaw(const Collecting& config, const recorder::Collected& collected, const Error& why) {
  if (collected.recording.metrics.empty()) return std::unexpected(why);
  const std::string raw = RawPathOf(config);
  KEPLER_CHECK_OK(files::WriteFile(raw, recording::WriteRecordingJson(collected.recording)));
  return Fail(why.kind,
              fmt::format("{}{}; the recording is in {}", collected.was_stopped ? "stopped: " : "", why.message, raw));
}

Status WriteCollected(const Collecting& config, const recorder::Collected& collected) {
  auto rows = dataset::ExtractRows(collected.recording, OptionsOf(config));
  if (!rows) return WriteRaw(config, collected, rows.error());
  const size_t all = rows->rows.size();
  const std::vector<size_t> places = KeepRowsInPhases(*rows, collected.lasted);
  if (places.empty())
    return WriteRaw(config, collected,
                    {.kind = ErrorKind::kInvalid, .message = "no row is entirely within a phase; use longer phases"});
  std::vector<files::OutputFile> files = {{config.output, TableOfPhases(*rows, places, collected.lasted)}};
  const auto machine = model::SpecOf(os::ReadMachineInfo("/proc", "/sys"));
  files.push_back({MachinePathOf(config), model::WriteMachineJson(machine) + "\n"});
  KEPLER_CHECK_OK(files::WriteFiles(files));
  for (const std::string& note : rows->notes) Note(note);
  const std::string summary =
      fmt::format("{} rows of {} phases; {} between phases left out, {} scrapes and {} phases failed", places.size(),
                  collected.lasted.size(), all - places.size(), collected.failed_scrapes, collected.failed_phases);
  if (config.json)
    KEPLER_CHECK_OK(PrintResult(fmt::format(
        R"({{"rows":{},"phases":{},"between_phases":{},"failed_scrapes":{},"failed_phases":{},"stopped":{}}})"
        "\n",
        places.size(), collected.lasted.size(), all - places.size(), collected.failed_scrapes, collected.failed_phases,
        collected.was_stopped)));
  if (collected.was_stopped) return Fail(ErrorKind::kUnavailable, fmt::format("stopped before the end: {}", summary));
  if (!config.json) Note(summary);
  return {};
}

/// Whether the files can be written, asked before the work; says where what another machine is would be replaced.
Status CheckOutputs(const Collecting& config) {
  const std::string path = MachinePathOf(config);
  KEPLER_CHECK_OK(files::CheckFile(config.output));
  KEPLER_CHECK_OK(files::CheckFile(path));
  KEPLER_CHECK_OK(files::CheckFile(RawPathOf(config)));
  KEPLER_CHECK_OK(files::CheckDistinct(std::array{config.output, path}));
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) return {};
  const auto before = files::ReadMachine(path);
  const auto here =
      model::ReadMachineJson(model::WriteMachineJson(model::SpecOf(os::ReadMachineInfo("/proc", "/sys"))));
  if (!before || !here || *before != *here)
    Note(fmt::format("{} describes another machine and will be replaced", path));
  return {};
}

Status CollectTable(const Collecting& config) {
  KEPLER_TRY(std::vector<dataset::Phase> phases, PhasesOf(config));
  const recorder::Pace pace = PaceOf(config);
  if (config.dry_run) return PrintPhases(std::move(phases), pace, config.json);
  KEPLER_CHECK_OK(CheckOutputs(config));
  KEPLER_TRY(http::retrying::Server agent, AgentOf(config));
  KEPLER_TRY(std::string stress_ng, recorder::PrepareStressNg(phases, Note));
  const double wall = std::chrono::duration<double>(SystemClock().Wall().time_since_epoch()).count();
  std::optional<recorder::Collected> collected;
  {
    recorder::ThisMachine bench(std::move(agent), std::move(stress_ng), pace.duration, Note);
    KEPLER_TRY(collected, recorder::Collect(phases, pace, wall, OptionsOf(config), bench));
  }
  return WriteCollected(config, *collected);
}

}  // namespace

int RunCollect(std::span<const char* const> arguments) {
  return RunCommand<Collecting>("collect", kAboutCollect, arguments, kCollectTable, CollectTable, CheckCollecting);
}

}  // namespace kepler::lab::tool
