#include "activity/procfs/membership_table.h"

#include <utility>

#include "os/procfs.h"

namespace kepler::activity::procfs {

MembershipTable::MembershipTable(cgroup::OwnerFinder& owners) : owners_(owners) {
  entries_.push_back({.cgroups = std::make_shared<const cgroup::Membership>(), .text = {}, .users = 1, .place = {}});
}

MembershipId MembershipTable::Acquire(std::string_view text) {
  if (const auto known = by_text_.find(text); known != by_text_.end()) {
    ++entries_[known->second].users;
    return known->second;
  }
  auto parsed = os::ParseCgroupLines(text);
  if (!parsed || parsed->empty()) {
    ++entries_[kUnreadable].users;
    return kUnreadable;
  }
  const auto id = TakePlace(entries_, free_);
  const auto at = by_text_.emplace(text, id).first;
  cgroup::Owner owner = owners_.OfProcess(*parsed);
  entries_[id] = {.cgroups = std::make_shared<const cgroup::Membership>(*std::move(parsed), std::move(owner)),
                  .text = at->first,
                  .users = 1,
                  .place = {}};
  return id;
}

void MembershipTable::Release(MembershipId id) {
  Booking& entry = entries_[id];
  if (--entry.users > 0) return;
  by_text_.erase(by_text_.find(entry.text));
  entry = {};
  free_.push_back(id);
}

}  // namespace kepler::activity::procfs
