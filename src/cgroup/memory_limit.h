#pragma once
// How much memory this process may use.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler::cgroup {

/// memory.max, or memory.limit_in_bytes of v1. Nothing: no limit. Error: kMalformed.
[[nodiscard]] Result<std::optional<uint64_t>> ParseMemoryLimit(std::string_view text);

/// Bytes: the smallest limit of the own cgroup and of the cgroups above it that are mounted, and of the machine's
/// memory. `procfs`: the one of the own pid namespace, whose self/mountinfo names the mounts. Nothing where none of
/// these can be read.
[[nodiscard]] std::optional<uint64_t> ReadMemoryLimit(const std::string& procfs = "/proc");

}  // namespace kepler::cgroup
