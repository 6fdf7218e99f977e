#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/kepler/agent.h"
#include "apps/kepler/config.h"
#include "apps/kepler/meter_survey.h"
#include "apps/kepler/rules.h"
#include "apps/kepler/run_command.h"
#include "apps/kepler/top_command.h"
#include "apps/kepler/wiring.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "daemon/run.h"
#include "http/server/server.h"
#include "report/command/report_command.h"
#include "settings/command_line.h"
#include "settings/print.h"

namespace {

using namespace kepler;

/// By default glibc gives a heap to each thread, and a free block of one heap does not serve the threads of another.
/// The agent has few threads, which seldom allocate at the same time.
void ShareHeaps() {
  constexpr int kHeaps = 2;
  mallopt(M_ARENA_MAX, kHeaps);
}

void PrintBanner(const agent::Config& effective) {
  if (!log::Enabled(log::Level::kInfo) || effective.log_format != log::Format::kText) return;
  std::string rule;
  for (int i = 0; i < 60; ++i) rule += "\u2500";
  log::WriteText("Configuration\n" + rule + "\n" + settings::Print(agent::kTable.Of(effective), true) + rule);
}

/// The rest of --config.check: what only the start sees. Whether it would start.
bool CheckStart(const settings::Parsed<agent::Config>& parsed) {
  log::Configure(log::Level::kError, log::Format::kText, log::Stream::kStderr);  // what is missing is no mistake
  const auto warning = agent::Agent::Check(parsed.config);
  if (!warning)
    std::fprintf(stderr, "%s\n", EscapeControls(settings::WithPlace(parsed, warning.error().message)).c_str());
  if (warning && !warning->empty()) std::printf("warning: %s\n", EscapeControls(*warning).c_str());
  return warning.has_value();
}

constexpr const char* kMetersHelp =
    "usage: kepler meters [--json] [<flags>]\n\n"
    "Prints every energy meter of this machine: whether the agent would use it, its power now, and why not.\n\n"
    "  --json    print JSON instead of a table\n"
    "  <flags>   the flags of the agent (kepler --help), for example --config.file: they decide which meters are "
    "used\n";

/// `kepler meters [--json] [FLAG]...`: prints the meters of this machine.
int RunMeters(std::vector<const char*> arguments, const BuildInfo& build) {
  arguments.erase(arguments.begin() + 1);
  const auto json = settings::TakeBool(arguments, "json");
  if (!json) {
    std::fprintf(stderr, "kepler meters: error: %s, try --help\n", EscapeControls(json.error().message).c_str());
    return EXIT_FAILURE;
  }
  auto parsed = agent::ParseCommandLine(arguments, build, {}, agent::Moment::kStart);
  if (parsed.action == settings::Action::kRun) {
    log::Configure(log::Level::kOff, log::Format::kText, log::Stream::kStderr);  // the table has the reasons
    const auto meters = agent::SurveyMeters(parsed.config, SystemClock(), std::chrono::seconds(1));
    parsed.text = *json ? MeterJson(meters) : MeterTable(meters);
  }
  if (parsed.action == settings::Action::kHelp) parsed.text = kMetersHelp;
  return settings::WriteOut(parsed, "kepler meters");
}

}  // namespace

int main(int argc, char** argv) {
  daemon::PrepareProcess();
  ShareHeaps();
  const BuildInfo build = daemon::ThisBuild();
  if (argc > 1 && std::string_view(argv[1]) == "meters") return RunMeters({argv, argv + argc}, build);
  if (argc > 1 && std::string_view(argv[1]) == "report")
    return report::command::RunReportCommand({argv, argv + argc}, build);
  if (argc > 1 && std::string_view(argv[1]) == "run") return agent::RunCommand({argv, argv + argc}, build);
  if (argc > 1 && std::string_view(argv[1]) == "top") return agent::TopCommand({argv, argv + argc}, build);
  const auto parse = [&](agent::Moment moment) {
    return agent::ParseCommandLine({argv, static_cast<size_t>(argc)}, build, {}, moment);
  };
  auto parsed = parse(agent::Moment::kStart);
  if (parsed.action == settings::Action::kHelp) parsed.to_stderr = true;  // as Kepler 0.11 (kingpin)
  if (parsed.action == settings::Action::kCheck && !CheckStart(parsed)) return EXIT_FAILURE;
  if (parsed.action != settings::Action::kRun) return settings::WriteOut(parsed, "kepler");
  agent::ConfigureLog(parsed.config);
  return daemon::Run("kepler", build.version, [&]() -> Result<std::unique_ptr<daemon::Service>> {
    for (const std::string& warning : parsed.warnings) log::Warn("configuration", {{"problem", warning}});
    PrintBanner(parsed.config);
    auto started = agent::Agent::Start(parsed.config, build, [&] { return parse(agent::Moment::kReload); });
    if (!started) started.error().message = settings::WithPlace(parsed, std::move(started.error().message));
    return started;
  });
}
