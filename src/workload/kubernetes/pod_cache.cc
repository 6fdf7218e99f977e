#include "workload/kubernetes/pod_cache.h"

#include <fmt/format.h>

#include <ranges>

#include "base/text.h"

namespace kepler::workload::kubernetes {

PodCache::Known PodCache::KnowledgeOf(const Pod& pod) {
  Known known{
      .identity = {.id = LabelText(pod.uid), .name = LabelText(pod.name), .name_space = LabelText(pod.name_space)},
      .static_uid = LabelText(pod.static_uid),
      .containers = {}};
  for (const PodContainer& container : pod.containers)
    known.containers.push_back({LabelText(container.id), LabelText(container.name), container.requests});
  if (!pod.labels.empty() || !pod.annotations.empty())
    known.identity.labels = lists_.Intern(pod.labels, pod.annotations);
  return known;
}

void PodCache::Replace(const std::vector<Pod>& pods, BootTime now) {
  auto before = std::exchange(pods_, {});
  for (const Pod& pod : pods) {
    before.erase(pod.uid);
    pods_.try_emplace(pod.uid, KnowledgeOf(pod));
  }
  for (Known& pod : before | std::views::values) Bury(std::move(pod), now);
}

Status PodCache::Set(const Pod& pod) {
  if (pods_.size() >= kMaxPods && !pods_.contains(pod.uid))
    return Fail(ErrorKind::kInvalid, fmt::format("this node has more than {} pods", kMaxPods));
  pods_.insert_or_assign(pod.uid, KnowledgeOf(pod));
  return {};
}

void PodCache::Remove(const std::string& uid, BootTime now) {
  if (auto known = pods_.extract(uid)) Bury(std::move(known.mapped()), now);
}

void PodCache::Bury(Known pod, BootTime now) {
  if (gone_.size() >= kMaxGone) gone_.pop_front();
  gone_.push_back({std::move(pod), now});
}

std::shared_ptr<const PodMap> PodCache::MakeMap(BootTime now) {
  while (!gone_.empty() && now - gone_.front().since > kMemory) gone_.pop_front();
  auto map = std::make_shared<PodMap>();
  for (const Known& pod : pods_ | std::views::values) {
    map->pods.try_emplace(pod.identity.id, pod.identity);
    for (const PodContainer& container : pod.containers) {
      const auto [known, fresh] = map->container_names.try_emplace(container.id, container.name);
      if (!fresh && known->second != container.name) known->second.clear();
      const auto [requests, first] = map->container_requests.try_emplace(container.id, container.requests);
      if (!first && requests->second != container.requests) requests->second = {};
    }
  }
  for (const Gone& gone : gone_ | std::views::reverse) {
    map->pods.try_emplace(gone.pod.identity.id, gone.pod.identity);
    for (const PodContainer& container : gone.pod.containers) {
      map->container_names.try_emplace(container.id, container.name);
      map->container_requests.try_emplace(container.id, container.requests);
    }
  }
  std::erase_if(map->container_requests, [](const auto& container) { return !container.second.any(); });
  std::map<std::string_view, const Known*> by_hash;
  for (const Known& pod : pods_ | std::views::values) {
    if (pod.static_uid.empty() || pod.static_uid == pod.identity.id) continue;
    const auto [claim, fresh] = by_hash.try_emplace(pod.static_uid, &pod);
    if (!fresh) claim->second = nullptr;
  }
  for (const Gone& gone : gone_ | std::views::reverse)
    if (!gone.pod.static_uid.empty()) by_hash.try_emplace(gone.pod.static_uid, &gone.pod);
  for (const auto& [hash, pod] : by_hash)
    if (pod != nullptr) map->pods.try_emplace(std::string(hash), pod->identity);
  return map;
}

}  // namespace kepler::workload::kubernetes
