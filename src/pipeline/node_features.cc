#include "pipeline/node_features.h"

#include <utility>

namespace kepler::pipeline {
namespace {

/// Adds the increase between two readings. A counter that is missing in the current reading is unknown.
void AddGrown(std::optional<uint64_t>& total, std::optional<uint64_t> last, std::optional<uint64_t> now) {
  if (now && !total) total = 0;
  if (last && now) *total += os::Forward(*last, *now);
}

}  // namespace

void NodeFeatures::AddScan(const activity::ActivitySample& sample, bool counts_events) {
  events_->counted = counts_events;
  events_->at = sample.taken_at;
  if (!counts_events) return;
  for (const auto& process : sample.processes) events_->total += process.events;
  for (const auto& exited : sample.exited) events_->total += exited.events;
  for (const auto& process : sample.short_lived) events_->total += process.events;
}

void NodeFeatures::AddStat(const os::ProcStat& now) {
  const auto last = std::exchange(last_, now);
  if (now.softirqs && !totals_.softirqs) totals_.softirqs.emplace();
  totals_.cpus = now.cpu.cpus > 0 ? std::optional<uint64_t>(now.cpu.cpus) : std::nullopt;
  totals_.used_memory = now.used_memory;
  AddGrown(totals_.context_switches, last ? last->context_switches : std::nullopt, now.context_switches);
  AddGrown(totals_.page_faults, last ? last->page_faults : std::nullopt, now.page_faults);
  if (!last) return;
  totals_.cpu += os::RanTime(last->cpu, now.cpu);
  totals_.steal += os::StolenTime(last->cpu, now.cpu);
  if (!last->softirqs || !now.softirqs) return;
  const os::Softirqs grown = os::Forward(*last->softirqs, *now.softirqs);
  totals_.softirqs->block += grown.block;
  totals_.softirqs->net_rx += grown.net_rx;
  totals_.softirqs->net_tx += grown.net_tx;
}

status::NodeFeatures NodeFeatures::totals() const {
  status::NodeFeatures totals = totals_;
  if (events_->counted) totals.events = events_->total;
  return totals;
}

}  // namespace kepler::pipeline
