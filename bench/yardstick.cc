// The yardstick that budgets are ratios to: the CPU time of one plain pass over every PID/stat (readdir, open, read,
// close), as any C program would do it.   yardstick PROCFS [PASSES]
// Prints the median in microseconds and the number of processes. Passes stand `kPause` apart, as the agent's ticks do:
// back to back they would find their caches warm, which no agent does.
#include <dirent.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

constexpr timespec kPause{0, 300'000'000};

int64_t CpuMicroseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000 + time.tv_nsec / 1'000;
}

/// The number of processes read; nothing if `procfs` cannot be listed.
std::optional<int> Pass(const std::string& procfs) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(procfs.c_str()), closedir);
  if (!directory) return std::nullopt;
  char text[4096];
  char path[4096];
  int processes = 0;
  while (const dirent* entry = readdir(directory.get())) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
    std::snprintf(path, sizeof path, "%s/%s/stat", procfs.c_str(), entry->d_name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    if (read(fd, text, sizeof text) > 0) ++processes;
    close(fd);
  }
  return processes;
}

}  // namespace

int main(int argc, char** argv) {
  const int passes = argc == 3 ? std::atoi(argv[2]) : 5;
  if (argc < 2 || argc > 3 || passes <= 0) {
    std::fputs("usage: yardstick PROCFS [PASSES]\n", stderr);
    return 2;
  }
  std::vector<int64_t> costs;
  int processes = 0;
  for (int i = 0; i < passes; ++i) {
    if (i > 0) nanosleep(&kPause, nullptr);
    const int64_t before = CpuMicroseconds();
    const auto read = Pass(argv[1]);
    costs.push_back(CpuMicroseconds() - before);
    if (!read) {
      std::perror(argv[1]);
      return 1;
    }
    processes = *read;
  }
  std::ranges::sort(costs);
  std::printf("%lld %d\n", static_cast<long long>(costs[costs.size() / 2]), processes);
  return 0;
}
