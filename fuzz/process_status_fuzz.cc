// /proc/PID/status and the usage and limit files of a cgroup: a time that parses is not negative.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cgroup/memory_limit.h"
#include "cgroup/tree.h"
#include "os/procfs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto pids = kepler::os::ParseNsPids(text); pids && pids->empty()) std::abort();
  static_cast<void>(kepler::os::ParseRealUid(text));
  for (const auto& usage : {kepler::cgroup::ParseCpuStat(text), kepler::cgroup::ParseCpuacctUsage(text)})
    if (usage && usage->count() < 0) std::abort();
  static_cast<void>(kepler::cgroup::ParseMemoryLimit(text));
  return 0;
}
