#include "pipeline/node_tick.h"

#include <algorithm>
#include <span>
#include <utility>

#include "attribution/counter_weights.h"
#include "attribution/model_weights.h"
#include "workload/identity_of.h"

namespace kepler::pipeline {
NodeTick::NodeTick(NodeParts parts, attribution::RetentionPolicy retention, SplitOptions split,
                   const SeriesLimits& limits)
    : parts_(std::move(parts)),
      max_label_bytes_(limits.max_label_bytes),
      ledger_(retention, limits.processes, limits.containers_show_pods),
      index_(parts_.resolver, parts_.pods, ledger_, limits.max_label_bytes),
      proc_stat_(parts_.proc_stat ? parts_.proc_stat
                                  : std::make_shared<os::ProcStatReader>(parts_.procfs, parts_.clock)),
      started_(parts_.started == BootTime{} ? parts_.clock.Now() : parts_.started),
      wall_now_(parts_.clock.Now(), parts_.clock.Wall()),
      cpus_(parts_.procfs),
      features_(parts_.events),
      ratio_(split.ratio),
      baselines_(split.idle == IdlePolicy::kBaseline ? std::optional<IdleBaselines>(std::in_place) : std::nullopt),
      idle_shares_(split.idle_payers, ledger_.cpu_usage(), parts_.procfs) {
  MakeWeights(split.weights);
  if (limits.names_users) user_names_.emplace(parts_.procfs, parts_.clock);
  wall_ = std::make_shared<const WallHistory>(wall_now_);
}

void NodeTick::MakeWeights(CpuWeights kind) {
  const attribution::UsageList& usage = ledger_.cpu_usage();
  switch (kind) {
    case CpuWeights::kTime:
      cpu_weights_ = std::make_unique<attribution::CpuTimeWeights>(usage);
      break;
    case CpuWeights::kCounters:
      cpu_weights_ = std::make_unique<attribution::CounterWeights>(usage);
      break;
    case CpuWeights::kModel:
      auto weights = std::make_unique<attribution::ModelWeights>(usage, parts_.clock);
      workload_models_.emplace(parts_.models, *weights);
      cpu_weights_ = std::move(weights);
  }
}

void NodeTick::Run(uint64_t missed) {
  const Nanoseconds cpu_before = ThreadCpuTime();
  const BootTime begin = parts_.clock.Now();
  const bool baseline = !last_tick_;
  ReadWallClock(begin);
  proc_stat_->Renew();

  const Status scanned = parts_.activity.Sample(sample_);
  if (scanned) features_.AddScan(sample_, parts_.activity.status().counts_events);
  proc_stat_->Renew();  // read again: a pass may take long, and the ratio must cover the same time as the meters
  parts_.meters.Sample();
  const BootTime taken = parts_.meters.taken_at();
  ReadProcStat();
  if (!scanned) {
    // The energy of this time has no known user and is unattributed.
    ++status_.failed_ticks;
    limiter_.Say(log::Level::kError, "activity", begin,
                 "failed to list processes; their energy is unattributed until a scan succeeds",
                 {{"activity", std::string(parts_.activity.status().name)}, {"err", scanned.error().message}});
  }

  SyncZones();
  ledger_.BeginTick(taken);
  if (scanned) {
    ratio_.UpdateExact(sample_);
    index_.Apply(sample_, parts_.activity.LivingCgroups());
  }
  LearnBaselines(taken, missed);
  ledger_.UseUnattributed(ratio_.OfNobody());
  ChooseModels(scanned.has_value(), missed);
  idle_shares_.BeginTick(ledger_, index_.pods(), cpus_.list()->size(), taken);
  ledger_.Settle(Charges(), scanned ? attribution::Scan::kDone : attribution::Scan::kFailed, [this](size_t number) {
    const activity::ShortLivedSample& process = sample_.short_lived[number];
    return workload::IdentityOf(process.key.tgid, process.comm, process.exe, process.cgroups->owner, max_label_bytes_);
  });
  index_.Forget(ledger_.closed_containers(), ledger_.closed_pods());
  if (user_names_) {
    user_names_->Refresh(taken);
    ledger_.NameUsers([this](uint32_t uid) { return user_names_->Find(uid); });
  }

  status_.missed_ticks += missed;
  if (scanned) status_.skew = std::chrono::abs(taken - sample_.taken_at);
  if (!baseline) Publish(begin, taken);
  last_tick_ = taken;
  // After the publication, which is a part of the tick. A snapshot therefore contains only earlier ticks.
  ++status_.ticks;
  status_.tick_time += parts_.clock.Now() - begin;
  status_.tick_cpu += ThreadCpuTime() - cpu_before;
}

/// Takes over changed zones of the meters. A dead meter may be replaced while none of its energy is counted.
void NodeTick::SyncZones() {
  const std::span<const status::Zone> zones = parts_.meters.zones();
  if (std::ranges::equal(zones, zones_)) return;
  zones_.assign(zones.begin(), zones.end());
  std::vector<status::Zone> all = idle_shares_.WithIdleZones(zones);
  primary_ = parts_.meters.primary_zone();
  idle_shares_.SetZones(all);
  cpu_weights_->SetZones(all);
  if (workload_models_) workload_models_->SetZones(zones);
  ledger_.SetZones(std::move(all), primary_);
  if (baselines_) baselines_->SetZones(zones);
}

/// Skips an interval with a missed deadline: the machine may have been suspended.
void NodeTick::LearnBaselines(BootTime taken, uint64_t missed) {
  if (!baselines_ || !last_tick_) return;
  baselines_->Learn(parts_.meters.deltas(), missed == 0 ? ratio_.known() : std::nullopt, taken - *last_tick_);
}

/// Models use rates since the latest good scan. After a missed deadline the time is unknown, because the machine may
/// have been suspended.
void NodeTick::ChooseModels(bool scanned, uint64_t missed) {
  if (!workload_models_) return;
  const bool known = scanned && last_scan_ && missed == 0;
  workload_models_->BeginTick(parts_.activity.status().counts_events,
                              known ? sample_.taken_at - *last_scan_ : Nanoseconds(0));
  if (scanned) last_scan_ = sample_.taken_at;
}

std::vector<attribution::ZoneCharge> NodeTick::Charges() {
  std::vector<attribution::ZoneCharge> charges;
  for (size_t z = 0; z < parts_.meters.zones().size(); ++z) {
    const energy::ZoneDelta& delta = parts_.meters.deltas()[z];
    attribution::ZoneCharge charge{.total = delta.energy, .power = delta.power, .fresh = delta.fresh};
    if (parts_.meters.zones()[z].domain == status::Domain::kCpu) {
      const Ratio busy = delta.only_load ? Ratio::Clamped(1) : ratio_.value();
      const Ratio active = baselines_ ? baselines_->ActiveShare(z, busy) : busy;
      charge = attribution::SplitByRatio(delta.energy, delta.power, delta.fresh, active, *cpu_weights_);
    }
    charge.unchanged = delta.unchanged;
    charges.push_back(charge);
  }
  idle_shares_.AppendCharges(parts_.meters.zones(), charges);
  return charges;
}

void NodeTick::ReadProcStat() {
  const auto& stat = proc_stat_->Read();
  ratio_.UpdateProcStat(stat, parts_.activity.status().time);
  if (stat) {
    features_.AddStat(*stat);
    return cpus_.Follow(stat->online, parts_.clock.Now());
  }
  limiter_.Say(log::Level::kWarn, "stat", parts_.clock.Now(),
               "failed to read the CPU usage, using the last known ratio", {{"err", stat.error().message}});
}

void NodeTick::ReadWallClock(BootTime now) {
  if (wall_now_.Observe(now, parts_.clock.Wall())) wall_ = std::make_shared<const WallHistory>(wall_now_);
  if (wall_now_.ignores_step())
    limiter_.Say(log::Level::kWarn, "wall clock", now,
                 "the wall clock was set too often; start times of new series are on an old setting of the clock",
                 {{"settings", std::to_string(WallHistory::kMaxSteps)},
                  {"action", "find out why the clock is set so often, and restart this agent"}});
}

void NodeTick::Publish(BootTime begin, BootTime taken) {
  auto next = pool_.Acquire();
  if (!next) {
    ++status_.unpublished;
    return;
  }
  ledger_.Publish(*next);
  next->primary = primary_;
  next->usage_ratio = ratio_.value();
  next->ratio_method = ratio_.method();
  next->proc_stat_ratio = ratio_.proc_stat();
  next->exact_ratio = ratio_.exact();
  next->idle_payers = idle_shares_.payers();
  next->idle_baselines.clear();
  if (baselines_) baselines_->Publish(next->idle_baselines);
  next->sequence = ++sequence_;
  next->taken_at = parts_.clock.Wall() - (parts_.clock.Now() - begin);
  next->begun = begin;
  next->started = started_;
  next->wall = wall_;
  next->taken_boot = taken;
  next->interval = taken - *last_tick_;
  FillStatus(*next);
  parts_.board.Publish(std::move(next));
}

void NodeTick::FillStatus(snapshot::Snapshot& out) const {
  out.features = features_.totals();
  out.sources = parts_.meters.status();
  parts_.meters.ReadEstimates(out.estimates);
  parts_.meters.ReadPlatform(out.platform);
  out.other = parts_.meters.other();
  if (workload_models_) out.estimates.push_back(workload_models_->status());
  if (parts_.model_store) out.model_store = parts_.model_store();
  out.domains.clear();
  for (const energy::ZoneDelta& zone : parts_.meters.deltas()) out.domains.push_back(zone.domains);
  out.activity = parts_.activity.status();
  out.activity.failed_reads += parts_.resolver.reads_failed();
  out.pipeline = status_;
  out.pipeline.refused_claims = index_.refused_claims();
  if (parts_.pods != nullptr) out.pod_informer = parts_.pods->status();
  out.cpus = cpus_.list();
}

}  // namespace kepler::pipeline
