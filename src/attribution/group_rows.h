#pragma once
// The rows of the groups of a level, by the key of their labels; used by the ledger only. Pure.
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "attribution/book.h"
#include "snapshot/snapshot.h"

namespace kepler::attribution {

inline std::string Key(std::string_view kind, std::string_view id) {
  std::string key(kind);
  key.push_back('\0');
  key += id;
  return key;
}
inline std::string KeyOf(const snapshot::ContainerIdentity& identity) { return Key(identity.runtime, identity.id); }
inline std::string KeyOf(const snapshot::VmIdentity& identity) { return Key(identity.hypervisor, identity.id); }
inline std::string KeyOf(const snapshot::PodIdentity& identity) { return identity.id; }

inline void KeepKnownName(std::string& name, const std::string& known) {
  if (name.empty()) name = known;
}
inline void KeepKnownNames(snapshot::ContainerIdentity& identity, const snapshot::ContainerIdentity& known) {
  // The first stays: another one is that of a process with an environment of its own, and would end the series.
  if (!known.name.empty()) identity.name = known.name;
  KeepKnownName(identity.pod_id, known.pod_id);
}
inline void KeepKnownNames(snapshot::VmIdentity& identity, const snapshot::VmIdentity& known) {
  KeepKnownName(identity.name, known.name);
}
inline void KeepKnownNames(snapshot::PodIdentity& identity, const snapshot::PodIdentity& known) {
  KeepKnownName(identity.name, known.name);
  KeepKnownName(identity.name_space, known.name_space);
}

/// Finds, revives, relabels or opens the row of a group.
template <class Identity>
Row FindOrOpen(Book<Identity>& book, std::unordered_map<std::string, Row>& rows, Identity identity) {
  const auto [it, fresh] = rows.try_emplace(KeyOf(identity), kNoRow);
  if (fresh) {
    it->second = book.Open(std::make_shared<const Identity>(std::move(identity)));
    return it->second;
  }
  const Row row = it->second;
  if (!book.running(row)) book.Revive(row);
  KeepKnownNames(identity, book.identity(row));
  if (!(book.identity(row) == identity)) book.Relabel(row, std::make_shared<const Identity>(std::move(identity)));
  return row;
}

}  // namespace kepler::attribution
