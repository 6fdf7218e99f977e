// What a short life costs:   process_lives CPU LIVES
// fork, _exit and wait, again and again, all on that one CPU. Prints the CPU time of one life in ns: user and system,
// of parent and child, and of the kernel thread that does late work on this CPU: the dead are taken apart there when
// there is much of it. Without that thread in sight (a pid namespace of its own) its part is missing.
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/parse.h"

namespace {

namespace fs = std::filesystem;

bool Pin(int cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<size_t>(cpu), &only);
  return sched_setaffinity(0, sizeof only, &only) == 0;
}

/// The schedstat file of ksoftirqd/CPU; "" if there is none in sight.
std::string DeferredWorkFile(int cpu) {
  const std::string wanted = "ksoftirqd/" + std::to_string(cpu);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    std::string comm;
    std::ifstream(entry.path() / "comm") >> comm;
    if (comm == wanted) return entry.path() / "schedstat";
  }
  return "";
}

/// Of this process and the children it has waited for: the sums are exact, however the kernel splits user from system.
int64_t CpuNanoseconds(const std::string& deferred_work) {
  int64_t sum = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      sum += time.tv_sec * 1'000'000'000 + time.tv_usec * 1'000;
  }
  int64_t late = 0;
  if (std::ifstream(deferred_work) >> late) sum += late;
  return sum;
}

bool Live(int64_t lives) {
  for (int64_t i = 0; i < lives; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (child < 0 || waitpid(child, nullptr, 0) != child) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const auto cpu = argc == 3 ? kepler::ParseNumber<int>(argv[1]) : std::nullopt;
  const int64_t lives = argc == 3 ? kepler::ParseNumber<int64_t>(argv[2]).value_or(0) : 0;
  if (!cpu || *cpu < 0 || *cpu >= CPU_SETSIZE || lives < 1) {
    std::fputs("usage: process_lives CPU LIVES\n", stderr);
    return 2;
  }
  const std::string deferred_work = DeferredWorkFile(*cpu);
  bool done = Pin(*cpu) && Live(lives / 10);
  const int64_t before = CpuNanoseconds(deferred_work);
  done = done && Live(lives);
  const int64_t cost = CpuNanoseconds(deferred_work) - before;
  if (!done) {
    std::perror("process_lives");
    return 1;
  }
  std::printf("%.1f\n", static_cast<double>(cost) / static_cast<double>(lives));
  return 0;
}
