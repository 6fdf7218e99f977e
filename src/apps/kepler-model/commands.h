#pragma once
// The commands of kepler-model. Each has a file with its settings, their table and what it does; all take their
// arguments behind the command's name and return the exit code: 0; 1 or kMachineFault with one line on stderr that says
// what failed; 2 for invalid flags.
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/judging/data.h"
#include "settings/command_line.h"

namespace kepler::lab::tool {

/// Exit code if the machine is at fault and not the input: the disk is full, a file may not be read or written, or the
/// certificate of a server is not trusted.
inline constexpr int kMachineFault = 3;

/// `argv` as main() has it.
[[nodiscard]] int RunProgram(std::span<const char* const> argv);

[[nodiscard]] int RunCollect(std::span<const char* const> arguments);
[[nodiscard]] int RunQuery(std::span<const char* const> arguments);
[[nodiscard]] int RunExtract(std::span<const char* const> arguments);
[[nodiscard]] int RunIsolate(std::span<const char* const> arguments);
[[nodiscard]] int RunTrain(std::span<const char* const> arguments);
[[nodiscard]] int RunPipeline(std::span<const char* const> arguments);
[[nodiscard]] int RunRetrain(std::span<const char* const> arguments);
[[nodiscard]] int RunRollback(std::span<const char* const> arguments);
[[nodiscard]] int RunPush(std::span<const char* const> arguments);
[[nodiscard]] int RunPull(std::span<const char* const> arguments);
[[nodiscard]] int RunEvaluate(std::span<const char* const> arguments);
[[nodiscard]] int RunValidate(std::span<const char* const> arguments);
[[nodiscard]] int RunPredict(std::span<const char* const> arguments);
[[nodiscard]] int RunPlot(std::span<const char* const> arguments);
[[nodiscard]] int RunMachine(std::span<const char* const> arguments);
[[nodiscard]] int RunExport(std::span<const char* const> arguments);
[[nodiscard]] int RunImport(std::span<const char* const> arguments);
[[nodiscard]] int RunServe(std::span<const char* const> arguments);
[[nodiscard]] int RunEstimator(std::span<const char* const> arguments);

/// One line on stderr.
void Note(std::string_view text);
/// As judging::RowsOfPower(); says how many rows are left out.
[[nodiscard]] Result<std::vector<size_t>> UsableRows(const judging::DataFile& data,
                                                     std::span<const judging::Target> targets,
                                                     std::span<const std::vector<double>> watts);
/// Removes the signature of an earlier model from a directory with a new, unsigned model.json. A note tells the user.
[[nodiscard]] Status RemoveSignature(const std::string& directory);
/// To stdout; a reader that went away or a full disk is an error.
[[nodiscard]] Status PrintResult(std::string_view text);

class Progress {
 public:
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Leaves an empty line.
  ~Progress();
  void Show(std::string_view text) const;
  /// The line is empty: another one may be written there, which then stays.
  void Clear() const;

 private:
  bool is_shown_;
};

/// Parses `arguments` as those of "kepler-model `command`" into `values`, and calls `work` unless they ask for help or
/// are wrong. Its error, or that of a library below it, is one line on stderr. `rules`: as
/// settings::ParseCommandLine().
[[nodiscard]] int RunCommand(std::string_view command, std::string_view about, std::span<const char* const> arguments,
                             const settings::Values& values, const std::function<void(settings::Draft&)>& rules,
                             const std::function<Status()>& work);

/// Rejects a mistake in --machine=KEY=VALUE,...
void CheckMachineFlag(settings::Draft& draft, const std::string& machine);

/// Also checks --machine of a command that has it.
template <class S>
[[nodiscard]] int RunCommand(
    std::string_view command, std::string_view about, std::span<const char* const> arguments,
    const settings::TableOf<S>& table, Status (*work)(const S& config),
    void (*rules)(settings::Draft&, const S&) = [](settings::Draft&, const S&) {}) {
  S config = {};
  return RunCommand(
      command, about, arguments, table.Of(config),
      [&](settings::Draft& draft) {
        rules(draft, config);
        if constexpr (requires { config.machine; }) CheckMachineFlag(draft, config.machine);
        if constexpr (requires { config.of.machine; }) CheckMachineFlag(draft, config.of.machine);
      },
      [&] { return work(config); });
}

}  // namespace kepler::lab::tool
