#pragma once
// PodDirectory: what the cluster says about the pods of this node, beyond the UIDs that cgroup paths show.
#include <memory>
#include <string_view>

#include "snapshot/status.h"
#include "workload/pod_map.h"

namespace kepler::workload {

class PodDirectory {
 public:
  virtual ~PodDirectory() = default;
  /// Never null. The same object as long as nothing has changed; a new one relabels series that run. Waits for no
  /// server. Any thread.
  [[nodiscard]] virtual std::shared_ptr<const PodMap> Latest() const = 0;
  /// A container of a pod runs of which Latest() says nothing, or the pod itself ("") does. May be called for the same
  /// one at each tick.
  virtual void Miss(std::string_view pod_uid, std::string_view container_id) = 0;
  [[nodiscard]] virtual snapshot::PodInformerStatus status() const = 0;
};

}  // namespace kepler::workload
