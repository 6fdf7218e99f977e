#pragma once
// Parses records of the ring buffer (bpf/abi.h) from untyped bytes. Pure.
#include <cstddef>
#include <span>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "bpf/abi.h"

namespace kepler::activity::bpf {

/// A pointer to the record in the ring.
using Record = std::variant<const kepler_task_freed*, const kepler_exec*, const kepler_cgroup*, const kepler_moved*>;

/// `bytes` must begin at a multiple of eight, as every record of the ring does (kernel/bpf/ringbuf.c). Returns
/// kMalformed for an unknown kind, and for a size that does not fit the kind.
[[nodiscard]] Result<Record> ParseRecord(std::span<const std::byte> bytes);

/// Returns "" if the path was cut or unreadable. A cut path would name another cgroup; the walk finds the whole path.
[[nodiscard]] std::string_view PathOf(const kepler_cgroup& record);

}  // namespace kepler::activity::bpf
