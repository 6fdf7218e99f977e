#pragma once
// NodeTick: one tick in order (docs/ARCHITECTURE.md, life of a tick): activity, energy right after it, the usage ratio,
// identities, attribution, the snapshot. Collection thread only.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "activity/activity_source.h"
#include "attribution/ledger.h"
#include "attribution/weights.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/node_events.h"
#include "base/text.h"
#include "energy/meter_set.h"
#include "os/proc_stat.h"
#include "pipeline/idle_baselines.h"
#include "pipeline/idle_shares.h"
#include "pipeline/node_cpus.h"
#include "pipeline/node_features.h"
#include "pipeline/usage_ratio.h"
#include "pipeline/workload_index.h"
#include "pipeline/workload_models.h"
#include "snapshot/snapshot.h"
#include "workload/resolver.h"

namespace kepler::pipeline {

/// What a tick works on. All must outlive the NodeTick.
struct NodeParts {
  activity::ActivitySource& activity;
  energy::MeterSet& meters;
  workload::Resolver& resolver;
  snapshot::Board& board;
  const Clock& clock;
  std::string procfs;                                       // for what the processors are
  std::shared_ptr<os::ProcStatReader> proc_stat = nullptr;  // for the usage ratio; null: one of its own
  workload::PodDirectory* pods = nullptr;                   // null: pods go by their UIDs
  BootTime started{};                                       // when the program began; {}: now
  std::shared_ptr<NodeEvents> events = nullptr;             // filled before the meters are read; null: for nobody else
  std::function<status::ModelStoreStatus()> model_store = nullptr;  // null: there is none
  WorkloadModelSettings models{};                                   // for CpuWeights::kModel
};

/// By what the energy of the processors' zones is split.
enum class CpuWeights : uint8_t { kTime, kCounters, kModel };

/// What of a zone's energy is idle.
enum class IdlePolicy : uint8_t {
  kRatio,    // all but the usage ratio of it, as upstream
  kBaseline  // what the zone needs without work, at any load
};

/// How energy is split.
struct SplitOptions {
  CpuWeights weights = CpuWeights::kTime;
  snapshot::RatioMethod ratio = snapshot::RatioMethod::kProcStat;
  IdlePolicy idle = IdlePolicy::kRatio;
  snapshot::IdlePayers idle_payers = snapshot::IdlePayers::kNode;
};

/// What keeps the number and the size of series down.
struct SeriesLimits {
  attribution::ProcessLimits processes;
  size_t max_label_bytes = kMaxLabelBytes;  // of programs and containers: longer names are cut
};

class NodeTick {
 public:
  NodeTick(NodeParts parts, attribution::RetentionPolicy retention, SplitOptions split = {},
           const SeriesLimits& limits = {});

  /// One tick. The first only sets the baselines; every later one publishes, unless readers hold all snapshots.
  /// `missed`: deadlines skipped since the last tick, for the counter.
  void Run(uint64_t missed);

  /// Between ticks: see ActivitySource.
  [[nodiscard]] int wake_fd() const { return parts_.activity.WakeFd(); }
  void Drain() { parts_.activity.Drain(); }

 private:
  void SyncZones();
  void LearnBaselines(BootTime taken, uint64_t missed);
  void ChooseModels(bool scanned, uint64_t missed);
  void MakeWeights(CpuWeights kind);
  [[nodiscard]] std::vector<attribution::ZoneCharge> Charges();
  void ReadProcStat();
  void Publish(BootTime begin, BootTime taken);
  void FillStatus(snapshot::Snapshot& out) const;

  NodeParts parts_;
  const size_t max_label_bytes_;
  attribution::Ledger ledger_;
  std::unique_ptr<attribution::Weights> cpu_weights_;  // never null
  std::optional<WorkloadModels> workload_models_;      // of cpu_weights_, with CpuWeights::kModel
  WorkloadIndex index_;
  std::shared_ptr<os::ProcStatReader> proc_stat_;  // never null
  const BootTime started_;
  NodeCpus cpus_;
  NodeFeatures features_;
  UsageRatio ratio_;
  std::optional<IdleBaselines> baselines_;  // nothing: the ratio splits
  IdleShares idle_shares_;
  activity::ActivitySample sample_;
  std::vector<status::Zone> zones_;  // of the meters, as the ledger knows them
  size_t primary_ = 0;               // of the ledger's zones
  snapshot::Pool pool_;
  status::PipelineStatus status_;
  uint64_t sequence_ = 0;
  std::optional<BootTime> last_tick_;
  std::optional<BootTime> last_scan_;  // that did not fail
  log::LogLimiter limiter_;
};

}  // namespace kepler::pipeline
