#include "pipeline/node_tick.h"

#include <fmt/format.h>
#include <time.h>

#include <utility>

namespace kepler::pipeline {
namespace {

Nanoseconds ThreadCpu() {
  timespec ts{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
  return std::chrono::seconds(ts.tv_sec) + Nanoseconds(ts.tv_nsec);
}

}  // namespace

NodeTick::NodeTick(NodeParts parts, attribution::RetentionPolicy retention)
    : parts_(std::move(parts)), ledger_(retention), index_(parts_.resolver, ledger_), proc_stat_(parts_.procfs) {}

void NodeTick::Run(uint64_t missed) {
  const Nanoseconds cpu_before = ThreadCpu();
  const BootTime begin = parts_.clock.Now();
  const bool baseline = !last_tick_;

  const Status looked = parts_.activity.Sample(sample_);
  parts_.meters.Sample();
  const BootTime taken = parts_.meters.current().taken_at();
  const Ratio usage = ReadUsage();
  if (!looked) {
    // What the zones used meanwhile cannot be given to anyone; it shows as unattributed.
    ++status_.failed_ticks;
    const auto verdict = limiter_.Ask("activity", begin);
    if (verdict.pass)
      log::Error("processes cannot be listed, their energy is booked as unattributed until they can",
                 {{"source", std::string(parts_.activity.Name())},
                  {"reason", looked.error().message},
                  {"suppressed", std::to_string(verdict.held_back)}});
  }

  SyncZones();
  ledger_.BeginTick(taken);
  if (looked) index_.Apply(sample_, parts_.activity.LivingCgroups());
  ledger_.Settle(TakeDeltas(), usage, looked ? attribution::Look::kDone : attribution::Look::kFailed);

  status_.missed_ticks += missed;
  if (looked) status_.skew = std::chrono::abs(taken - sample_.taken_at);
  if (!baseline) Publish(taken - *last_tick_);
  last_tick_ = taken;
  // After the publication, so that it is counted too: a snapshot shows the ticks before it.
  ++status_.ticks;
  status_.tick_time += parts_.clock.Now() - begin;
  status_.tick_cpu += ThreadCpu() - cpu_before;
}

/// Follows the meter's zones. A dead meter may be replaced by another one as long as nothing was counted.
void NodeTick::SyncZones() {
  const energy::Meter& meter = parts_.meters.current();
  if (meter_ == &meter && ledger_.zones().size() == meter.zones().size()) return;
  std::vector<snapshot::Zone> zones;
  for (const energy::Zone& zone : meter.zones()) zones.push_back({zone.name, zone.path, meter.health().source});
  ledger_.SetZones(std::move(zones), energy::SelectPrimaryZone(meter.zones()));
  meter_ = &meter;
}

std::vector<attribution::ZoneTick> NodeTick::TakeDeltas() const {
  std::vector<attribution::ZoneTick> ticks;
  for (const energy::ZoneDelta& delta : parts_.meters.current().deltas())
    ticks.push_back({delta.energy, delta.power, delta.fresh});
  return ticks;
}

Ratio NodeTick::ReadUsage() {
  auto now = proc_stat_.Read();
  if (!now) {
    // The last known ratio is nearer to the truth than "all idle".
    if (limiter_.Ask("stat", parts_.clock.Now()).pass)
      log::Warn("CPU usage cannot be read, the last known ratio is used", {{"reason", now.error().message}});
    return last_ratio_;
  }
  // Not one clock tick has passed since the last look: nothing new is known.
  if (last_stat_ == *now) return last_ratio_;
  if (last_stat_) last_ratio_ = os::UsageRatio(*last_stat_, *now);
  last_stat_ = *now;
  return last_ratio_;
}

void NodeTick::Publish(Nanoseconds interval) {
  auto next = pool_.Acquire();
  if (!next) {
    ++status_.unpublished;
    return;
  }
  ledger_.Publish(*next);
  next->sequence = ++sequence_;
  next->taken_at = parts_.clock.Wall();
  next->taken_boot = *last_tick_ + interval;
  next->interval = interval;
  FillStatus(*next);
  parts_.board.Publish(std::move(next));
}

void NodeTick::FillStatus(snapshot::Snapshot& out) const {
  out.sources.clear();
  for (const energy::SourceHealth& health : parts_.meters.Health())
    out.sources.push_back({health.source, health.up, health.last_success, health.rejected_readings,
                           health.rejected_energy, health.resets, health.failed_reads});
  const activity::ActivityHealth& activity = parts_.activity.Health();
  out.activity.name = parts_.activity.Name();
  out.activity.up = activity.up;
  out.activity.last_success = activity.last_success;
  out.activity.vanished = activity.processes_skipped;
  out.activity.failed_reads = activity.reads_failed + parts_.resolver.reads_failed();
  out.activity.failed_cgroup_reads = activity.cgroup_reads_failed;
  out.pipeline = status_;
  out.cpus = parts_.cpus;
}

}  // namespace kepler::pipeline
