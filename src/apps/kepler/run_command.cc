#include "apps/kepler/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "apps/kepler/gated_command.h"
#include "apps/kepler/rules.h"
#include "apps/kepler/run_report.h"
#include "apps/kepler/this_node.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "cgroup/command_group.h"
#include "report/command/report_file.h"
#include "settings/command_line.h"

namespace kepler::agent {
namespace {

constexpr const char* kHelp =
    "usage: kepler run [--json] [--output=<file>] [<flags>] -- <command> [<argument>]...\n\n"
    "Runs the command and reports the energy that it and everything it started used: joules, watts, CPU time and\n"
    "share of the machine. The report goes to stderr. The exit code is that of the command.\n\n"
    "  --json             report in JSON\n"
    "  --output=<file>    write the report to this file\n"
    "  <flags>            the flags of the agent (kepler --help), for example --config.file\n\n"
    "Needs root, or a cgroup that belongs to the user: systemd-run --user --scope kepler run -- <command>\n";

// As env(1), nice(1) and nohup(1).
constexpr int kNotMeasured = 125;
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

constexpr std::chrono::seconds kTick{1};
/// The kernel reports the last CPU time of a thread up to 30 ms after its end, and later after many ends
/// (activity/bpf/usage_audit.h).
constexpr std::chrono::milliseconds kRecordDelay{50};
constexpr int kMaxDelays = 20;
constexpr std::chrono::milliseconds kMissing{1};  // less than this is not waited for

struct RunOptions {
  bool json = false;
  std::string output{};  // "": stderr
  std::vector<std::string> argv{};
};

/// Takes the options of `run` and the command out of `arguments`, which become those of the agent.
Result<RunOptions> TakeOptions(std::vector<const char*>& arguments) {
  RunOptions options;
  const auto dashes = std::ranges::find_if(arguments, [](std::string_view argument) { return argument == "--"; });
  if (dashes != arguments.end()) options.argv.assign(dashes + 1, arguments.end());
  arguments.erase(dashes, arguments.end());
  arguments.erase(arguments.begin() + 1);
  KEPLER_TRY(options.json, settings::TakeBool(arguments, "json"));
  KEPLER_TRY(options.output, settings::TakeText(arguments, "output"));
  return options;
}

int Refuse(const std::string& why, int code) {
  std::fprintf(stderr, "kepler run: %s\n", EscapeControls(why).c_str());
  return code;
}

int CodeOf(const Error& error) { return error.kind == ErrorKind::kNotFound ? kNotFound : kNotExecutable; }

Result<cgroup::CommandGroup> MakeGroup(const Config& config, std::string_view id) {
  auto group = cgroup::CommandGroup::Create(config.host.sysfs, config.host.procfs, id);
  if (group || group.error().kind != ErrorKind::kPermission) return group;
  return Fail(ErrorKind::kPermission,
              group.error().message + "; run it as root, or with systemd-run --user --scope in front of it");
}

/// Takes ticks until the command has ended.
Status Measure(GatedCommand& command, ThisNode& node) {
  while (true) {
    KEPLER_TRY(const bool ended, command.WaitFor(kTick));
    if (ended) return {};
    node.tick().Run(0);
  }
}

int Run(const Config& config, const RunOptions& options) {
  // Before any other thread: the child is a copy of this one.
  auto command = GatedCommand::Start(options.argv);
  if (!command) return Refuse(command.error().message, kNotMeasured);
  const std::string id = cgroup::CommandId(options.argv.front(), command->pid());
  cgroup::CommandGroup::RemoveAbandoned(config.host.sysfs, config.host.procfs);
  const auto group = MakeGroup(config, id);
  if (!group) return Refuse(group.error().message, kNotMeasured);
  if (const Status added = group->Add(command->pid()); !added) return Refuse(added.error().message, kNotMeasured);
  const SystemClock clock;
  const auto node = ThisNode::Open(config, clock, nullptr);
  if (!node) return Refuse(node.error().message, kNotMeasured);
  const BootTime first_tick = clock.Now();
  (*node)->tick().Run(0);
  const BootTime begin = clock.Now();
  if (const Status let = command->LetGo(); !let) return Refuse(let.error().message, CodeOf(let.error()));
  if (const Status measured = Measure(*command, **node); !measured)
    return Refuse(measured.error().message, kNotMeasured);
  RunReport report;
  report.argv = options.argv;
  report.exit_code = command->exit_code();
  report.duration = clock.Now() - begin;
  report.left_running = group->processes();
  const Nanoseconds used = group->usage();
  for (int delay = 0; delay < kMaxDelays && (delay == 0 || report.cpu + kMissing < used); ++delay) {
    std::this_thread::sleep_for(kRecordDelay);
    (*node)->tick().Run(0);
    FillFrom(*(*node)->board().Latest(), first_tick, id, report);
  }
  report.outside = std::max(Nanoseconds(0), std::max(command->cpu_time(), used) - report.cpu);
  const std::string text = options.json ? RunJson(report) : RunText(report);
  if (const Status written = report::command::WriteReport(options.output, stderr, text); !written) {
    if (!options.output.empty()) std::fputs(text.c_str(), stderr);  // the command cannot be measured again
    return Refuse(written.error().message, report.exit_code);
  }
  return report.exit_code;
}

}  // namespace

int RunCommand(std::vector<const char*> arguments, const BuildInfo& build) {
  const auto taken = TakeOptions(arguments);
  if (!taken) return Refuse(fmt::format("error: {}, try --help", taken.error().message), kNotMeasured);
  const RunOptions& options = *taken;
  arguments.front() = "kepler run";  // for errors
  auto parsed = ParseCommandLine(arguments, build, {}, Moment::kStart);
  if (parsed.action == settings::Action::kHelp) parsed.text = kHelp;
  if (parsed.action == settings::Action::kReject) parsed.exit_code = kNotMeasured;
  const bool has_word = std::ranges::any_of(std::span(arguments).subspan(1),
                                            [](std::string_view argument) { return !argument.starts_with('-'); });
  if (parsed.action == settings::Action::kReject && options.argv.empty() && has_word)
    return Refuse("-- is missing before the command: kepler run [<flags>] -- <command>", kNotMeasured);
  if (parsed.action == settings::Action::kReject && !parsed.text.starts_with("kepler run: "))
    return Refuse("error: " + settings::OneLine(parsed), kNotMeasured);
  if (parsed.action != settings::Action::kRun) return settings::WriteOut(parsed, "kepler run");
  if (options.argv.empty() || options.argv.front().empty())
    return Refuse("there is no command after --; see kepler run --help", kNotMeasured);
  if (const Status writable = report::command::CheckReportPath(options.output); !writable)
    return Refuse(writable.error().message, kNotMeasured);
  log::Configure(std::max(parsed.config.log_level, log::Level::kError), log::Format::kText, log::Stream::kStderr);
  return Run(parsed.config, options);
}

}  // namespace kepler::agent
