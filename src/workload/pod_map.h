#pragma once
// PodMap: names of pods and containers at one moment, by the ids in cgroup paths. Immutable; versions share unchanged
// pods. Pure.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "snapshot/identity.h"

namespace kepler::workload {

/// CPU and memory that the scheduler reserves for a container.
struct ContainerRequests {
  uint64_t cpu_millis = 0;  // 1000 is one CPU
  uint64_t memory_kib = 0;
  [[nodiscard]] bool any() const { return cpu_millis > 0 || memory_kib > 0; }
  bool operator==(const ContainerRequests&) const = default;
};

struct PodContainer {
  std::string id;    // id from the container runtime, without "containerd://"
  std::string name;  // in the pod spec
  ContainerRequests requests{};
  bool operator==(const PodContainer&) const = default;
};

/// Controller that a pod belongs to, such as a Deployment. Both texts are empty if the pod has no controller.
struct PodOwner {
  std::string kind{};
  std::string name{};
  bool operator==(const PodOwner&) const = default;
};

/// A pod. Texts are label texts (LabelText, LabelLists).
struct KnownPod {
  snapshot::PodIdentity identity;
  // UID in the pod's cgroup path if it differs: the hash of a static pod's manifest; "" if it does not differ
  std::string static_uid{};
  std::vector<PodContainer> containers{};
  PodOwner owner{};
  bool operator==(const KnownPod&) const = default;
};
using KnownPodPtr = std::shared_ptr<const KnownPod>;

/// Approximate memory, in bytes, of a text, a container, or a pod with its containers. Includes the lookup entries.
[[nodiscard]] size_t MemoryOf(const std::string& text);
[[nodiscard]] size_t MemoryOf(const PodContainer& container);
[[nodiscard]] size_t MemoryOf(const KnownPod& pod);

class PodMap {
 public:
  /// Name and requests of a container, according to the pods.
  struct Container {
    std::string_view name;  // "" if two pods claim the container under different names
    ContainerRequests requests;
  };

  PodMap() = default;
  /// `there`: existing pods. `gone`: ended pods, the latest first. An existing pod takes precedence over an ended pod.
  /// A pod's own UID takes precedence over a hash that another pod claims. A hash claimed by two pods maps to no pod.
  explicit PodMap(std::vector<KnownPodPtr> there, std::vector<KnownPodPtr> gone = {});

  /// Returns null if the pod is unknown. `uid`: the UID in the pod's cgroup path.
  [[nodiscard]] const KnownPod* Find(std::string_view uid) const;
  [[nodiscard]] const snapshot::PodIdentity* FindPod(std::string_view uid) const {
    const KnownPod* const pod = Find(uid);
    return pod == nullptr ? nullptr : &pod->identity;
  }
  /// Returns null if the container is unknown. `id`: the id from the container runtime.
  [[nodiscard]] const Container* FindContainer(std::string_view id) const;
  [[nodiscard]] size_t pods() const { return pods_.size(); }  // number of UIDs and hashes that map to a pod
  [[nodiscard]] size_t containers() const { return containers_.size(); }

 private:
  void AddContainers(const KnownPod& pod, bool is_there);
  void AddHashes();

  std::vector<KnownPodPtr> there_, gone_;  // hold the texts of the keys below
  boost::unordered_flat_map<std::string_view, const KnownPod*> pods_;
  boost::unordered_flat_map<std::string_view, Container> containers_;
};

}  // namespace kepler::workload
