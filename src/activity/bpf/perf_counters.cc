#include "activity/bpf/perf_counters.h"

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "base/log.h"

namespace kepler::activity::bpf {
namespace {

struct Encoding {
  uint32_t type;
  uint64_t config;
};
struct Event {
  std::string_view name;
  std::array<std::optional<Encoding>, 2> encodings;  // tried in this order
};

// PERF_TYPE_HW_CACHE (perf_event_open(2)): cache | operation << 8 | result << 16.
constexpr uint64_t kLastLevelReadMisses =
    PERF_COUNT_HW_CACHE_LL | (PERF_COUNT_HW_CACHE_OP_READ << 8) | (PERF_COUNT_HW_CACHE_RESULT_MISS << 16);

constexpr std::array<Event, KEPLER_COUNTERS> kHardwareEvents = {{
    {"cycles", {{{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}}}}},
    {"instructions", {{{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS}}}}},
    {"cache misses",
     {{{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}}, {{PERF_TYPE_HW_CACHE, kLastLevelReadMisses}}}}},
}};
constexpr std::array<Event, KEPLER_COUNTERS> kSoftwareEvents = {{
    {"cpu-clock", {{{{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK}}}}},
    {"context switches", {{{{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES}}}}},
    {"page faults", {{{{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS}}}}},
}};

UniqueFd OpenOne(const Encoding& encoding, int cpu) {
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = encoding.type;
  attributes.config = encoding.config;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return UniqueFd(static_cast<int>(::syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
}

/// Opens the counter on every CPU. Returns an empty vector if no CPU has it; errno is then that of the last failure.
std::vector<UniqueFd> OpenOnAll(const Encoding& encoding, int cpus) {
  std::vector<UniqueFd> fds;
  bool any = false;
  for (int cpu = 0; cpu < cpus; ++cpu) {
    fds.push_back(OpenOne(encoding, cpu));
    any |= fds.back().valid();
    // ENODEV: the CPU is offline.
    if (any && !fds.back().valid() && errno != ENODEV)
      log::Warn("a performance counter is unavailable on a CPU; events on this CPU are not counted",
                {{"processor", std::to_string(cpu)}, {"err", std::strerror(errno)}});
  }
  if (!any) fds.clear();
  return fds;
}

}  // namespace

Result<PerfCounters> OpenCounters(CounterKind kind) {
  const int cpus = ::libbpf_num_possible_cpus();
  if (cpus <= 0) return Fail(ErrorKind::kUnavailable, "count the possible processors");
  PerfCounters counters;
  const auto& events = kind == CounterKind::kSoftware ? kSoftwareEvents : kHardwareEvents;
  bool any = false;
  int reason = 0;
  for (size_t event = 0; event < events.size(); ++event) {
    for (const auto& encoding : events[event].encodings) {
      if (!encoding || !counters[event].empty()) continue;
      counters[event] = OpenOnAll(*encoding, cpus);
      reason = errno;
    }
    const bool opened = !counters[event].empty();
    any |= opened;
    if (!opened) log::Info("a performance counter is unavailable", {{"counter", std::string(events[event].name)}});
  }
  // A virtual machine without a PMU returns ENOENT.
  if (!any) return FailErrno("open", "performance counters of this processor", reason);
  return counters;
}

}  // namespace kepler::activity::bpf
