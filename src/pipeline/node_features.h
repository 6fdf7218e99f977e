#pragma once
// Load of the machine since the first tick, as input of power models. It is published with the joules of the same time,
// so that models can be trained on this agent's metrics. Collection thread only.
#include <memory>
#include <optional>

#include "activity/activity_source.h"
#include "base/node_events.h"
#include "os/proc_stat.h"
#include "status/node_load.h"

namespace kepler::pipeline {

class NodeFeatures {
 public:
  /// `events`: shared with other readers; null: no other reader.
  explicit NodeFeatures(std::shared_ptr<NodeEvents> events)
      : events_(events ? std::move(events) : std::make_shared<NodeEvents>()) {}

  /// Adds a good scan. Call before the meters are read.
  void AddScan(const activity::ActivitySample& sample, bool counts_events);
  /// Adds the reading of the same moment as the meters.
  void AddStat(const os::ProcStat& now);
  [[nodiscard]] status::NodeFeatures totals() const;

 private:
  std::shared_ptr<NodeEvents> events_;  // never null
  std::optional<os::ProcStat> last_;
  status::NodeFeatures totals_;  // except the events
};

}  // namespace kepler::pipeline
