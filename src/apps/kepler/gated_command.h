#pragma once
// GatedCommand: a child process that waits before exec until the parent lets it, so that the parent can measure from
// the command's first instruction. The child keeps the terminal, directory, environment and standard descriptors of its
// parent. While it lives, this process ignores SIGINT and SIGQUIT, which the terminal sends to both, and passes SIGTERM
// and SIGHUP on. One object at a time; main thread; start it before any other thread.
#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"

namespace kepler::agent {

class GatedCommand {
 public:
  /// Starts the child. `argv` is the program, searched in PATH, and its arguments; not empty.
  [[nodiscard]] static Result<GatedCommand> Start(const std::vector<std::string>& argv);
  /// Kills a child that was never let go, and puts the handling of signals back.
  ~GatedCommand();
  GatedCommand(GatedCommand&& other) noexcept;
  GatedCommand& operator=(GatedCommand&&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Lets the child call exec. Errors: kNotFound, kPermission or others, if the program cannot be executed.
  [[nodiscard]] Status LetGo();
  /// Waits until the child has ended or `time` is over. Returns true if it has ended.
  [[nodiscard]] Result<bool> WaitFor(std::chrono::milliseconds time);
  /// After the end: the exit code, or 128 + the number of the signal, as a shell has it.
  [[nodiscard]] int exit_code() const { return exit_code_; }
  /// After the end: CPU time of the command and of all descendants that were waited for, in any cgroup.
  [[nodiscard]] Nanoseconds cpu_time() const { return cpu_time_; }

 private:
  GatedCommand() = default;
  struct SignalState {
    sigset_t mask;
    struct sigaction interrupt, quit;
  };
  void PassSignalsOn();
  void Collect();

  pid_t pid_ = -1;  // -1: collected
  UniqueFd gate_;   // the child waits for a byte
  UniqueFd error_;  // errno of a failed exec
  UniqueFd signals_;
  UniqueFd child_;
  std::optional<SignalState> before_;  // of this process; put back by the destructor
  std::string program_;
  int exit_code_ = 0;
  Nanoseconds cpu_time_{0};
};

}  // namespace kepler::agent
