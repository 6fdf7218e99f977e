#include "apps/kepler/gated_command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>
#include <iterator>
#include <utility>

namespace kepler::agent {
namespace {

constexpr int kNotStarted = 127;

sigset_t SetOf(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

/// Between fork() and exec(): only async-signal-safe calls.
[[noreturn]] void WaitAndExec(char* const* argv, int gate, int error, pid_t parent, const sigset_t& mask) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // until it is let go
  if (getppid() != parent) _exit(kNotStarted);
  char byte = 0;
  ssize_t got = 0;
  while ((got = read(gate, &byte, 1)) < 0 && errno == EINTR) {
  }
  if (got != 1) _exit(kNotStarted);
  prctl(PR_SET_PDEATHSIG, 0);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execvp(argv[0], argv);
  const int why = errno;
  static_cast<void>(!write(error, &why, sizeof why));
  _exit(kNotStarted);
}

Status MakePipe(UniqueFd& in, UniqueFd& out) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return FailErrno("create", "pipe");
  in.Reset(ends[0]);
  out.Reset(ends[1]);
  return {};
}

}  // namespace

Result<GatedCommand> GatedCommand::Start(const std::vector<std::string>& argv) {
  GatedCommand command;
  command.program_ = argv.front();
  std::vector<std::string> texts = argv;
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  UniqueFd gate_in;
  UniqueFd error_out;
  KEPLER_CHECK_OK(MakePipe(gate_in, command.gate_));
  KEPLER_CHECK_OK(MakePipe(command.error_, error_out));
  const sigset_t passed = SetOf({SIGTERM, SIGHUP});
  command.before_.emplace();
  if (sigprocmask(SIG_BLOCK, &passed, &command.before_->mask) != 0) return FailErrno("block", "signals");
  sigaction(SIGINT, nullptr, &command.before_->interrupt);
  sigaction(SIGQUIT, nullptr, &command.before_->quit);
  command.signals_.Reset(signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!command.signals_.valid()) return FailErrno("create", "signalfd");
  const pid_t parent = getpid();
  command.pid_ = fork();
  if (command.pid_ < 0) return FailErrno("start", argv.front());
  if (command.pid_ == 0) {
    command.gate_.Reset();  // or the child would hold its own gate open
    WaitAndExec(pointers.data(), gate_in.get(), error_out.get(), parent, command.before_->mask);
  }
  for (const int number : {SIGINT, SIGQUIT}) signal(number, SIG_IGN);
  command.child_.Reset(static_cast<int>(syscall(SYS_pidfd_open, command.pid_, 0)));
  if (!command.child_.valid()) return FailErrno("watch", argv.front());
  return command;
}

GatedCommand::GatedCommand(GatedCommand&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      gate_(std::move(other.gate_)),
      error_(std::move(other.error_)),
      signals_(std::move(other.signals_)),
      child_(std::move(other.child_)),
      before_(std::exchange(other.before_, std::nullopt)),
      program_(std::move(other.program_)),
      exit_code_(other.exit_code_),
      cpu_time_(other.cpu_time_) {}

GatedCommand::~GatedCommand() {
  if (pid_ >= 0 && gate_.valid()) {
    kill(pid_, SIGKILL);
    Collect();
  }
  if (!before_) return;
  sigaction(SIGINT, &before_->interrupt, nullptr);
  sigaction(SIGQUIT, &before_->quit, nullptr);
  sigprocmask(SIG_SETMASK, &before_->mask, nullptr);
}

Status GatedCommand::LetGo() {
  if (write(gate_.get(), "", 1) != 1) return FailErrno("start", program_);
  gate_.Reset();
  int why = 0;
  ssize_t got = 0;
  while ((got = read(error_.get(), &why, sizeof why)) < 0 && errno == EINTR) {
  }
  if (got != sizeof why) return {};  // exec has closed the pipe
  Collect();
  return FailErrno("execute", program_, why);
}

Result<bool> GatedCommand::WaitFor(std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  pollfd polled[] = {{.fd = child_.get(), .events = POLLIN, .revents = 0},
                     {.fd = signals_.get(), .events = POLLIN, .revents = 0}};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() < 0) return false;
    const int ready = poll(polled, std::size(polled), static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) return FailErrno("wait for", program_);
    if (ready > 0 && polled[1].revents != 0) PassSignalsOn();
    if (ready <= 0 || polled[0].revents == 0) continue;
    Collect();
    return true;
  }
}

void GatedCommand::PassSignalsOn() {
  signalfd_siginfo info{};
  while (read(signals_.get(), &info, sizeof info) == sizeof info) kill(pid_, static_cast<int>(info.ssi_signo));
}

void GatedCommand::Collect() {
  int status = 0;
  rusage used{};
  while (wait4(pid_, &status, 0, &used) < 0 && errno == EINTR) {
  }
  for (const timeval& time : {used.ru_utime, used.ru_stime})
    cpu_time_ += std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  pid_ = -1;
  constexpr int kSignalled = 128;
  exit_code_ = WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace kepler::agent
