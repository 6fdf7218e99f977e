#pragma once
// Rows of accounts, and which of them a process or a cgroup belongs to.
#include <cstdint>

namespace kepler::attribution {

/// The place of an account in its level; used again for another one when it is free.
using Row = uint32_t;
inline constexpr Row kNoRow = UINT32_MAX;

/// The groups that a process or a cgroup belongs to; kNoRow where it belongs to none.
struct Membership {
  Row container = kNoRow;
  Row vm = kNoRow;
  Row pod = kNoRow;
  bool operator==(const Membership&) const = default;
};

}  // namespace kepler::attribution
