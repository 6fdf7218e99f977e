// What a context switch costs:   context_switches CPU SWITCHES
// Two threads hand one byte to and fro through two pipes, both on that one CPU, so that each hand-over is a switch:
// threads of one process, because theirs is the cheapest and shows most of what is added to it. Prints the CPU time of
// one switch in ns, the system calls around it included.
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <thread>

#include "base/parse.h"
#include "base/unique_fd.h"

namespace {

struct Pipe {
  kepler::UniqueFd out;
  kepler::UniqueFd in;
};

std::optional<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{kepler::UniqueFd(ends[0]), kepler::UniqueFd(ends[1])};
}

bool Pin(int cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<size_t>(cpu), &only);
  return sched_setaffinity(0, sizeof only, &only) == 0;
}

int64_t CpuNanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

int64_t Switches() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nvcsw + usage.ru_nivcsw;
}

/// Until the other end is closed.
void Echo(int from, int to) {
  char byte = 0;
  while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1) {
  }
}

bool HandOver(int64_t switches, int from, int to) {
  char byte = 0;
  for (int64_t i = 0; i < switches; i += 2)
    if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const auto cpu = argc == 3 ? kepler::ParseNumber<int>(argv[1]) : std::nullopt;
  const int64_t switches = argc == 3 ? kepler::ParseNumber<int64_t>(argv[2]).value_or(0) : 0;
  if (!cpu || *cpu < 0 || *cpu >= CPU_SETSIZE || switches < 2) {
    std::fputs("usage: context_switches CPU SWITCHES\n", stderr);
    return 2;
  }
  auto there = MakePipe();
  auto back = MakePipe();
  if (!there || !back || !Pin(*cpu)) {
    std::perror("context_switches");
    return 1;
  }
  std::jthread peer([from = there->out.get(), to = back->in.get()] { Echo(from, to); });
  bool done = HandOver(switches / 10, back->out.get(), there->in.get());
  const int64_t switches_before = Switches();
  const int64_t before = CpuNanoseconds();
  done = done && HandOver(switches, back->out.get(), there->in.get());
  const int64_t cost = CpuNanoseconds() - before;
  const int64_t switched = Switches() - switches_before;
  there->in.Reset();
  if (!done || switched < switches * 99 / 100) {
    std::fprintf(stderr, "context_switches: %lld switches, not %lld\n", static_cast<long long>(switched),
                 static_cast<long long>(switches));
    return 1;
  }
  std::printf("%.2f\n", static_cast<double>(cost) / static_cast<double>(switches));
  return 0;
}
