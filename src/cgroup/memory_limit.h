#pragma once
// Reads the memory limit of this process.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler::cgroup {

/// Parses memory.max, or memory.limit_in_bytes of v1. Returns nothing if there is no limit. Error: kMalformed.
[[nodiscard]] Result<std::optional<uint64_t>> ParseMemoryLimit(std::string_view text);

/// Returns the smallest limit, in bytes, of this process' cgroup, of the mounted cgroups above it, and of the machine's
/// memory. Returns nothing if all are unreadable. `procfs` must belong to this process' pid namespace, because
/// self/cgroup and self/mountinfo must be those of this process. host.procfs may belong to another pid namespace.
[[nodiscard]] std::optional<uint64_t> ReadMemoryLimit(const std::string& procfs = "/proc");

}  // namespace kepler::cgroup
