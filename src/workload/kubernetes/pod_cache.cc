#include "workload/kubernetes/pod_cache.h"

#include <ranges>
#include <utility>

#include "base/text.h"

namespace kepler::workload::kubernetes {

KnownPodPtr PodCache::KnowledgeOf(const Pod& pod) {
  auto known = std::make_shared<KnownPod>(KnownPod{
      .identity = {.id = LabelText(pod.uid), .name = LabelText(pod.name), .name_space = LabelText(pod.name_space)},
      .static_uid = LabelText(pod.static_uid),
      .owner = {LabelText(pod.owner.kind), LabelText(pod.owner.name)}});
  known->containers.reserve(pod.containers.size());
  for (const PodContainer& container : pod.containers)
    known->containers.push_back({LabelText(container.id), LabelText(container.name), container.requests});
  if (!pod.labels.empty() || !pod.annotations.empty())
    known->identity.labels = lists_.Intern(pod.labels, pod.annotations);
  const auto before = pods_.find(pod.uid);
  if (before != pods_.end() && *before->second == *known) return before->second;
  return known;
}

LeftOut PodCache::Replace(std::vector<Pod> pods, BootTime now) {
  Pods next;
  size_t bytes = 0;
  LeftOut left_out;
  bool has_changed = false;
  size_t kept = 0;  // of the pods that were there
  for (Pod& pod : pods) {
    if (next.contains(pod.uid)) continue;
    KnownPodPtr known = KnowledgeOf(pod);
    const size_t size = MemoryOf(*known);
    if (bytes + size > max_bytes_) {
      left_out += {.pods = 1, .containers = known->containers.size()};
      continue;
    }
    bytes += size;
    const auto before = pods_.find(pod.uid);
    if (before != pods_.end()) ++kept;
    has_changed = has_changed || before == pods_.end() || before->second != known;
    next.emplace(std::move(pod.uid), std::move(known));
    pod = {};  // its memory is free before the next pod is copied
  }
  if (!has_changed && kept == pods_.size()) return left_out;
  {
    const std::scoped_lock lock(mutex_);
    pods_.swap(next);
    bytes_ = bytes;
    for (auto& [uid, pod] : next)
      if (!pods_.contains(uid)) Bury(std::move(pod), now);
    has_changed_ = true;
  }  // the pods before end without the mutex
  return left_out;
}

LeftOut PodCache::Set(const Pod& pod) {
  KnownPodPtr known = KnowledgeOf(pod);
  const auto before = pods_.find(pod.uid);
  const bool is_known = before != pods_.end();
  if (is_known && before->second == known) return {};
  const size_t others = bytes_ - (is_known ? MemoryOf(*before->second) : 0);
  const size_t size = MemoryOf(*known);
  if (others + size > max_bytes_) return {.pods = is_known ? 0u : 1u, .containers = known->containers.size()};
  const std::scoped_lock lock(mutex_);
  bytes_ = others + size;
  pods_.insert_or_assign(pod.uid, std::move(known));
  has_changed_ = true;
  return {};
}

void PodCache::Remove(const std::string& uid, BootTime now) {
  const std::scoped_lock lock(mutex_);
  auto known = pods_.extract(uid);
  if (!known) return;
  bytes_ -= MemoryOf(*known.mapped());
  Bury(std::move(known.mapped()), now);
}

void PodCache::Bury(KnownPodPtr pod, BootTime now) {
  gone_bytes_ += MemoryOf(*pod);
  gone_.push_back({std::move(pod), now});
  while (gone_.size() > kMaxGone || gone_bytes_ > max_bytes_ / kGonePart) ForgetOldest();
  has_changed_ = true;
}

void PodCache::ForgetOldest() {
  gone_bytes_ -= MemoryOf(*gone_.front().pod);
  gone_.pop_front();
  has_changed_ = true;
}

size_t PodCache::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_ + gone_bytes_;
}

std::shared_ptr<const PodMap> PodCache::Latest(BootTime now) {
  const std::scoped_lock lock(mutex_);
  while (!gone_.empty() && now - gone_.front().since > kMemory) ForgetOldest();
  if (std::exchange(has_changed_, false)) MakeMap();
  return map_;
}

void PodCache::MakeMap() {
  std::vector<KnownPodPtr> there, gone;
  there.reserve(pods_.size());
  gone.reserve(gone_.size());
  for (const KnownPodPtr& pod : pods_ | std::views::values) there.push_back(pod);
  for (const Gone& one : gone_ | std::views::reverse) gone.push_back(one.pod);
  mapped_ += there.size() + gone.size();
  map_ = std::make_shared<const PodMap>(std::move(there), std::move(gone));
}

uint64_t PodCache::mapped() const {
  const std::scoped_lock lock(mutex_);
  return mapped_;
}

}  // namespace kepler::workload::kubernetes
