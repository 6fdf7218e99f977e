#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>

#include "agent/agent.h"
#include "agent/build_info.h"
#include "agent/wiring.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "config/command_line.h"
#include "config/print.h"
#include "http/server/server.h"

namespace {

using kepler::agent::Agent;
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

/// The signals that the main thread waits for; blocked in every thread.
sigset_t BlockSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an error of that write
  return set;
}

/// Ends the process, as it does by default.
void LetThrough(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void PrintBanner(const config::Config& effective) {
  if (!log::Enabled(log::Level::kInfo) || effective.log.format != "text") return;
  FILE* out = effective.exporter.stdout_exporter.enabled ? stderr : stdout;
  const std::string rule = [] {
    std::string line;
    for (int i = 0; i < 60; ++i) line += "\u2500";
    return line;
  }();
  std::fprintf(out, "Configuration\n%s\n%s%s\n", rule.c_str(), config::PrintConfig(effective, true).c_str(),
               rule.c_str());
  std::fflush(out);
}

int Fail(const std::string& message) {
  log::Error("kepler cannot start", {{"err", message}});
  return EXIT_FAILURE;
}

void Reload(Agent& agent, int argc, const char* const* argv) {
  const auto fresh = config::ParseCommandLine(argc, argv, kepler::agent::ThisBuild());
  if (fresh.action == config::Action::kRun)
    agent.Reload(fresh.config, fresh.warnings);
  else
    log::Error("the new configuration is not used", {{"err", config::OneLine(fresh)}});
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

int Run(const config::Parsed& parsed, int argc, const char* const* argv) {
  const sigset_t signals = BlockSignals();
  kepler::agent::ConfigureLog(parsed.config);
  for (const std::string& warning : parsed.warnings) log::Warn("configuration", {{"problem", warning}});
  PrintBanner(parsed.config);

  const auto agent = StartAgent(parsed.config);
  if (!agent) return Fail(agent.error().message);
  malloc_trim(0);  // what loading the BPF programs took: the kernel's types are megabytes of small blocks
  log::Info("started", {{"version", kepler::agent::ThisBuild().version}, {"stop_with", "Ctrl+C or SIGTERM"}});

  while (true) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) continue;
    if (signal == SIGHUP) {
      Reload(**agent, argc, argv);
      continue;
    }
    log::Info("stopping", {{"signal", signal == SIGINT ? "SIGINT" : "SIGTERM"}});
    LetThrough({SIGINT, SIGTERM});  // who asks twice means at once; SIGHUP has nothing to reload any more
    (*agent)->Stop();
    return EXIT_SUCCESS;
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
    if (const auto web = kepler::http::CheckWebConfig(parsed.config.web.config_file); !web) {
      std::fprintf(stderr, "%s\n", kepler::EscapeControls(web.error().message).c_str());
      return EXIT_FAILURE;
    }
  }
  if (parsed.action != config::Action::kRun) return Print(parsed);
  return Run(parsed, argc, argv);
}
