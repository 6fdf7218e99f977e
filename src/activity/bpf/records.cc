#include "activity/bpf/records.h"

#include <cstring>
#include <string>

namespace kepler::activity::bpf {
namespace {

/// The text of a field of `size` bytes at `at`: up to its NUL, the whole field if there is none.
std::string_view TextAt(std::span<const std::byte> bytes, size_t at, size_t size) {
  const auto* const text = reinterpret_cast<const char*>(bytes.data() + at);
  return {text, ::strnlen(text, size)};
}

template <class T>
T CopyOf(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

}  // namespace

Result<Record> ParseRecord(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(kepler_record)) return Fail(ErrorKind::kMalformed, "BPF record: shorter than its head");
  const uint32_t kind = CopyOf<kepler_record>(bytes).kind;
  const auto fits = [&](size_t size) { return bytes.size() == size; };
  switch (kind) {
    case KEPLER_TASK_FREED:
      if (!fits(sizeof(kepler_task_freed))) break;
      return FreedRecord{CopyOf<kepler_task_freed>(bytes).task};
    case KEPLER_EXEC: {
      if (!fits(sizeof(kepler_exec))) break;
      const auto path = TextAt(bytes, offsetof(kepler_exec, path), KEPLER_PATH_BYTES);
      const auto exec = CopyOf<kepler_exec>(bytes);
      return ExecRecord{exec.tgid, exec.start, path};
    }
    case KEPLER_CGROUP_MADE:
    case KEPLER_CGROUP_REMOVED: {
      if (!fits(sizeof(kepler_cgroup))) break;
      const auto cgroup = CopyOf<kepler_cgroup>(bytes);
      auto path = TextAt(bytes, offsetof(kepler_cgroup, path), KEPLER_CGROUP_PATH_BYTES);
      // A cut path would name another cgroup: the walk finds the whole one.
      if (path.size() + 1 >= KEPLER_CGROUP_PATH_BYTES) path = {};
      return CgroupRecord{kind == KEPLER_CGROUP_MADE, cgroup.id, cgroup.hierarchy, path};
    }
    case KEPLER_TASK_MOVED: {
      if (!fits(sizeof(kepler_moved))) break;
      const auto moved = CopyOf<kepler_moved>(bytes);
      return MovedRecord{moved.tgid, moved.start, moved.ran, moved.from, moved.hierarchy};
    }
    default:
      return Fail(ErrorKind::kMalformed, "BPF record: unknown kind " + std::to_string(kind));
  }
  return Fail(ErrorKind::kMalformed,
              "BPF record of kind " + std::to_string(kind) + ": " + std::to_string(bytes.size()) + " bytes");
}

}  // namespace kepler::activity::bpf
