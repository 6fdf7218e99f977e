#pragma once
// NodeRates: computes the features of this node as rates between two readings, for models. Collection thread only.
#include <array>
#include <bitset>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "base/node_events.h"
#include "os/proc_stat.h"

namespace kepler::energy::modeled {

/// Features that may be available: index into kRateNames.
enum Rate : size_t {
  kCpuTime,
  kBlock,
  kNetRx,
  kNetTx,
  kCycles,
  kInstructions,
  kCacheMisses,
  kSteal,
  kSwitches,
  kPageFaults,
  kUsedMemory
};
inline constexpr std::array<std::string_view, 11> kRateNames = {
    "bpf_cpu_time_ms", "bpf_block_irq", "bpf_net_rx_irq",   "bpf_net_tx_irq", "cpu_cycles",       "cpu_instructions",
    "cache_miss",      "cpu_steal_ms",  "context_switches", "page_faults",    "memory_used_bytes"};
inline constexpr size_t kRates = kRateNames.size();
static_assert(kRates == kUsedMemory + 1 && kRateNames[kCycles] == "cpu_cycles" && kRateNames[kSteal] == "cpu_steal_ms");
using RateSet = std::bitset<kRates>;

/// Returns the index into kRateNames; nothing for an unknown feature.
[[nodiscard]] std::optional<size_t> RateOf(std::string_view feature);

/// Returns the rates that two readings of this kind give.
[[nodiscard]] RateSet RatesOf(const os::ProcStat& stat);

/// The time between two readings.
struct NodeInterval {
  double seconds = 0;                  // time in which the machine was powered
  std::array<double, kRates> rates{};  // per second, but memory_used_bytes; NaN if unknown
};

/// CPU time is user, nice, system, irq and softirq. It excludes steal, which is the time of other guests. After a gap
/// of more than five minutes the machine may have been suspended. The elapsed time is then the time that the kernel
/// counted for the CPUs.
class NodeRates {
 public:
  /// `events`: null if events are not counted.
  explicit NodeRates(std::shared_ptr<const NodeEvents> events) : events_(std::move(events)) {}

  /// Returns the interval since the last usable reading; nothing for the first one, or if no time passed.
  [[nodiscard]] std::optional<NodeInterval> Update(const os::ProcStat& now);
  /// Rates that are known since the last Update(). Rates of events are known after two scans.
  [[nodiscard]] RateSet known() const { return known_; }

 private:
  void UpdateEvents(NodeInterval& interval, double powered);

  std::shared_ptr<const NodeEvents> events_;
  std::optional<os::ProcStat> last_;
  NodeEvents last_events_;
  /// Rates between the last two good scans. A failed scan does not change them, because 0 would be less accurate.
  std::array<double, 3> event_rates_{};
  bool events_known_ = false;
  RateSet known_;
};

}  // namespace kepler::energy::modeled
