#pragma once
// PodDirectory: cluster data about the pods of this node, in addition to the UIDs in cgroup paths.
#include <memory>
#include <string_view>

#include "status/pod_informer_status.h"
#include "workload/pod_map.h"

namespace kepler::workload {

class PodDirectory {
 public:
  virtual ~PodDirectory() = default;
  /// Never null. Returns the same object while nothing has changed; a new object relabels existing series. The call
  /// waits for no server. Any thread.
  [[nodiscard]] virtual std::shared_ptr<const PodMap> Latest() const = 0;
  /// Reports a running container that Latest() does not contain, or with an empty id the pod itself. May be called for
  /// the same container at each tick.
  virtual void Miss(std::string_view pod_uid, std::string_view container_id) = 0;
  [[nodiscard]] virtual status::PodInformerStatus status() const = 0;
};

}  // namespace kepler::workload
