#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "agent/agent.h"
#include "agent/build_info.h"
#include "agent/life_signs.h"
#include "agent/signals.h"
#include "agent/wiring.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "config/command_line.h"
#include "config/print.h"
#include "http/server/server.h"
#include "os/service_manager.h"

namespace {

using kepler::agent::Agent;
using kepler::agent::LifeSigns;
using kepler::agent::Signals;
using kepler::os::ServiceManager;
namespace config = kepler::config;
namespace log = kepler::log;

/// A standard descriptor that is closed would go to the next thing that is opened, and log lines into that. It stays as
/// useless as it was: what is asked for and cannot be printed is an error.
void OpenStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (fcntl(fd, F_GETFD) == -1)  // the lowest free number, which is this one
      open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

/// Gives large blocks mappings of their own, so that a freed one goes back to the kernel. By itself glibc raises this
/// limit with the first exposition that is freed and keeps up to twice its size (mallopt(3)): 16 MB at 10,000
/// processes.
void ReturnLargeBlocks() {
  constexpr int kLarge = 1024 * 1024;
  mallopt(M_MMAP_THRESHOLD, kLarge);
}

void PrintBanner(const config::Config& effective) {
  if (!log::Enabled(log::Level::kInfo) || effective.log.format != "text") return;
  const std::string rule = [] {
    std::string line;
    for (int i = 0; i < 60; ++i) line += "\u2500";
    return line;
  }();
  log::WriteText("Configuration\n" + rule + "\n" + config::PrintConfig(effective, true) + rule);
}

/// The exit code. A reader of the log that stands still has this long to go on.
int EndWith(int code) {
  constexpr std::chrono::seconds kLastWords{1};
  log::Flush(kLastWords);
  return code;
}

int Fail(const std::string& message) {
  log::Error("kepler cannot start", {{"err", message}});
  return EndWith(EXIT_FAILURE);
}

void Reload(Agent& agent, int argc, const char* const* argv) {
  const auto fresh = config::ParseCommandLine(argc, argv, kepler::agent::ThisBuild());
  if (fresh.action == config::Action::kRun)
    agent.Reload(fresh.config, fresh.warnings);
  else
    agent.RefuseReload(config::OneLine(fresh));
}

/// What libraries throw where memory or descriptors end is one more error of the start.
kepler::Result<std::unique_ptr<Agent>> StartAgent(const config::Config& effective) try {
  KEPLER_TRY(auto agent, Agent::Create(effective, kepler::agent::ThisBuild()));
  KEPLER_CHECK_OK(agent->Start());
  return agent;
} catch (const std::bad_alloc&) {
  return kepler::Fail(kepler::ErrorKind::kUnavailable,
                      "no memory is left; raise the limit of this agent (MemoryMax= of the unit, ulimit -v)");
} catch (const std::exception& error) {
  return kepler::Fail(kepler::ErrorKind::kUnavailable, error.what());
}

/// The agent, started; says what it has to say by the way.
kepler::Result<std::unique_ptr<Agent>> Start(const config::Parsed& parsed) {
  const Signals::Listening listening;
  kepler::agent::ConfigureLog(parsed.config);
  KEPLER_CHECK_OK(log::StartWriter());
  for (const std::string& warning : parsed.warnings) log::Warn("configuration", {{"problem", warning}});
  PrintBanner(parsed.config);
  KEPLER_TRY(auto agent, StartAgent(parsed.config));
  malloc_trim(0);  // what loading the BPF programs took: the kernel's types are megabytes of small blocks
  log::Info("started", {{"version", kepler::agent::ThisBuild().version}, {"stop_with", "Ctrl+C or SIGTERM"}});
  return agent;
}

/// The next signal. Meanwhile the service manager hears what it waits for.
int WaitForSignal(Signals& signals, const Agent& agent, LifeSigns& life) {
  while (true) {
    if (const auto signal = signals.Wait(life.period())) return *signal;
    life.Give(agent.IsLive());
  }
}

int Run(const config::Parsed& parsed, int argc, const char* const* argv) {
  Signals signals;
  auto agent = Start(parsed);
  if (!agent) return Fail(agent.error().message);
  const ServiceManager manager = ServiceManager::FromEnvironment();
  const kepler::SystemClock clock;
  LifeSigns life(manager, clock);
  life.Give((*agent)->IsLive());
  while (true) {
    const int signal = WaitForSignal(signals, **agent, life);
    if (signal == SIGHUP) {
      const Signals::Listening listening;
      Reload(**agent, argc, argv);
      continue;
    }
    Signals::BoundTheStop();
    life.Stopping();
    log::Info("stopping", {{"signal", signal == SIGINT ? "SIGINT" : "SIGTERM"}});
    agent->reset();
    return EndWith(EXIT_SUCCESS);
  }
}

/// The exit code. Who reads a file that a full disk has cut must not be told that all went well.
int Print(const config::Parsed& parsed) {
  FILE* out = parsed.to_stderr ? stderr : stdout;
  if (std::fputs(parsed.text.c_str(), out) >= 0 && std::fflush(out) == 0) return parsed.exit_code;
  std::fprintf(stderr, "kepler: cannot write to %s: %s\n", parsed.to_stderr ? "stderr" : "stdout",
               std::strerror(errno));
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  OpenStandardDescriptors();
  ReturnLargeBlocks();
  const auto parsed = config::ParseCommandLine(argc, argv, kepler::agent::ThisBuild());
  if (parsed.action == config::Action::kCheck && !parsed.config.web.config_file.empty()) {
    const auto warning =
        kepler::http::CheckWebConfig(parsed.config.web.config_file, parsed.config.web.listen_addresses);
    if (!warning) {
      std::fprintf(stderr, "%s\n", kepler::EscapeControls(warning.error().message).c_str());
      return EXIT_FAILURE;
    }
    if (!warning->empty()) std::printf("warning: %s\n", kepler::EscapeControls(*warning).c_str());
  }
  if (parsed.action != config::Action::kRun) return Print(parsed);
  return Run(parsed, argc, argv);
}
