#include "modelserver/jobs/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/unique_fd.h"

namespace kepler::modelserver::jobs {
namespace {

constexpr int kLowest = 19;
// Of <linux/ioprio.h>, which is no C++: the process, and the class that gets the disk when nobody else wants it.
constexpr int kIoOfProcess = 1;
constexpr int kIdleIo = 3 << 13;

void Limit(__rlimit_resource resource, size_t bytes) {
  const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
  setrlimit(resource, &limit);
}

/// Between fork() and exec(): only async-signal-safe calls.
[[noreturn]] void BecomeChild(const ChildOptions& options, char* const* argv, int log, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kNotStarted);
  setpriority(PRIO_PROCESS, 0, kLowest);
  syscall(SYS_ioprio_set, kIoOfProcess, 0, kIdleIo);
  Limit(RLIMIT_DATA, options.memory_bytes);
  Limit(RLIMIT_FSIZE, options.file_bytes);
  Limit(RLIMIT_CORE, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0 ||
      chdir(options.directory.c_str()) != 0)
    _exit(kNotStarted);
  execv(argv[0], argv);
  _exit(kNotStarted);
}

Ended EndOf(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFSIGNALED(status)) return {.how = ChildEnd::kKilled, .reason = fmt::format("signal {}", WTERMSIG(status))};
  const int code = WEXITSTATUS(status);
  return {.how = ChildEnd::kFailed, .exit_code = code, .reason = fmt::format("exit code {}", code)};
}

/// Waits for the end of the child, the stop or the deadline.
Ended Wait(pid_t child, int child_fd, int stop_fd, std::chrono::milliseconds time) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + time;
  Ended ended;
  pollfd polled[] = {{.fd = child_fd, .events = POLLIN, .revents = 0}, {.fd = stop_fd, .events = POLLIN, .revents = 0}};
  while (polled[0].revents == 0 && ended.how == ChildEnd::kDone) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    const auto wait = std::clamp<int64_t>(left.count(), 0, 60'000);
    if (poll(polled, std::size(polled), static_cast<int>(wait)) < 0 && errno != EINTR) break;
    if (polled[1].revents != 0)
      ended = {.how = ChildEnd::kStopped, .reason = "cancelled"};
    else if (polled[0].revents == 0 && Clock::now() >= deadline)
      ended = {.how = ChildEnd::kTimedOut, .reason = fmt::format("it took longer than {} s", time.count() / 1000)};
  }
  kill(-child, SIGKILL);  // also what it started
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return ended.how == ChildEnd::kDone ? EndOf(status) : ended;
}

}  // namespace

Result<Ended> RunChild(const ChildOptions& options, const std::stop_token& stop) {
  const UniqueFd log(open(options.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
  if (!log.valid()) return FailErrno("open", options.log);
  const UniqueFd stop_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop_fd.valid()) return FailErrno("create", "eventfd");
  const std::stop_callback wake(stop, [&] { eventfd_write(stop_fd.get(), 1); });
  std::vector<std::string> texts = options.argv;
  std::vector<char*> argv;
  argv.reserve(texts.size() + 1);
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return FailErrno("start", options.argv.front());
  if (child == 0) BecomeChild(options, argv.data(), log.get(), parent);
  setpgid(child, child);  // whoever comes first
  const UniqueFd child_fd(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  if (!child_fd.valid()) {
    const auto failed = FailErrno("watch", options.argv.front());
    kill(-child, SIGKILL);
    waitpid(child, nullptr, 0);
    return failed;
  }
  return Wait(child, child_fd.get(), stop_fd.get(), options.time);
}

}  // namespace kepler::modelserver::jobs
