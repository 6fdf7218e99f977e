#include "activity/bpf/perf_counters.h"

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/log.h"

namespace kepler::activity::bpf {
namespace {

struct Event {
  std::string_view name;
  std::array<std::optional<EventEncoding>, 2> encodings;  // tried in this order
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

UniqueFd OpenOne(const EventEncoding& encoding, size_t cpu) {
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = encoding.type;
  attributes.config = encoding.config;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return UniqueFd(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, -1, static_cast<int>(cpu), -1, PERF_FLAG_FD_CLOEXEC)));
}

/// Opens the counter on every CPU. Returns an empty vector if no CPU has it; errno is then that of the last failure.
std::vector<UniqueFd> OpenOnAll(const EventEncoding& encoding, size_t cpus) {
  std::vector<UniqueFd> fds;
  bool any = false;
  for (size_t cpu = 0; cpu < cpus; ++cpu) {
    fds.push_back(OpenOne(encoding, cpu));
    any |= fds.back().valid();
    // ENODEV: the CPU is offline.
    if (any && !fds.back().valid() && errno != ENODEV)
      log::Warn("a performance counter is unavailable on a CPU; events on this CPU are not counted",
                {{"processor", std::to_string(cpu)}, {"err", std::strerror(errno)}});
  }
  if (!any) return {};
  return fds;
}

}  // namespace

Result<PerfCounters> PerfCounters::Open(CounterKind kind) {
  const int cpus = ::libbpf_num_possible_cpus();
  if (cpus <= 0) return Fail(ErrorKind::kUnavailable, "count the possible processors");
  PerfCounters counters;
  counters.enabled_.resize(static_cast<size_t>(cpus));
  const auto& events = kind == CounterKind::kSoftware ? kSoftwareEvents : kHardwareEvents;
  bool any = false;
  int reason = 0;
  for (size_t event = 0; event < events.size(); ++event) {
    for (const auto& encoding : events[event].encodings) {
      if (!encoding || counters.encodings_[event]) continue;
      counters.fds_[event] = OpenOnAll(*encoding, counters.cpus());
      reason = errno;
      if (!counters.fds_[event].empty()) counters.encodings_[event] = encoding;
    }
    const bool opened = counters.encodings_[event].has_value();
    any |= opened;
    counters.fds_[event].resize(counters.cpus());
    if (!opened) log::Info("a performance counter is unavailable", {{"counter", std::string(events[event].name)}});
  }
  // A virtual machine without a PMU returns ENOENT.
  if (!any) return FailErrno("open", "performance counters of this processor", reason);
  return counters;
}

bool PerfCounters::HasStopped(size_t cpu) {
  const auto open = std::ranges::find_if(fds_, [cpu](const auto& fds) { return fds[cpu].valid(); });
  if (open == fds_.end()) return true;
  std::array<uint64_t, 3> now{};  // value, time enabled, time running: read_format
  const bool read = ::read((*open)[cpu].get(), now.data(), sizeof(now)) == sizeof(now);
  return std::exchange(enabled_[cpu], now[1]) == now[1] || !read;
}

bool PerfCounters::Reopen(size_t cpu) {
  const bool stopped = HasStopped(cpu);
  bool changed = false;
  for (size_t event = 0; event < fds_.size(); ++event) {
    UniqueFd& fd = fds_[event][cpu];
    if (!encodings_[event] || (fd.valid() && !stopped)) continue;
    UniqueFd opened = OpenOne(*encodings_[event], cpu);
    if (!opened.valid()) continue;
    fd = std::move(opened);
    changed = true;
  }
  return changed;
}

}  // namespace kepler::activity::bpf
