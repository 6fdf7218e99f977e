#pragma once
// NodeTick: one tick in order (docs/ARCHITECTURE.md, life of a tick): activity, energy right after it, the usage ratio,
// who is who, who pays, the snapshot. Collection thread only.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "activity/activity_source.h"
#include "attribution/ledger.h"
#include "base/clock.h"
#include "base/log.h"
#include "energy/meter_selector.h"
#include "os/proc_stat.h"
#include "pipeline/workload_index.h"
#include "snapshot/snapshot.h"
#include "workload/resolver.h"

namespace kepler::pipeline {

/// What a tick works on. All must outlive the NodeTick.
struct NodeParts {
  activity::ActivitySource& activity;
  energy::MeterSelector& meters;  // opened
  workload::Resolver& resolver;
  snapshot::Board& board;
  const Clock& clock;
  std::string procfs;  // for the usage ratio
  std::shared_ptr<const std::vector<snapshot::CpuInfo>> cpus;
};

class NodeTick {
 public:
  NodeTick(NodeParts parts, attribution::RetentionPolicy retention);

  /// One tick. The first only sets the baselines; every later one publishes, unless readers hold all snapshots.
  /// `missed`: deadlines skipped since the last tick, for the counter.
  void Run(uint64_t missed);

 private:
  void SyncZones();
  [[nodiscard]] std::vector<attribution::ZoneTick> TakeDeltas() const;
  [[nodiscard]] Ratio ReadUsage();
  void Publish(Nanoseconds interval);
  void FillStatus(snapshot::Snapshot& out) const;

  NodeParts parts_;
  attribution::Ledger ledger_;
  WorkloadIndex index_;
  os::ProcStatReader proc_stat_;
  std::optional<os::ProcStatCpu> last_stat_;
  Ratio last_ratio_;
  activity::ActivitySample sample_;
  const energy::Meter* meter_ = nullptr;  // whose zones the ledger has
  snapshot::Pool pool_;
  snapshot::PipelineStatus status_;
  uint64_t sequence_ = 0;
  std::optional<BootTime> last_tick_;
  log::LogLimiter limiter_;
};

}  // namespace kepler::pipeline
