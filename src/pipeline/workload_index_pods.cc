// The names of pods and containers: asked for, awaited, and changed where the cluster says others.
#include <optional>
#include <utility>

#include "cgroup/owner.h"
#include "pipeline/workload_index.h"

namespace kepler::pipeline {
namespace {

using attribution::OwnerView;
using attribution::Row;

OwnerView OwnerOf(const workload::KnownPod& pod) {
  return {.name_space = pod.identity.name_space, .kind = pod.owner.kind, .name = pod.owner.name};
}

}  // namespace

void WorkloadIndex::AwaitNames(const cgroup::Owner& owner, Row pod, Row container) {
  const bool knows_pod = pods_->FindPod(owner.pod_uid) != nullptr;
  const bool has_container = owner.container && cgroup::AuthorityOf(owner.container->id).empty() &&
                             !cgroup::HasNamesAsIds(owner.container->runtime);
  const bool knows_container = !has_container || pods_->FindContainer(owner.container->id) != nullptr;
  if (knows_pod && knows_container) return;
  directory_->Miss(owner.pod_uid, has_container ? owner.container->id : std::string_view());
  if (!awaits_) return;
  if (!knows_pod && ledger_.HoldPod(pod)) pending_pods_.push_back({pod, now_, owner.pod_uid});
  if (!knows_container && ledger_.HoldContainer(container))
    pending_containers_.push_back({container, now_, owner.container->id});
}

void WorkloadIndex::ReleasePending() {
  std::erase_if(pending_containers_, [&](const Pending& container) {
    TouchContainer(container.row);
    const bool done = pods_->FindContainer(container.id) != nullptr || HasWaitedEnough(container.since);
    if (done) ledger_.ReleaseContainer(container.row);
    return done;
  });
  std::erase_if(pending_pods_, [&](const Pending& pod) {
    TouchPod(pod.row);
    const bool done = pods_->FindPod(pod.id) != nullptr || HasWaitedEnough(pod.since);
    if (done) ledger_.ReleasePod(pod.row);
    return done;
  });
}

snapshot::PodIdentity WorkloadIndex::PodOf(const std::string& uid) const {
  const snapshot::PodIdentity* const known = pods_->FindPod(uid);
  if (known == nullptr) return {.id = uid};
  snapshot::PodIdentity identity = *known;
  identity.id = uid;  // a static pod's cgroup shows another one than the API server does
  return identity;
}

std::string_view WorkloadIndex::NameOf(const ContainerId& container, std::string_view otherwise) const {
  const workload::PodMap::Container* const known = pods_->FindContainer(container.id);
  return known == nullptr || known->name.empty() ? otherwise : known->name;
}

/// Names that come late, or change, reach whoever runs already. What the directory has forgotten stays known.
void WorkloadIndex::LearnPods() {
  if (directory_ == nullptr) return;
  awaits_ = directory_->status().up;
  auto latest = directory_->Latest();
  if (latest == pods_) return;
  pods_ = std::move(latest);
  for (Row row = 0; row < open_pods_.size(); ++row) {
    const OpenGroups::Group& pod = open_pods_[row];
    const workload::KnownPod* const known = pod.id.empty() ? nullptr : pods_->Find(pod.id);
    if (known == nullptr) continue;
    SetOwner(row, *known);  // also of a pod that has ended: its energy may wait for the name
    if (pod.running) ledger_.RenamePod(row, known->identity);
  }
  ledger_.SetOwnersOfEnded([&](std::string_view uid) {
    const workload::KnownPod* const known = pods_->Find(uid);
    return known == nullptr ? std::nullopt : std::optional(OwnerOf(*known));
  });
  for (Row row = 0; row < open_containers_.size(); ++row) {
    const OpenGroups::Group& container = open_containers_[row];
    if (!container.running) continue;
    const workload::PodMap::Container* const known = pods_->FindContainer(container.id);
    if (known != nullptr && !known->name.empty()) ledger_.RenameContainer(row, known->name, max_label_bytes_);
  }
}

void WorkloadIndex::SetOwner(Row pod, const workload::KnownPod& known) { ledger_.SetOwner(pod, OwnerOf(known)); }

}  // namespace kepler::pipeline
