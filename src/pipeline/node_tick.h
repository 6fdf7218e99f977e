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
#include "base/wall_history.h"
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
#include "workload/user_names.h"

namespace kepler::pipeline {

/// Parts that a tick uses. All must outlive the NodeTick.
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
  std::function<status::ModelStoreStatus()> model_store = nullptr;  // null: without a model store
  WorkloadModelSettings models{};                                   // for CpuWeights::kModel
};

/// Weights for the energy of CPU zones.
enum class CpuWeights : uint8_t { kTime, kCounters, kModel };

/// Idle part of the energy of a zone.
enum class IdlePolicy : uint8_t {
  kRatio,    // total × (1 − usage ratio), as upstream
  kBaseline  // learned idle power of the zone, at any load
};

/// How energy is split.
struct SplitOptions {
  CpuWeights weights = CpuWeights::kTime;
  snapshot::RatioMethod ratio = snapshot::RatioMethod::kProcStat;
  IdlePolicy idle = IdlePolicy::kRatio;
  snapshot::IdlePayers idle_payers = snapshot::IdlePayers::kNode;
};

/// Limits for the number and the size of series.
struct SeriesLimits {
  attribution::ProcessLimits processes{};
  size_t max_label_bytes = kMaxLabelBytes;  // names of programs and containers are cut to this length
  bool containers_show_pods = false;        // labels of containers have the names of their pods
  bool names_users = false;                 // users have their names, from a file of the host
};

class NodeTick {
 public:
  NodeTick(NodeParts parts, attribution::RetentionPolicy retention, SplitOptions split = {},
           const SeriesLimits& limits = {});

  /// Runs one tick. The first tick only sets the baselines. Each later tick publishes, unless readers hold all
  /// snapshots. `missed`: number of deadlines skipped since the last tick.
  void Run(uint64_t missed);

  /// For use between ticks, as in ActivitySource.
  [[nodiscard]] int wake_fd() const { return parts_.activity.WakeFd(); }
  void Drain() { parts_.activity.Drain(); }

 private:
  void SyncZones();
  void LearnBaselines(BootTime taken, uint64_t missed);
  void ChooseModels(bool scanned, uint64_t missed);
  void MakeWeights(CpuWeights kind);
  [[nodiscard]] std::vector<attribution::ZoneCharge> Charges();
  void ReadProcStat();
  void ReadWallClock(BootTime now);
  void Publish(BootTime begin, BootTime taken);
  void FillStatus(snapshot::Snapshot& out) const;

  NodeParts parts_;
  const size_t max_label_bytes_;
  attribution::Ledger ledger_;
  std::unique_ptr<attribution::Weights> cpu_weights_;  // never null
  std::optional<WorkloadModels> workload_models_;      // models of cpu_weights_; only with CpuWeights::kModel
  WorkloadIndex index_;
  std::optional<workload::UserNames> user_names_;  // only if something shows them
  std::shared_ptr<os::ProcStatReader> proc_stat_;  // never null
  const BootTime started_;
  std::shared_ptr<const WallHistory> wall_;  // never null; replaced when the wall clock was set
  WallHistory wall_now_;                     // has seen the latest tick
  NodeCpus cpus_;
  NodeFeatures features_;
  UsageRatio ratio_;
  std::optional<IdleBaselines> baselines_;  // only with IdlePolicy::kBaseline
  IdleShares idle_shares_;
  activity::ActivitySample sample_;
  std::vector<status::Zone> zones_;  // of the meters, as the ledger knows them
  size_t primary_ = 0;               // of the ledger's zones
  snapshot::Pool pool_;
  status::PipelineStatus status_;
  uint64_t sequence_ = 0;
  std::optional<BootTime> last_tick_;
  std::optional<BootTime> last_scan_;  // latest good scan
  log::LogLimiter limiter_;
};

}  // namespace kepler::pipeline
