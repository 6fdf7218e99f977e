#pragma once
// PodMap: the names of pods and containers at one moment, found by what cgroups show. Immutable; versions share the
// pods that did not change. Pure.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "snapshot/identity.h"

namespace kepler::workload {

/// What the scheduler keeps free for a container.
struct ContainerRequests {
  uint64_t cpu_millis = 0;  // 1000: a processor
  uint64_t memory_kib = 0;
  [[nodiscard]] bool any() const { return cpu_millis > 0 || memory_kib > 0; }
  bool operator==(const ContainerRequests&) const = default;
};

struct PodContainer {
  std::string id;    // the runtime's, without "containerd://"
  std::string name;  // in the pod spec
  ContainerRequests requests{};
  bool operator==(const PodContainer&) const = default;
};

/// A pod. Texts as labels show them (LabelText, LabelLists).
struct KnownPod {
  snapshot::PodIdentity identity;
  std::string static_uid{};  // the UID that its cgroup shows instead: the hash of a static pod's manifest; "": none
  std::vector<PodContainer> containers{};
  bool operator==(const KnownPod&) const = default;
};
using KnownPodPtr = std::shared_ptr<const KnownPod>;

/// About how many bytes a text, a container or a pod with its containers takes, the entries that find it included.
[[nodiscard]] size_t MemoryOf(const std::string& text);
[[nodiscard]] size_t MemoryOf(const PodContainer& container);
[[nodiscard]] size_t MemoryOf(const KnownPod& pod);

class PodMap {
 public:
  /// What the pods say of a container.
  struct Container {
    std::string_view name;  // "" where two pods claim the container under different names
    ContainerRequests requests;
  };

  PodMap() = default;
  /// `there`: pods that exist. `gone`: pods that ended, the latest first; an existing pod counts before them. A pod's
  /// own UID counts before the hash that another pod claims. A hash that two pods claim names neither.
  explicit PodMap(std::vector<KnownPodPtr> there, std::vector<KnownPodPtr> gone = {});

  /// Null: unknown. `uid`: of the pod's cgroup.
  [[nodiscard]] const snapshot::PodIdentity* FindPod(std::string_view uid) const;
  /// Null: unknown. `id`: the runtime's.
  [[nodiscard]] const Container* FindContainer(std::string_view id) const;
  [[nodiscard]] size_t pods() const { return pods_.size(); }  // UIDs and hashes that name a pod
  [[nodiscard]] size_t containers() const { return containers_.size(); }

 private:
  void AddContainers(const KnownPod& pod, bool is_there);
  void AddHashes();

  std::vector<KnownPodPtr> there_, gone_;  // keep the texts that the keys below point to
  boost::unordered_flat_map<std::string_view, const snapshot::PodIdentity*> pods_;
  boost::unordered_flat_map<std::string_view, Container> containers_;
};

}  // namespace kepler::workload
