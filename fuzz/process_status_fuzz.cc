// /proc/PID/status and the usage and limit files of a cgroup: a time that parses is not negative.
#include "cgroup/memory_limit.h"
#include "cgroup/tree.h"
#include "fuzz.h"
#include "os/procfs.h"

void Fuzz(std::string_view text) {
  if (const auto pids = kepler::os::ParseNsPids(text); pids && pids->empty()) std::abort();
  static_cast<void>(kepler::os::ParseRealUid(text));
  for (const auto& usage : {kepler::cgroup::ParseCpuStat(text), kepler::cgroup::ParseCpuacctUsage(text)})
    if (usage && usage->count() < 0) std::abort();
  static_cast<void>(kepler::cgroup::ParseMemoryLimit(text));
}
