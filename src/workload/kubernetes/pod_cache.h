#pragma once
// PodCache: the pods of a node, kept up to date by lists and events. Pods that are gone are remembered for a while: the
// tick that accounts for a container's last time comes after its end. One thread changes it, any thread takes the map.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "workload/kubernetes/pod_json.h"
#include "workload/label_lists.h"
#include "workload/pod_map.h"

namespace kepler::workload::kubernetes {

class PodCache {
 public:
  static constexpr std::chrono::minutes kMemory{2};  // of pods that are gone
  static constexpr size_t kMaxGone = 1'024;          // the latest
  static constexpr size_t kGonePart = 8;             // they take at most this part of `max_bytes`

  /// `max_bytes`: limit of the pods that exist (MemoryOf). Replace() and Set() return what they left out for want of
  /// room. Replace() keeps the pods that fit, in the order of the list; a known pod that no longer fits is gone. If a
  /// pod does not fit, Set() leaves a known one as it was.
  explicit PodCache(size_t max_bytes = kMaxNameBytes) : max_bytes_(max_bytes) {}

  /// The pods that exist.
  [[nodiscard]] LeftOut Replace(std::vector<Pod> pods, BootTime now);
  [[nodiscard]] LeftOut Set(const Pod& pod);
  void Remove(const std::string& uid, BootTime now);
  /// Pods that exist. The changing thread.
  [[nodiscard]] size_t size() const { return pods_.size(); }
  /// Memory of the pods that exist and of those that are gone.
  [[nodiscard]] size_t bytes() const;

  /// The same object as long as nothing has changed. Made only when somebody asks: a burst of events costs one map. Any
  /// thread; waits for a map that another thread makes, never for a list.
  [[nodiscard]] std::shared_ptr<const PodMap> Latest(BootTime now);
  /// Pods put into maps since the start. For tests of the cost.
  [[nodiscard]] uint64_t mapped() const;

 private:
  using Pods = std::map<std::string, KnownPodPtr>;  // by UID, as the server gave it
  struct Gone {
    KnownPodPtr pod;
    BootTime since;
  };
  /// The pod as it was, where nothing of it has changed.
  [[nodiscard]] KnownPodPtr KnowledgeOf(const Pod& pod);
  void Bury(KnownPodPtr pod, BootTime now);
  void ForgetOldest();
  void MakeMap();

  const size_t max_bytes_;

  LabelLists lists_;  // the changing thread's own
  // The changing thread writes these under the mutex and reads them without it.
  mutable std::mutex mutex_;
  Pods pods_;
  size_t bytes_ = 0;       // of pods_
  std::deque<Gone> gone_;  // the latest at the back
  size_t gone_bytes_ = 0;
  bool has_changed_ = false;
  std::shared_ptr<const PodMap> map_ = std::make_shared<const PodMap>();
  uint64_t mapped_ = 0;
};

}  // namespace kepler::workload::kubernetes
