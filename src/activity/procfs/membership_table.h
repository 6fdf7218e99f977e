#pragma once
// MembershipTable: one object per distinct /proc/PID/cgroup text, shared by all processes with that text.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "activity/cgroup_accounts.h"
#include "cgroup/owner_finder.h"

namespace kepler::activity::procfs {

/// Index of an interned membership. The index is freed with the last user and then reused.
using MembershipId = uint32_t;

class MembershipTable {
 public:
  /// `owners` must outlive the table.
  explicit MembershipTable(cgroup::OwnerFinder& owners);

  /// The entry for an unreadable file; always present.
  static constexpr MembershipId kUnreadable = 0;

  /// Adds a user of `text`, the bytes of PID/cgroup. Bytes that do not parse count as unreadable.
  [[nodiscard]] MembershipId Acquire(std::string_view text);
  void Release(MembershipId id);

  [[nodiscard]] Booking& operator[](MembershipId id) { return entries_[id]; }
  [[nodiscard]] const Booking& operator[](MembershipId id) const { return entries_[id]; }
  /// Entries by id; free entries have no users.
  [[nodiscard]] std::span<Booking> entries() { return entries_; }
  [[nodiscard]] size_t size() const { return by_text_.size(); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  cgroup::OwnerFinder& owners_;
  std::unordered_map<std::string, MembershipId, Hash, std::equal_to<>> by_text_;
  std::vector<Booking> entries_;
  std::vector<MembershipId> free_;
};

}  // namespace kepler::activity::procfs
