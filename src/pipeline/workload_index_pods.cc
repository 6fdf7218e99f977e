// The names of pods and containers: asked for, awaited, and changed where the cluster says others.
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "cgroup/owner.h"
#include "pipeline/workload_index.h"

namespace kepler::pipeline {
namespace {

using attribution::kNoRow;
using attribution::Ledger;
using attribution::Row;

bool HasSameNames(const snapshot::PodIdentity& a, const snapshot::PodIdentity& b) {
  const bool same_labels = a.labels == b.labels || (a.labels && b.labels && *a.labels == *b.labels);
  return same_labels && a.name == b.name && a.name_space == b.name_space;
}

}  // namespace

void WorkloadIndex::AwaitNames(const cgroup::Owner& owner, Row pod, Row container) {
  const bool knows_pod = pods_->FindPod(owner.pod_uid) != nullptr;
  const bool has_container = owner.container && cgroup::AuthorityOf(owner.container->id).empty();
  const bool knows_container = !has_container || pods_->FindContainer(owner.container->id) != nullptr;
  if (knows_pod && knows_container) return;
  directory_->Miss(owner.pod_uid, has_container ? owner.container->id : std::string_view());
  if (!awaits_) return;
  const auto is_new = [](const auto& groups, Row row) {
    return groups.listing(row) == std::remove_cvref_t<decltype(groups)>::Listing::kNew && !groups.shown(row);
  };
  if (!knows_pod && is_new(ledger_.pods(), pod)) {
    ledger_.HoldPod(pod);
    pending_pods_.push_back({pod, now_});
  }
  if (!knows_container && is_new(ledger_.containers(), container)) {
    ledger_.HoldContainer(container);
    pending_containers_.push_back({container, now_});
  }
}

void WorkloadIndex::ReleasePending() {
  const auto release = [&](std::vector<Pending>& pending, auto&& knows, void (Ledger::*touch)(Row),
                           void (Ledger::*let_go)(Row)) {
    std::erase_if(pending, [&](const Pending& one) {
      (ledger_.*touch)(one.row);
      if (!knows(one.row) && !HasWaitedEnough(one.since)) return false;
      (ledger_.*let_go)(one.row);
      return true;
    });
  };
  release(
      pending_containers_,
      [&](Row row) { return pods_->FindContainer(ledger_.containers().identity(row).id) != nullptr; },
      &Ledger::TouchContainer, &Ledger::ReleaseContainer);
  release(
      pending_pods_, [&](Row row) { return pods_->FindPod(ledger_.pods().identity(row).id) != nullptr; },
      &Ledger::TouchPod, &Ledger::ReleasePod);
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
  // Compared first: of thousands of rows a new version changes a few, and only these cost a copy.
  for (Row row = 0; row < ledger_.pods().size(); ++row) {
    if (!ledger_.pods().running(row)) continue;
    const snapshot::PodIdentity& shown = ledger_.pods().identity(row);
    const snapshot::PodIdentity* const known = pods_->FindPod(shown.id);
    if (known != nullptr && !HasSameNames(*known, shown)) ledger_.Relabel(row, PodOf(shown.id));
  }
  for (Row row = 0; row < ledger_.containers().size(); ++row) {
    if (!ledger_.containers().running(row)) continue;
    const snapshot::ContainerIdentity& shown = ledger_.containers().identity(row);
    const workload::PodMap::Container* const known = pods_->FindContainer(shown.id);
    if (known == nullptr || known->name.empty() || known->name == shown.name) continue;
    snapshot::ContainerIdentity identity = shown;
    identity.name = LabelText(known->name, max_label_bytes_);
    ledger_.Relabel(row, identity);
  }
}

}  // namespace kepler::pipeline
