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

/// Of --config.check: the web file, which the server reads itself where it starts. Whether that is one.
bool CheckWebFile(const agent::Config& config) {
  if (config.web_config_file.empty()) return true;
  const auto warning = http::CheckWebConfig(config.web_config_file, config.listen_addresses);
  if (!warning) std::fprintf(stderr, "%s\n", EscapeControls(warning.error().message).c_str());
  if (warning && !warning->empty()) std::printf("warning: %s\n", EscapeControls(*warning).c_str());
  return warning.has_value();
}

}  // namespace

int main(int argc, char** argv) {
  daemon::PrepareProcess();
  const BuildInfo build = daemon::ThisBuild();
  const auto parse = [&] { return agent::ParseCommandLine({argv, static_cast<size_t>(argc)}, build); };
  const auto parsed = parse();
  if (parsed.action == settings::Action::kCheck && !CheckWebFile(parsed.config)) return EXIT_FAILURE;
  if (parsed.action != settings::Action::kRun) return settings::WriteOut(parsed, "kepler");
  agent::ConfigureLog(parsed.config);
  return daemon::Run("kepler", build.version, [&]() -> Result<std::unique_ptr<daemon::Service>> {
    for (const std::string& warning : parsed.warnings) log::Warn("configuration", {{"problem", warning}});
    PrintBanner(parsed.config);
    return agent::Agent::Start(parsed.config, build, parse);
  });
}
