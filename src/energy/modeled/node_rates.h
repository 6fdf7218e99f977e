#pragma once
// What models see of this node between two readings: their features by name, as rates. Collection thread only.
#include <array>
#include <bitset>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "base/node_events.h"
#include "os/proc_stat.h"

namespace kepler::energy::modeled {

/// The features that there may be here: an index into kRateNames.
enum Rate : size_t { kCpuTime, kBlock, kNetRx, kNetTx, kCycles, kInstructions, kCacheMisses };
inline constexpr std::array<std::string_view, 7> kRateNames = {"bpf_cpu_time_ms", "bpf_block_irq", "bpf_net_rx_irq",
                                                               "bpf_net_tx_irq",  "cpu_cycles",    "cpu_instructions",
                                                               "cache_miss"};
inline constexpr size_t kRates = kRateNames.size();
static_assert(kRates == kCacheMisses + 1 && kRateNames[kCycles] == "cpu_cycles" && kRateNames.back() == "cache_miss");
using RateSet = std::bitset<kRates>;

/// Index into kRateNames.
[[nodiscard]] std::optional<size_t> RateOf(std::string_view feature);

/// Those that two readings like this one show.
[[nodiscard]] RateSet RatesOf(const os::ProcStat& stat);

/// Between two readings.
struct NodeInterval {
  double seconds = 0;                  // in which the machine drew power
  std::array<double, kRates> rates{};  // per second; NaN where it is not known
};

/// CPU time is user, nice, system, irq and softirq; not steal, which is other guests' time. Of a gap above five minutes
/// (the machine may have been suspended) only the CPU time that the kernel counted is taken as elapsed.
class NodeRates {
 public:
  /// `events`: null where nobody counts any.
  explicit NodeRates(std::shared_ptr<const NodeEvents> events) : events_(std::move(events)) {}

  /// Returns the interval since the last usable reading; nothing for the first one, or if no time passed.
  [[nodiscard]] std::optional<NodeInterval> Update(const os::ProcStat& now);
  /// The rates that are known as of the last Update(). Of events it takes two scans.
  [[nodiscard]] RateSet known() const { return known_; }

 private:
  void UpdateEvents(NodeInterval& interval, double powered);

  std::shared_ptr<const NodeEvents> events_;
  std::optional<os::ProcStat> last_;
  NodeEvents last_events_;
  /// Of the last two scans: one that failed leaves them, nearer to the truth than 0.
  std::array<double, 3> event_rates_{};
  bool events_known_ = false;
  RateSet known_;
};

}  // namespace kepler::energy::modeled
