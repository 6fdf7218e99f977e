#include "apps/kepler-model/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "daemon/run.h"
#include "lab/files/model_file.h"
#include "model/power_model.h"

namespace kepler::lab::tool {
namespace {

constexpr int kWrongUsage = 2;
constexpr std::string_view kProgram = "kepler-model";

struct Command {
  std::string_view name;
  std::string_view about;
  int (*run)(std::span<const char* const> arguments);
};

constexpr Command kCommands[] = {
    {"query", "Record features and energies of nodes from a Prometheus server", RunQuery},
    {"collect", "Measure this machine under load of stress-ng", RunCollect},
    {"extract", "Convert a recording of query to a table for train", RunExtract},
    {"isolate", "Subtract idle power from node power", RunIsolate},
    {"train", "Train a power model on a table of measurements and print its error", RunTrain},
    {"pipeline", "Train a model of every feature group of a table and write a report", RunPipeline},
    {"retrain", "Train a model of a server's store anew, and publish it if it is better", RunRetrain},
    {"rollback", "Publish an earlier version of a model in a server's store", RunRollback},
    {"evaluate", "Compare predictions of a model with measurements", RunEvaluate},
    {"validate", "Check the error of a model on measurements against limits", RunValidate},
    {"predict", "Write the prediction of a model for each row of a table", RunPredict},
    {"plot", "Plot a table of measurements, or the errors of predictions", RunPlot},
    {"machine", "Print the description of this machine, or its type in a model database", RunMachine},
    {"export", "Pack a model into an archive", RunExport},
    {"import", "Convert an archive, or a model of another program, to a model", RunImport},
    {"serve", "Serve models to agents and to old clients of the model server", RunServe},
    {"push", "Upload a model and its signature to a model server", RunPush},
    {"pull", "Download a model from a model server and verify its signature", RunPull},
    {"estimator", "Estimate power for agents of Kepler 0.7 on a Unix socket", RunEstimator},
};

constexpr std::string_view kExamples = R"(
Examples:
  kepler-model query --server=http://prometheus:9090 --last=1h --output=raw.json
  kepler-model extract --input=raw.json --output=node.csv
  kepler-model machine >machine.json
  kepler-model train --data=node.csv --features=bpf_cpu_time_ms,bpf_net_rx_irq --machine=machine.json --output=model
  kepler-model evaluate --model=model --data=another-day.csv --json
  kepler-model predict --model=model --data=today.csv --output=watts.csv

"kepler-model COMMAND --help" lists the flags of a command.
)";

std::string HelpText() {
  std::string text =
      "usage: kepler-model <command> [<flags>]\n\nTrains and tests models that predict the power of a node from the "
      "activity of its CPUs.\n\nCommands:\n";
  for (const Command& command : kCommands) text += fmt::format("  {:10}{}\n", command.name, command.about);
  return text + "  --version Print the version and exit\n" + std::string(kExamples);
}

/// The one form of each mistake on the command line. `program`: "kepler-model" or "kepler-model COMMAND".
std::string MistakeText(std::string_view program, std::string_view why) {
  const std::string_view end = why.ends_with('?') ? " Try --help" : ", try --help";
  return EscapeControls(fmt::format("{}: error: {}{}", program, why, end)) + '\n';
}

int WrongUsage(std::string_view why) {
  std::fputs(MistakeText(kProgram, why).c_str(), stderr);
  return kWrongUsage;
}

/// Prints what was asked for, or why the command line is wrong.
int Answer(const settings::Outcome& outcome) {
  const int written = settings::WriteOut(outcome, kProgram);
  return outcome.action == settings::Action::kReject ? kWrongUsage : written;
}

/// Mistakes in settings as those in flags: each on a line that begins with "kepler-model COMMAND: error: ".
settings::Outcome InOneForm(std::string_view program, settings::Outcome outcome) {
  if (outcome.action != settings::Action::kReject || outcome.text.starts_with(program)) return outcome;
  const std::string text = std::exchange(outcome.text, {});
  Splitter lines(text, '\n');
  while (const auto line = lines.Next())
    if (!line->empty()) outcome.text += MistakeText(program, *line);
  return outcome;
}

// Libraries of trainers throw where memory ends.
int Finish(const std::function<Status()>& work) try {
  const Status done = work();
  if (done) return EXIT_SUCCESS;
  Note(done.error().message);
  const ErrorKind kind = done.error().kind;
  return kind == ErrorKind::kIo || kind == ErrorKind::kPermission ? kMachineFault : EXIT_FAILURE;
} catch (const std::bad_alloc&) {
  Note("out of memory; use fewer rows or columns");
  return EXIT_FAILURE;
} catch (const std::exception& error) {
  Note(error.what());
  return EXIT_FAILURE;
}

int RunWithoutCommand(std::string_view argument) {
  if (argument == "--help" || argument == "-h" || argument == "help")
    return Answer({.action = settings::Action::kHelp, .text = HelpText()});
  if (argument == "--version") return RunCommand({}, {}, std::array{"--version"}, {}, {}, {});
  if (argument.starts_with('-')) return WrongUsage(fmt::format("unknown flag '{}' before a command", argument));
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) names.push_back(command.name);
  const std::string_view nearest = NearestName(argument, names);
  return WrongUsage(fmt::format("unknown command '{}'{}", ShowUnlessSecret(argument, 80),
                                nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
}

/// `argument` with today's name of a kind of power; `before` is the argument before it.
std::string WithKindOfPower(std::string_view before, std::string_view argument) {
  constexpr std::string_view kFlag = "--power=";
  const bool is_whole = argument.starts_with(kFlag);
  const auto kind = model::OutputTypeOf(is_whole ? argument.substr(kFlag.size()) : argument);
  if (!kind || (!is_whole && before != "--power")) return std::string(argument);
  return fmt::format("{}{}", is_whole ? kFlag : "", model::Name(*kind));
}

}  // namespace

void Note(std::string_view text) {
  std::fputs(fmt::format("kepler-model: {}\n", EscapeControls(text)).c_str(), stderr);
}

Result<std::vector<size_t>> UsableRows(const judging::DataFile& data, std::span<const judging::Target> targets,
                                       std::span<const std::vector<double>> watts) {
  std::vector<judging::WattsColumn> columns;
  columns.reserve(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) columns.push_back({targets[i].column, watts[i]});
  KEPLER_TRY(std::vector<size_t> rows, judging::RowsOfPower(data, columns));
  if (const size_t left_out = data.table.rows() - rows.size(); left_out > 0)
    Note(fmt::format("{}: ignored {} of {} rows with power below 0 W", data.path, left_out, data.table.rows()));
  return rows;
}

void CheckMachineFlag(settings::Draft& draft, const std::string& machine) {
  if (const Status checked = files::CheckMachinePairs(machine); !checked)
    draft.Reject("machine", checked.error().message);
}

Progress::Progress() : is_shown_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { Clear(); }

void Progress::Clear() const {
  if (is_shown_) std::fputs("\r\x1b[K", stderr);
}

void Progress::Show(std::string_view text) const {
  if (is_shown_) std::fputs(fmt::format("\r\x1b[Kkepler-model: {}", text).c_str(), stderr);
}

Status RemoveSignature(const std::string& directory) {
  const std::string path = directory + files::kModelFile + ".sig";
  if (::unlink(path.c_str()) == 0)
    Note(fmt::format("removed {}: it was the signature of an earlier model", path));
  else if (errno != ENOENT && errno != ENOTDIR)
    return FailErrno("remove", path);
  return {};
}

Status PrintResult(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return {};
  return FailErrno("write to", "stdout");
}

int RunCommand(std::string_view command, std::string_view about, std::span<const char* const> arguments,
               const settings::Values& values, const std::function<void(settings::Draft&)>& rules,
               const std::function<Status()>& work) {
  const std::string program = fmt::format("{}{}{}", kProgram, command.empty() ? "" : " ", command);
  std::vector<std::string> texts;
  texts.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    texts.push_back(WithKindOfPower(i == 0 ? "" : arguments[i - 1], arguments[i]));
  std::vector<const char*> argv = {program.c_str()};
  for (const std::string& text : texts) argv.push_back(text.c_str());
  const settings::Outcome outcome =
      settings::ParseCommandLine(argv, {.name = kProgram, .about = about, .build = daemon::ThisBuild()}, values, rules);
  if (outcome.action != settings::Action::kRun) return Answer(InOneForm(program, outcome));
  for (const std::string& warning : outcome.warnings) Note(warning);
  return Finish(work);
}

int RunProgram(std::span<const char* const> argv) {
  if (argv.size() < 2) return WrongUsage("a command is missing");
  const std::string_view name = argv[1];
  for (const Command& command : kCommands)
    if (command.name == name) return command.run(argv.subspan(2));
  return RunWithoutCommand(name);
}

}  // namespace kepler::lab::tool
