// /proc/PID/cgroup: lines that parse have absolute paths only.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "os/procfs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lines = kepler::os::ParseCgroupLines(text);
  if (!lines) return 0;
  for (const auto& line : *lines) {
    if (line.hierarchy < 0 || !line.path.starts_with('/')) std::abort();
    static_cast<void>(kepler::os::HasController(line.controllers, "cpuacct"));
  }
  return 0;
}
