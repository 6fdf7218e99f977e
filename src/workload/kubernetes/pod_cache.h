#pragma once
// PodCache: what is known about the pods of a node, kept up by lists and events. Those that are gone are remembered for
// a while: the tick that accounts for a container's last time comes after its end. Pure; one thread.
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "workload/kubernetes/pod_json.h"
#include "workload/label_lists.h"
#include "workload/pod_directory.h"

namespace kepler::workload::kubernetes {

class PodCache {
 public:
  static constexpr std::chrono::minutes kMemory{2};  // of pods that are gone
  static constexpr size_t kMaxGone = 1'024;          // the latest

  /// The pods that there are.
  void Replace(const std::vector<Pod>& pods, BootTime now);
  /// An error beyond kMaxPods.
  [[nodiscard]] Status Set(const Pod& pod);
  void Remove(const std::string& uid, BootTime now);

  /// By what cgroups show. What is there counts before what is gone, a pod's own UID before what another claims to be
  /// the hash of its manifest. A hash or a container that two pods claim has no name.
  [[nodiscard]] std::shared_ptr<const PodMap> MakeMap(BootTime now);
  /// Pods that there are.
  [[nodiscard]] size_t size() const { return pods_.size(); }

 private:
  /// Texts as labels show them.
  struct Known {
    snapshot::PodIdentity identity;
    std::string static_uid;
    std::vector<PodContainer> containers;
  };
  struct Gone {
    Known pod;
    BootTime since;
  };
  [[nodiscard]] Known KnowledgeOf(const Pod& pod);
  void Bury(Known pod, BootTime now);

  LabelLists lists_;
  std::map<std::string, Known> pods_;  // by UID
  std::deque<Gone> gone_;              // the latest at the back
};

}  // namespace kepler::workload::kubernetes
