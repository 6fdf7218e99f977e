#include "pipeline/node_tick.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <span>
#include <utility>

#include "attribution/counter_weights.h"
#include "attribution/zone_charge.h"

namespace kepler::pipeline {
namespace {
using snapshot::RatioMethod;

Nanoseconds ThreadCpu() {
  timespec ts{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
  return std::chrono::seconds(ts.tv_sec) + Nanoseconds(ts.tv_nsec);
}

std::unique_ptr<attribution::Weights> MakeWeights(CpuWeights kind, const attribution::UsageList& usage) {
  if (kind == CpuWeights::kCounters) return std::make_unique<attribution::CounterWeights>(usage);
  return std::make_unique<attribution::CpuTimeWeights>(usage);
}

}  // namespace

NodeTick::NodeTick(NodeParts parts, attribution::RetentionPolicy retention, SplitOptions split)
    : parts_(std::move(parts)),
      split_(split),
      ledger_(retention),
      cpu_weights_(MakeWeights(split.weights, ledger_.cpu_usage())),
      index_(parts_.resolver, ledger_),
      proc_stat_(parts_.procfs),
      cpus_(parts_.procfs) {}

void NodeTick::Run(uint64_t missed) {
  const Nanoseconds cpu_before = ThreadCpu();
  const BootTime begin = parts_.clock.Now();
  const bool baseline = !last_tick_;

  const Status looked = parts_.activity.Sample(sample_);
  parts_.meters.Sample();
  const BootTime taken = parts_.meters.taken_at();
  const MachineTime machine = ReadProcStat();
  if (!looked) {
    // What the zones used meanwhile cannot be given to anyone; it shows as unattributed.
    ++status_.failed_ticks;
    const auto verdict = limiter_.Ask("activity", begin);
    if (verdict.pass)
      log::Error("processes cannot be listed, their energy is booked as unattributed until they can",
                 {{"source", std::string(parts_.activity.status().name)},
                  {"err", looked.error().message},
                  {"suppressed", std::to_string(verdict.suppressed)}});
  }

  SyncZones();
  ledger_.BeginTick(taken);
  if (looked) {
    UpdateExactRatio(machine);
    index_.Apply(sample_, parts_.activity.LivingCgroups());
  }
  UseMachineTime(machine);
  ledger_.Settle(Charges(), looked ? attribution::Look::kDone : attribution::Look::kFailed);

  status_.missed_ticks += missed;
  if (looked) status_.skew = std::chrono::abs(taken - sample_.taken_at);
  if (!baseline) Publish(begin, taken);
  last_tick_ = taken;
  // After the publication, so that it is counted too: a snapshot shows the ticks before it.
  ++status_.ticks;
  status_.tick_time += parts_.clock.Now() - begin;
  status_.tick_cpu += ThreadCpu() - cpu_before;
}

/// Follows the meters' zones. A dead meter may be replaced by another one as long as nothing was counted.
void NodeTick::SyncZones() {
  const std::span<const snapshot::Zone> zones = parts_.meters.zones();
  if (std::ranges::equal(zones, ledger_.zones())) return;
  primary_ = parts_.meters.primary_zone();
  ledger_.SetZones({zones.begin(), zones.end()}, primary_);
  cpu_weights_->SetZones(zones);
}

std::vector<attribution::ZoneCharge> NodeTick::Charges() const {
  std::vector<attribution::ZoneCharge> charges;
  for (size_t z = 0; z < parts_.meters.zones().size(); ++z) {
    const energy::ZoneDelta& delta = parts_.meters.deltas()[z];
    attribution::ZoneCharge charge{.total = delta.energy, .power = delta.power, .fresh = delta.fresh};
    if (parts_.meters.zones()[z].domain == snapshot::Domain::kCpu)
      charge = attribution::SplitByRatio(delta.energy, delta.power, delta.fresh, UsageRatio(), *cpu_weights_);
    charge.unchanged = delta.unchanged;
    charges.push_back(charge);
  }
  return charges;
}

NodeTick::MachineTime NodeTick::ReadProcStat() {
  auto now = proc_stat_.Read();
  if (!now) {
    // The last known ratio is nearer to the truth than "all idle".
    if (const auto verdict = limiter_.Ask("stat", parts_.clock.Now()); verdict.pass)
      log::Warn("CPU usage cannot be read, the last known ratio is used",
                {{"err", now.error().message}, {"suppressed", std::to_string(verdict.suppressed)}});
    return {};
  }
  cpus_.Follow(proc_stat_.online(), parts_.clock.Now());
  // Not one clock tick has passed since the last look: nothing new is known.
  if (last_stat_ == *now) return {};
  MachineTime machine;
  if (last_stat_) {
    proc_stat_ratio_ = os::UsageRatio(*last_stat_, *now);
    machine = {os::InterruptTime(*last_stat_, *now), os::StolenTime(*last_stat_, *now)};
  }
  last_stat_ = *now;
  return machine;
}

/// Where the kernel keeps them apart from the time of tasks, nobody else is charged for them; elsewhere they are in the
/// time of whoever was interrupted.
void NodeTick::UseMachineTime(const MachineTime& machine) {
  const TimeAccounting& time = parts_.activity.status().time;
  if (time.interrupts == KeptApart::kYes) ledger_.UseUnattributed(machine.interrupts);
  // Upstream's ratio calls stolen time active; the exact one does not.
  if (time.steal == KeptApart::kYes && split_.ratio == RatioMethod::kProcStat) ledger_.UseUnattributed(machine.steal);
}

/// Whatever ran since the previous look. Time that nobody is seen to use is in it, as good as the source knows it:
/// without it a machine whose tasks are hidden would look idle.
void NodeTick::UpdateExactRatio(const MachineTime& machine) {
  const auto previous = std::exchange(last_look_, sample_.taken_at);
  if (!previous || sample_.taken_at <= *previous || !last_stat_ || last_stat_->cpus == 0) return;
  Nanoseconds ran = sample_.invisible + sample_.lost;
  for (const auto& process : sample_.processes) ran += process.cpu;
  for (const auto& exited : sample_.exited) ran += exited.cpu;
  for (const auto& brief : sample_.briefs) ran += brief.cpu;
  for (const auto& residual : sample_.residuals) ran += residual.cpu;
  if (parts_.activity.status().time.interrupts == KeptApart::kYes) ran += machine.interrupts;
  const auto had = static_cast<double>((sample_.taken_at - *previous).count()) * last_stat_->cpus;
  exact_ratio_ = Ratio::Clamped(static_cast<double>(ran.count()) / had);
}

void NodeTick::Publish(BootTime begin, BootTime taken) {
  auto next = pool_.Acquire();
  if (!next) {
    ++status_.unpublished;
    return;
  }
  ledger_.Publish(*next);
  next->primary = primary_;
  next->usage_ratio = UsageRatio();
  next->ratio_method = split_.ratio;
  next->proc_stat_ratio = proc_stat_ratio_;
  next->exact_ratio = exact_ratio_;
  next->sequence = ++sequence_;
  next->taken_at = parts_.clock.Wall() - (parts_.clock.Now() - begin);
  next->begun = begin;
  next->taken_boot = taken;
  next->interval = taken - *last_tick_;
  FillStatus(*next);
  parts_.board.Publish(std::move(next));
}

void NodeTick::FillStatus(snapshot::Snapshot& out) const {
  out.sources = parts_.meters.status();
  out.domains.clear();
  for (const energy::ZoneDelta& zone : parts_.meters.deltas()) out.domains.push_back(zone.domains);
  out.activity = parts_.activity.status();
  out.activity.failed_reads += parts_.resolver.reads_failed();
  out.pipeline = status_;
  out.cpus = cpus_.list();
}

}  // namespace kepler::pipeline
