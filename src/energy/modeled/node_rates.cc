#include "energy/modeled/node_rates.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace kepler::energy::modeled {
namespace {

constexpr Nanoseconds kLongestTrustedGap = std::chrono::minutes(5);

double Grown(uint64_t before, uint64_t now) { return static_cast<double>(os::Forward(before, now)); }

/// Returns the time in which the machine was powered: the elapsed time, or after a long gap the time that the kernel
/// has counted.
double PoweredSeconds(const os::ProcStat& before, const os::ProcStat& now) {
  const Nanoseconds elapsed = now.at - before.at;
  if (elapsed <= kLongestTrustedGap) return ToSeconds(elapsed);
  const auto counted = [](const os::ProcStatCpu& cpu) {
    return cpu.user + cpu.nice + cpu.system + cpu.irq + cpu.softirq + cpu.idle + cpu.iowait + cpu.steal;
  };
  const double ticks = Grown(counted(before.cpu), counted(now.cpu));
  return std::min(ToSeconds(elapsed), ticks * ToSeconds(os::ClockTick()) / std::max(now.cpu.cpus, 1u));
}

}  // namespace

std::optional<size_t> RateOf(std::string_view feature) {
  const auto found = std::ranges::find(kRateNames, feature);
  if (found == kRateNames.end()) return std::nullopt;
  return static_cast<size_t>(found - kRateNames.begin());
}

RateSet RatesOf(const os::ProcStat& stat) {
  RateSet rates;
  rates.set(kCpuTime);
  rates.set(kSteal);
  for (const size_t softirq : {kBlock, kNetRx, kNetTx}) rates.set(softirq, stat.softirqs.has_value());
  rates.set(kSwitches, stat.context_switches.has_value());
  rates.set(kPageFaults, stat.page_faults.has_value());
  rates.set(kUsedMemory, stat.used_memory.has_value());
  return rates;
}

std::optional<NodeInterval> NodeRates::Update(const os::ProcStat& now) {
  if (last_ && now.at <= last_->at) return std::nullopt;
  const auto last = std::exchange(last_, now);
  known_ = last ? RatesOf(now) & RatesOf(*last) : RatesOf(now);
  NodeInterval interval;
  interval.rates.fill(std::numeric_limits<double>::quiet_NaN());
  interval.seconds = last ? PoweredSeconds(*last, now) : 0;
  UpdateEvents(interval, last ? interval.seconds / ToSeconds(now.at - last->at) : 1);
  if (interval.seconds <= 0) return std::nullopt;
  interval.rates[kCpuTime] = ToSeconds(os::RanTime(last->cpu, now.cpu)) * 1e3 / interval.seconds;
  interval.rates[kSteal] = ToSeconds(os::StolenTime(last->cpu, now.cpu)) * 1e3 / interval.seconds;
  if (known_.test(kSwitches))
    interval.rates[kSwitches] = Grown(*last->context_switches, *now.context_switches) / interval.seconds;
  if (known_.test(kPageFaults))
    interval.rates[kPageFaults] = Grown(*last->page_faults, *now.page_faults) / interval.seconds;
  if (known_.test(kUsedMemory)) interval.rates[kUsedMemory] = static_cast<double>(*now.used_memory);
  if (!known_.test(kBlock)) return interval;
  const os::Softirqs grown = os::Forward(*last->softirqs, *now.softirqs);
  interval.rates[kBlock] = static_cast<double>(grown.block) / interval.seconds;
  interval.rates[kNetRx] = static_cast<double>(grown.net_rx) / interval.seconds;
  interval.rates[kNetTx] = static_cast<double>(grown.net_tx) / interval.seconds;
  return interval;
}

/// `powered`: share of the elapsed time in which the machine was powered.
void NodeRates::UpdateEvents(NodeInterval& interval, double powered) {
  if (!events_) return;
  if (events_->at > last_events_.at) {
    const NodeEvents last = std::exchange(last_events_, *events_);
    const double seconds = ToSeconds(events_->at - last.at) * powered;
    events_known_ = last.counted && events_->counted && seconds > 0;
    if (events_known_)
      event_rates_ = {Grown(last.total.cycles, events_->total.cycles) / seconds,
                      Grown(last.total.instructions, events_->total.instructions) / seconds,
                      Grown(last.total.cache_misses, events_->total.cache_misses) / seconds};
  }
  for (const size_t i : {kCycles, kInstructions, kCacheMisses}) {
    known_.set(i, events_known_);
    if (events_known_) interval.rates[i] = event_rates_[i - kCycles];
  }
}

}  // namespace kepler::energy::modeled
