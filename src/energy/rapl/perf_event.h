#pragma once
// Opens counters of the kernel's power PMU (perf_event_open(2)), and parses the sysfs files that describe its events:
// <sysfs>/bus/event_source/devices/power/events/energy-pkg, energy-pkg.scale, energy-pkg.unit (Linux
// Documentation/ABI/testing/sysfs-bus-event_source-devices-events).
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace kepler::energy::rapl {

/// Parses "event=0x02", the config value of an event. kMalformed for any other term: the event would then be a
/// different one.
[[nodiscard]] Result<uint64_t> ParseEventConfig(std::string_view text);

/// Parses the scale of an event: joules per count, above 0. The kernel has 2^-32; kMalformed above 1e-6, because a sum
/// of 64-bit counts would not fit into microjoules.
[[nodiscard]] Result<double> ParseEventScale(std::string_view text);

/// One counter on one CPU, which counts from when it was opened. The kernel extends the 32-bit register to 64 bits.
class PerfCounter {
 public:
  virtual ~PerfCounter() = default;
  /// kGone if the kernel has ended the counter, for example with its CPU.
  [[nodiscard]] virtual Result<uint64_t> Read() = 0;
};

struct PerfEvent {
  uint32_t type = 0;    // of the PMU
  uint64_t config = 0;  // of the event
};

/// Opens an event on a CPU, for all processes.
using PerfOpener = std::function<Result<std::unique_ptr<PerfCounter>>(const PerfEvent& event, uint32_t cpu)>;

/// The PerfOpener of the kernel. kPermission without CAP_PERFMON, unless kernel.perf_event_paranoid is 0 or less. The
/// kernels of Debian and Ubuntu refuse it above 2 to all but root.
[[nodiscard]] Result<std::unique_ptr<PerfCounter>> OpenPerfCounter(const PerfEvent& event, uint32_t cpu);

}  // namespace kepler::energy::rapl
