#pragma once
// MembershipTable: one object per distinct /proc/PID/cgroup text, however many processes share it.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "os/process_info.h"

namespace kepler::activity::procfs {

/// Index of an interned membership. Freed with its last user, then used again.
using MembershipId = uint32_t;

/// Where the CPU time of a membership's processes is booked; kept by CgroupAccounts.
struct BookingPlace {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint64_t epoch = 0;          // 0: not found out yet
  uint32_t main = kNone;       // node in the main tree
  uint32_t carve_out = kNone;  // node in the second tree, where the container is named only there
  uint32_t shadow = kNone;     // node in the second tree, where the main one names the container too
};

struct Membership {
  std::shared_ptr<const os::CgroupMembership> parsed;
  std::string_view text;  // the table's key
  uint32_t users = 0;
  BookingPlace place;
};

class MembershipTable {
 public:
  MembershipTable();

  /// The entry of "nothing could be read"; always there.
  static constexpr MembershipId kUnreadable = 0;

  /// One more user of `text` (the bytes of PID/cgroup; ones that do not parse count as unreadable).
  [[nodiscard]] MembershipId Acquire(std::string_view text);
  void Release(MembershipId id);

  [[nodiscard]] Membership& operator[](MembershipId id) { return entries_[id]; }
  [[nodiscard]] const Membership& operator[](MembershipId id) const { return entries_[id]; }
  /// One past the largest id ever used; free ones have no users.
  [[nodiscard]] MembershipId end() const { return static_cast<MembershipId>(entries_.size()); }
  [[nodiscard]] size_t size() const { return by_text_.size(); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, MembershipId, Hash, std::equal_to<>> by_text_;
  std::vector<Membership> entries_;
  std::vector<MembershipId> free_;
};

}  // namespace kepler::activity::procfs
