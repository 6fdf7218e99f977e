#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "apps/kepler/agent.h"
#include "apps/kepler/config.h"
#include "apps/kepler/rules.h"
#include "apps/kepler/wiring.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "daemon/run.h"
#include "http/server/server.h"
#include "settings/command_line.h"
#include "settings/print.h"

namespace {

using namespace kepler;

void PrintBanner(const agent::Config& effective) {
  if (!log::Enabled(log::Level::kInfo) || effective.log_format != log::Format::kText) return;
  std::string rule;
  for (int i = 0; i < 60; ++i) rule += "\u2500";
  log::WriteText("Configuration\n" + rule + "\n" + settings::Print(agent::kTable.Of(effective), true) + rule);
}

/// The rest of --config.check: what only the start sees. Whether it would start.
bool CheckStart(const agent::Config& config) {
  log::Configure(log::Level::kError, log::Format::kText, log::Stream::kStderr);  // what is missing is no mistake
  const auto warning = agent::Agent::Check(config);
  if (!warning) std::fprintf(stderr, "%s\n", EscapeControls(warning.error().message).c_str());
  if (warning && !warning->empty()) std::printf("warning: %s\n", EscapeControls(*warning).c_str());
  return warning.has_value();
}

}  // namespace

int main(int argc, char** argv) {
  daemon::PrepareProcess();
  const BuildInfo build = daemon::ThisBuild();
  const auto parse = [&](agent::Moment moment) {
    return agent::ParseCommandLine({argv, static_cast<size_t>(argc)}, build, {}, moment);
  };
  const auto parsed = parse(agent::Moment::kStart);
  if (parsed.action == settings::Action::kCheck && !CheckStart(parsed.config)) return EXIT_FAILURE;
  if (parsed.action != settings::Action::kRun) return settings::WriteOut(parsed, "kepler");
  agent::ConfigureLog(parsed.config);
  return daemon::Run("kepler", build.version, [&]() -> Result<std::unique_ptr<daemon::Service>> {
    for (const std::string& warning : parsed.warnings) log::Warn("configuration", {{"problem", warning}});
    PrintBanner(parsed.config);
    return agent::Agent::Start(parsed.config, build, [&] { return parse(agent::Moment::kReload); });
  });
}
