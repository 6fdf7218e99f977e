// Spawns sleeping processes for the measurements:  sleepers COUNT
// Prints "ready" once all are there; ends, with all of them, when its standard input closes or it dies.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

/// A node runs many processes of few programs.
constexpr int kNames = 100;

[[noreturn]] void Sleep(int number, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // it died before the line above
  char name[16];
  std::snprintf(name, sizeof name, "sleeper-%d", number % kNames);
  prctl(PR_SET_NAME, name);
  for (;;) pause();
}

void KillAll(const std::vector<pid_t>& children) {
  for (const pid_t child : children) kill(child, SIGKILL);
  for (const pid_t child : children) waitpid(child, nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc == 2 ? std::atoi(argv[1]) : 0;
  if (count <= 0) {
    std::fputs("usage: sleepers COUNT\n", stderr);
    return 2;
  }
  const pid_t self = getpid();
  std::vector<pid_t> children;
  children.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child < 0) {
      std::fprintf(stderr, "sleepers: fork %d of %d: %s; raise the limit of processes\n", i + 1, count,
                   std::strerror(errno));
      KillAll(children);
      return 1;
    }
    if (child == 0) Sleep(i, self);
    children.push_back(child);
  }
  std::puts("ready");
  std::fflush(stdout);
  char ignored = 0;
  while (read(STDIN_FILENO, &ignored, 1) > 0) {
  }
  KillAll(children);
  return 0;
}
