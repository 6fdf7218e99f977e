#include "pipeline/open_groups.h"

#include "base/check.h"

namespace kepler::pipeline {

using attribution::Row;

void OpenGroups::Open(Row row, std::string_view kind, std::string_view id) {
  if (row >= groups_.size()) groups_.resize(row + 1);
  Group& group = groups_[row];
  group.running = true;
  if (group.id == id && group.kind == kind && Find(kind, id) == row) return;
  group = {.kind = std::string(kind), .id = std::string(id), .running = true};
  const bool fresh = rows_.emplace(Key{group.kind, group.id}, row).second;
  Check(fresh, "a group must have one account");
}

void OpenGroups::Close(const attribution::ClosedGroups& closed) {
  for (const Row row : closed.ended) groups_[row].running = false;
  for (const Row row : closed.freed) {
    rows_.erase(Key{groups_[row].kind, groups_[row].id});
    groups_[row] = {};
  }
}

}  // namespace kepler::pipeline
