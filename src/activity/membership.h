#pragma once
// Membership: one distinct set of cgroups that processes are in, and where CgroupAccounts books their CPU time.
#include <cstdint>
#include <memory>
#include <string_view>

#include "os/process_info.h"

namespace kepler::activity {

/// Kept by CgroupAccounts.
struct BookingPlace {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint64_t epoch = 0;          // 0: not found out yet
  uint32_t main = kNone;       // node in the main tree
  uint32_t carve_out = kNone;  // node in the second tree, where the container is named only there
  uint32_t shadow = kNone;     // node in the second tree, where the main one names the container too
};

struct Membership {
  std::shared_ptr<const os::CgroupMembership> parsed;
  std::string_view text = {};  // the key of a table that finds it by its text
  uint32_t users = 0;          // 0: free
  BookingPlace place = {};
};

}  // namespace kepler::activity
