#pragma once
// PodDirectory: what the cluster says about the pods of this node, beyond the UIDs that cgroup paths show.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "snapshot/identity.h"
#include "snapshot/status.h"

namespace kepler::workload {

/// What the scheduler keeps free for a container.
struct ContainerRequests {
  uint64_t cpu_millis = 0;  // 1000: a processor
  uint64_t memory_kib = 0;
  [[nodiscard]] bool any() const { return cpu_millis > 0 || memory_kib > 0; }
  bool operator==(const ContainerRequests&) const = default;
};

/// Immutable once it is handed out. Texts as labels show them (LabelText, LabelLists).
struct PodMap {
  std::unordered_map<std::string, snapshot::PodIdentity> pods;            // by the UID of their cgroup
  std::unordered_map<std::string, std::string> container_names;           // by the runtime's id, as in the pod spec
  std::unordered_map<std::string, ContainerRequests> container_requests;  // by the runtime's id; of those that have any
  bool operator==(const PodMap&) const = default;
};

class PodDirectory {
 public:
  virtual ~PodDirectory() = default;
  /// Never null. The same object as long as nothing has changed; a new one relabels series that run. Waits for nobody.
  /// Any thread.
  [[nodiscard]] virtual std::shared_ptr<const PodMap> Latest() const = 0;
  /// A container of a pod runs of which Latest() says nothing. May be called for the same one at each tick.
  virtual void Miss(std::string_view container_id) = 0;
  [[nodiscard]] virtual snapshot::PodInformerStatus status() const = 0;
};

}  // namespace kepler::workload
