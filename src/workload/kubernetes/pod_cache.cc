#include "workload/kubernetes/pod_cache.h"

#include <fmt/format.h>

#include <ranges>
#include <utility>

#include "base/text.h"

namespace kepler::workload::kubernetes {

KnownPodPtr PodCache::KnowledgeOf(const Pod& pod) {
  auto known = std::make_shared<KnownPod>(KnownPod{
      .identity = {.id = LabelText(pod.uid), .name = LabelText(pod.name), .name_space = LabelText(pod.name_space)},
      .static_uid = LabelText(pod.static_uid)});
  known->containers.reserve(pod.containers.size());
  for (const PodContainer& container : pod.containers)
    known->containers.push_back({LabelText(container.id), LabelText(container.name), container.requests});
  if (!pod.labels.empty() || !pod.annotations.empty())
    known->identity.labels = lists_.Intern(pod.labels, pod.annotations);
  const auto before = pods_.find(pod.uid);
  if (before != pods_.end() && *before->second == *known) return before->second;
  return known;
}

void PodCache::Replace(std::vector<Pod> pods, BootTime now) {
  Pods next;
  bool has_changed = false;
  size_t kept = 0;  // of the pods that were there
  for (Pod& pod : pods) {
    const auto before = pods_.find(pod.uid);
    const auto [known, fresh] = next.try_emplace(pod.uid, nullptr);
    if (!fresh) continue;
    known->second = KnowledgeOf(pod);
    if (before != pods_.end()) ++kept;
    has_changed = has_changed || before == pods_.end() || before->second != known->second;
    pod = {};  // its memory is free before the next pod is copied
  }
  if (!has_changed && kept == pods_.size()) return;
  {
    const std::scoped_lock lock(mutex_);
    pods_.swap(next);
    for (auto& [uid, pod] : next)
      if (!pods_.contains(uid)) Bury(std::move(pod), now);
    has_changed_ = true;
  }  // the map before ends without the mutex
}

Status PodCache::Set(const Pod& pod) {
  const auto before = pods_.find(pod.uid);
  if (pods_.size() >= kMaxPods && before == pods_.end())
    return Fail(ErrorKind::kInvalid, fmt::format("this node has more than {} pods", kMaxPods));
  KnownPodPtr known = KnowledgeOf(pod);
  if (before != pods_.end() && before->second == known) return {};
  const std::scoped_lock lock(mutex_);
  pods_.insert_or_assign(pod.uid, std::move(known));
  has_changed_ = true;
  return {};
}

void PodCache::Remove(const std::string& uid, BootTime now) {
  const std::scoped_lock lock(mutex_);
  if (auto known = pods_.extract(uid)) Bury(std::move(known.mapped()), now);
}

void PodCache::Bury(KnownPodPtr pod, BootTime now) {
  if (gone_.size() >= kMaxGone) gone_.pop_front();
  gone_.push_back({std::move(pod), now});
  has_changed_ = true;
}

std::shared_ptr<const PodMap> PodCache::Latest(BootTime now) {
  const std::scoped_lock lock(mutex_);
  for (; !gone_.empty() && now - gone_.front().since > kMemory; gone_.pop_front()) has_changed_ = true;
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
