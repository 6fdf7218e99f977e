#pragma once
// GroupAccounts: the accounts of containers, VMs or pods, found by their labels. A group must be touched in every tick;
// otherwise it ends. Pure; collection thread only.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attribution/accounts.h"
#include "base/ids.h"

namespace kepler::attribution {

// Makes the key of a group from its labels.
inline void SetKey(std::string& key, std::string_view kind, std::string_view id) {
  key = kind;
  key.push_back('\0');
  key += id;
}
inline std::string JoinKey(std::string_view kind, std::string_view id) {
  std::string key;
  SetKey(key, kind, id);
  return key;
}
inline std::string KeyOf(const ContainerId& container) { return JoinKey(container.runtime, container.id); }
inline std::string KeyOf(const snapshot::ContainerIdentity& identity) { return JoinKey(identity.runtime, identity.id); }
inline std::string KeyOf(const snapshot::VmIdentity& identity) { return JoinKey(identity.hypervisor, identity.id); }
inline std::string KeyOf(const snapshot::PodIdentity& identity) { return identity.id; }
// `key` is already a key. The key of a pod is its UID.
inline std::string_view KeyOf(std::string_view key) { return key; }

// Keeps a known name if the new name is empty.
inline void KeepKnownName(std::string& name, const std::string& known) {
  if (name.empty()) name = known;
}
inline void KeepKnownNames(snapshot::ContainerIdentity& identity, const snapshot::ContainerIdentity& known) {
  // The first name stays. A process with a changed environment may give another name, which would end the series.
  if (!known.name.empty()) identity.name = known.name;
  KeepKnownName(identity.pod_id, known.pod_id);
  KeepKnownName(identity.pod_name, known.pod_name);
  KeepKnownName(identity.pod_namespace, known.pod_namespace);
}
inline void KeepKnownNames(snapshot::VmIdentity& identity, const snapshot::VmIdentity& known) {
  KeepKnownName(identity.name, known.name);
  if (identity.metadata == snapshot::VmMetadata{}) identity.metadata = known.metadata;
}
inline void KeepKnownNames(snapshot::PodIdentity& identity, const snapshot::PodIdentity& known) {
  KeepKnownName(identity.name, known.name);
  KeepKnownName(identity.name_space, known.name_space);
  if (!identity.labels) identity.labels = known.labels;
}

/// The groups of one level that ended in a tick, and the rows that were freed: no group has them from now on.
struct ClosedGroups {
  std::vector<Row> ended;
  std::vector<Row> freed;
};

template <class Identity>
class GroupAccounts : public Accounts<Identity> {
 public:
  using Accounts<Identity>::Accounts;

  /// Same as in Accounts. Groups that are not touched afterwards end with the tick.
  void BeginTick(BootTime begin) {
    Accounts<Identity>::BeginTick(begin);
    ++tick_;
    closed_.ended.clear();
    closed_.freed.clear();
  }
  /// The listed group with these labels or this key, or kNoRow. Allocates nothing for a key.
  template <class Labels>
  [[nodiscard]] Row Find(const Labels& labels) const {
    const auto it = rows_.find(KeyOf(labels));
    return it == rows_.end() ? kNoRow : it->second;
  }
  /// Returns the group with these labels, and opens it at 0 if there is none. A terminated group continues. A changed
  /// label relabels the group.
  Row FindOrOpen(Identity identity);
  /// Changes the labels. The labels that form the key must stay the same.
  void SetLabels(Row row, Identity identity) {
    if (this->identity(row) == identity) return;
    Check(KeyOf(identity) == KeyOf(this->identity(row)), "a relabelled account must keep its identity");
    this->Relabel(row, std::make_shared<const Identity>(std::move(identity)));
  }
  /// Marks the group as alive in this tick. A terminated group continues.
  void Touch(Row row) {
    if (!this->running(row)) this->Revive(row);
    if (row >= touched_.size()) touched_.resize(row + 1);
    touched_[row] = tick_;
  }
  /// Returns true if the group was touched in this tick.
  [[nodiscard]] bool touched(Row row) const { return row < touched_.size() && touched_[row] == tick_; }
  /// Frees the labels for another group. The row stays until Depart().
  void Forget(Row row) { rows_.erase(KeyOf(this->identity(row))); }
  /// Ends those that were not touched in this tick, and the listing of those whose time is over.
  void EndUntouched(BootTime now, size_t primary_zone);
  /// Those of this tick. A listed group that ended is in `ended`; it goes on if it is touched.
  [[nodiscard]] const ClosedGroups& closed() const { return closed_; }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, Row, Hash, std::equal_to<>> rows_;  // by key
  std::vector<uint64_t> touched_;                                     // latest tick, by row
  uint64_t tick_ = 0;
  ClosedGroups closed_;
};

template <class Identity>
Row GroupAccounts<Identity>::FindOrOpen(Identity identity) {
  const auto [it, fresh] = rows_.try_emplace(KeyOf(identity), kNoRow);
  if (fresh) {
    it->second = this->Open(std::make_shared<const Identity>(std::move(identity)));
  } else {
    const Identity& known = this->identity(it->second);
    KeepKnownNames(identity, known);
    SetLabels(it->second, std::move(identity));
  }
  Touch(it->second);
  return it->second;
}

template <class Identity>
void GroupAccounts<Identity>::EndUntouched(BootTime now, size_t primary_zone) {
  for (auto it = rows_.begin(); it != rows_.end();) {
    const Row row = it->second;
    const bool ends = this->running(row) && !touched(row);
    if (ends && !this->End(row, now, primary_zone)) {
      closed_.freed.push_back(row);
      it = rows_.erase(it);
      continue;
    }
    if (ends) closed_.ended.push_back(row);
    ++it;
  }
  this->Expire(now, primary_zone, [&](Row row) {
    closed_.freed.push_back(row);
    Forget(row);
  });
}

}  // namespace kepler::attribution
