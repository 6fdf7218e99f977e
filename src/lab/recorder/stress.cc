#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "base/parse.h"
#include "base/unique_fd.h"
#include "lab/recorder/this_machine.h"

namespace kepler::lab::recorder {
namespace {

constexpr std::chrono::milliseconds kPatience{3000};  // between SIGTERM and SIGKILL
constexpr int kNotStarted = 127;

/// Runs in the child after fork(), so it calls nothing that takes a lock.
[[noreturn]] void BecomeProgram(const std::vector<char*>& argv, int output, pid_t parent) {
  ::setpgid(0, 0);
  // If this program is killed, stress-ng gets a signal and ends its children.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) _exit(kNotStarted);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGALRM, SIG_DFL);  // stress-ng needs it for --timeout
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0) _exit(kNotStarted);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output >= 0 ? output : nothing, STDOUT_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  ::execv(argv[0], argv.data());
  _exit(kNotStarted);
}

/// Starts the program in a new process group. Its stdout is `output`, or /dev/null if `output` is -1.
Result<pid_t> Spawn(std::vector<std::string> arguments, int output) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return FailErrno("start", arguments[0]);
  if (child == 0) BecomeProgram(argv, output, parent);
  ::setpgid(child, child);  // in both processes, because either may run first
  return child;
}

int WaitFor(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Result<std::string> FindStressNg() {
  const char* const path = std::getenv("PATH");
  Splitter folders(path == nullptr ? "/usr/bin:/bin" : path, ':');
  while (const auto folder = folders.Next()) {
    std::string program = fmt::format("{}/stress-ng", *folder);
    if (!folder->empty() && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return Fail(ErrorKind::kNotFound, "stress-ng is not installed; install the package stress-ng");
}

Result<std::set<std::string, std::less<>>> ListStressors(const std::string& program) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return FailErrno("make", "a pipe");
  const UniqueFd out(ends[0]);
  UniqueFd in(ends[1]);
  KEPLER_TRY(const pid_t child, Spawn({program, "--stressors"}, in.get()));
  in.Reset();
  std::string text;
  std::array<char, 4096> piece{};
  while (true) {
    const ssize_t got = ::read(out.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(piece.data(), static_cast<size_t>(got));
  }
  const int status = WaitFor(child);
  std::set<std::string, std::less<>> names;
  for (size_t at = 0; (at = text.find_first_not_of(" \t\r\n", at)) != std::string::npos;) {
    const size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
    names.insert(text.substr(at, end - at));
    at = end;
  }
  if (status != 0 || names.empty())
    return Fail(ErrorKind::kUnavailable, fmt::format("{} --stressors does not list its stressors", program));
  return names;
}

Result<Stress> Stress::Start(const std::string& program, const std::string& stressor, unsigned instances,
                             unsigned seconds) {
  KEPLER_TRY(const pid_t child, Spawn({program, fmt::format("--{}", stressor), fmt::format("{}", instances),
                                       "--timeout", fmt::format("{}s", seconds), "--temp-path", "/tmp", "--quiet"},
                                      -1));
  return Stress(child);
}

Stress::Stress(Stress&& other) noexcept : leader_(std::exchange(other.leader_, 0)), ending_(std::move(other.ending_)) {}

bool Stress::IsRunning() {
  if (leader_ == 0 || ending_) return false;
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(leader_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == leader_)
    ending_ = fmt::format("{} {}", info.si_code == CLD_EXITED ? "exit code" : "signal", info.si_status);
  return !ending_;
}

std::string Stress::Ending() const { return ending_.value_or(""); }

Stress::~Stress() {
  if (leader_ == 0) return;
  ::kill(-leader_, SIGTERM);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  constexpr std::chrono::milliseconds kLook{10};
  while (IsRunning() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(kLook);
  ::kill(-leader_, SIGKILL);  // also those that it has left behind
  WaitFor(leader_);
}

}  // namespace kepler::lab::recorder
