// /proc/PID/cgroup: lines that parse have absolute paths only.
#include "fuzz.h"
#include "os/procfs.h"

void Fuzz(std::string_view text) {
  const auto lines = kepler::os::ParseCgroupLines(text);
  if (!lines) return;
  for (const auto& line : *lines) {
    if (line.hierarchy < 0 || !line.path.starts_with('/')) std::abort();
    static_cast<void>(kepler::os::HasController(line.controllers, "cpuacct"));
  }
}
