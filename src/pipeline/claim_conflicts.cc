#include "pipeline/claim_conflicts.h"

#include <algorithm>

namespace kepler::pipeline {
namespace {

/// Returns true if has() is true for the same id of a higher authority: "uid1000/a/ID" is checked as "ID" and
/// "uid1000/ID".
template <class Has>
bool AnyAbove(std::string_view id, std::string& above, Has&& has) {
  const std::string_view plain = cgroup::PlainId(id);
  const std::string_view authority = cgroup::AuthorityOf(id);
  for (size_t end = 0; end < authority.size(); end = authority.find('/', end) + 1) {
    above = authority.substr(0, end);
    above += plain;
    if (has(above)) return true;
  }
  return false;
}

/// Whether a container with this id runs, under `runtime` or under another one that cannot have the same id by chance.
bool RunsUnderAny(const OpenGroups& containers, std::string_view runtime, std::string_view id) {
  const auto runs = [&](std::string_view name) { return containers.IsRunning(name, id); };
  const auto hex = cgroup::RuntimesWithHexIds();
  return std::ranges::find(hex, runtime) == hex.end() ? runs(runtime) : std::ranges::any_of(hex, runs);
}

}  // namespace

void ClaimConflicts::SeeContainer(const ContainerId& container, const workload::PodMap& known, BootTime now) {
  const bool refused = AnyAbove(container.id, above_, [&](std::string_view id) {
    return RunsUnderAny(containers_, container.runtime, id) || known.FindContainer(id) != nullptr;
  });
  if (!refused || !IsNew("container", container.id)) return;
  ++counts_.containers;
  Say("container", container.id, now);
}

void ClaimConflicts::SeePod(std::string_view pod_uid, const workload::PodMap& known, BootTime now) {
  const bool refused = AnyAbove(
      pod_uid, above_, [&](std::string_view uid) { return pods_.IsRunning("", uid) || known.FindPod(uid) != nullptr; });
  if (!refused || !IsNew("pod", pod_uid)) return;
  ++counts_.pods;
  Say("pod", pod_uid, now);
}

bool ClaimConflicts::IsNew(std::string_view kind, std::string_view id) {
  attribution::SetKey(key_, kind, id);
  auto it = seen_.find(key_);
  const bool fresh = it == seen_.end();
  if (fresh) it = seen_.emplace(key_, tick_).first;
  it->second = tick_;
  return fresh;
}

void ClaimConflicts::EndTick() {
  std::erase_if(seen_, [&](const auto& claim) { return claim.second != tick_; });
  ++tick_;
}

/// There is one cause per user or container that the machine knows. Claimants could choose all other names freely.
void ClaimConflicts::Say(std::string_view kind, std::string_view id, BootTime now) {
  const std::string_view claimant = id.substr(0, id.find('/'));
  limiter_.Say(log::Level::kWarn, attribution::JoinKey(kind, claimant), now,
               "a cgroup claims the id of a container or pod of another owner; it is counted under a separate id",
               {{"kind", std::string(kind)},
                {"id", std::string(cgroup::PlainId(id))},
                {"claimed_by", std::string(claimant)},
                {"counted_as", std::string(id)}});
}

}  // namespace kepler::pipeline
