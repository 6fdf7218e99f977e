#pragma once
// ThisNode: the parts of the agent that measure this machine: models, meters, activity, and the tick over them.
// `kepler` serves its snapshots; `kepler run` takes ticks around a command.
#include <memory>

#include "activity/activity_source.h"
#include "apps/kepler/config.h"
#include "apps/kepler/wiring.h"
#include "base/clock.h"
#include "base/result.h"
#include "energy/meter_set.h"
#include "model_store/model_store.h"
#include "pipeline/node_tick.h"
#include "snapshot/snapshot.h"
#include "workload/pod_directory.h"
#include "workload/resolver.h"

namespace kepler::agent {

/// Readers that several parts of this machine's measurement share.
[[nodiscard]] Shared MakeShared(const Host& host, const Clock& clock);

class ThisNode {
 public:
  /// Opens the meters, and waits up to a second for models. `pods` may be null: they are not named. `clock` and `pods`
  /// must outlive the node. Errors: the message of a start that fails.
  [[nodiscard]] static Result<std::unique_ptr<ThisNode>> Open(const Config& config, const Clock& clock,
                                                              workload::PodDirectory* pods);

  /// Of one thread at a time.
  [[nodiscard]] pipeline::NodeTick& tick() { return *tick_; }
  /// Has the snapshot of the latest tick. Any thread.
  [[nodiscard]] const snapshot::Board& board() const { return board_; }
  /// Number of file descriptors that models may need.
  [[nodiscard]] uint64_t model_descriptors() const { return models_ ? models_->descriptors() : 0; }

 private:
  ThisNode() = default;

  snapshot::Board board_;
  std::unique_ptr<model_store::ModelStore> models_;  // null: there are no places to look at
  std::unique_ptr<energy::MeterSet> meters_;
  std::unique_ptr<activity::ActivitySource> activity_;
  std::unique_ptr<workload::Resolver> resolver_;
  std::unique_ptr<pipeline::NodeTick> tick_;
};

}  // namespace kepler::agent
