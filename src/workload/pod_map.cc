#include "workload/pod_map.h"

#include <utility>

namespace kepler::workload {
namespace {

// glibc on 64 bits: malloc's overhead per block, and the size of the table entries of a container and a pod.
constexpr size_t kBlock = 16;
constexpr size_t kContainerEntry = 64;
constexpr size_t kPodEntries = 208;

}  // namespace

size_t MemoryOf(const std::string& text) {
  static const size_t kInside = std::string().capacity();  // capacity inside the string object
  return text.size() <= kInside ? 0 : text.size() + 1 + kBlock;
}

size_t MemoryOf(const PodContainer& container) {
  return sizeof container + kContainerEntry + MemoryOf(container.id) + MemoryOf(container.name);
}

size_t MemoryOf(const KnownPod& pod) {
  size_t bytes = sizeof pod + kPodEntries + MemoryOf(pod.static_uid);
  for (const std::string* text :
       {&pod.identity.id, &pod.identity.name, &pod.identity.name_space, &pod.owner.kind, &pod.owner.name})
    bytes += MemoryOf(*text);
  for (const PodContainer& container : pod.containers) bytes += MemoryOf(container);
  if (!pod.identity.labels) return bytes;
  for (const auto& [name, value] : *pod.identity.labels)
    bytes += 2 * sizeof(std::string) + MemoryOf(name) + MemoryOf(value);
  return bytes;
}

PodMap::PodMap(std::vector<KnownPodPtr> there, std::vector<KnownPodPtr> gone)
    : there_(std::move(there)), gone_(std::move(gone)) {
  pods_.reserve(there_.size() + gone_.size());
  for (const KnownPodPtr& pod : there_) {
    pods_.try_emplace(pod->identity.id, pod.get());
    AddContainers(*pod, true);
  }
  for (const KnownPodPtr& pod : gone_) {
    pods_.try_emplace(pod->identity.id, pod.get());
    AddContainers(*pod, false);
  }
  AddHashes();
}

void PodMap::AddContainers(const KnownPod& pod, bool is_there) {
  for (const PodContainer& container : pod.containers) {
    const auto [known, fresh] = containers_.try_emplace(container.id, Container{container.name, container.requests});
    if (fresh || !is_there) continue;
    if (known->second.name != container.name) known->second.name = {};
    if (known->second.requests != container.requests) known->second.requests = {};
  }
}

void PodMap::AddHashes() {
  boost::unordered_flat_map<std::string_view, const KnownPod*> claims;  // null if two pods claim the hash
  for (const KnownPodPtr& pod : there_) {
    if (pod->static_uid.empty() || pod->static_uid == pod->identity.id) continue;
    const auto [claim, fresh] = claims.try_emplace(pod->static_uid, pod.get());
    if (!fresh) claim->second = nullptr;
  }
  for (const KnownPodPtr& pod : gone_)
    if (!pod->static_uid.empty()) claims.try_emplace(pod->static_uid, pod.get());
  for (const auto& [hash, pod] : claims)
    if (pod != nullptr) pods_.try_emplace(hash, pod);
}

const KnownPod* PodMap::Find(std::string_view uid) const {
  const auto found = pods_.find(uid);
  return found == pods_.end() ? nullptr : found->second;
}

const PodMap::Container* PodMap::FindContainer(std::string_view id) const {
  const auto found = containers_.find(id);
  return found == containers_.end() ? nullptr : &found->second;
}

}  // namespace kepler::workload
