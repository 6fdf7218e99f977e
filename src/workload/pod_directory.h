#pragma once
// PodDirectory: what the cluster says about the pods of this node, beyond the UIDs that cgroup paths show.
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "snapshot/identity.h"
#include "snapshot/status.h"

namespace kepler::workload {

/// Immutable once it is handed out. Texts as labels show them (LabelText, LabelLists).
struct PodMap {
  std::unordered_map<std::string, snapshot::PodIdentity> pods;   // by the UID of their cgroup
  std::unordered_map<std::string, std::string> container_names;  // by the runtime's id, as in the pod spec
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
