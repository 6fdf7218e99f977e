#pragma once
// The records of the ring buffer (bpf/abi.h), from untyped bytes. Pure.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "bpf/abi.h"

namespace kepler::activity::bpf {

struct ExecRecord {
  int32_t tgid = 0;
  uint64_t start = 0;     // of the process
  std::string_view path;  // a view into the record
};
struct CgroupRecord {
  bool made = false;  // else removed
  uint64_t id = 0;
  uint32_t hierarchy = 0;  // 0: v2
  std::string_view path;   // a view into the record; "" where it was cut or could not be read
};
/// A process that was put into another cgroup.
struct MovedRecord {
  int32_t tgid = 0;
  uint64_t start = 0;
  uint64_t ran = 0;        // before that
  uint64_t from = 0;       // its parent's cgroup
  uint32_t hierarchy = 0;  // 0: v2
};
/// The final values of a thread.
struct FreedRecord {
  kepler_task task;
};
using Record = std::variant<FreedRecord, ExecRecord, CgroupRecord, MovedRecord>;

/// kMalformed for an unknown kind and for a size that does not fit the kind.
[[nodiscard]] Result<Record> ParseRecord(std::span<const std::byte> bytes);

}  // namespace kepler::activity::bpf
