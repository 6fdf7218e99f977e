#include "activity/bpf/records.h"

#include <string>

#include "activity/bpf/task_labels.h"

namespace kepler::activity::bpf {
namespace {

template <class T>
Result<Record> As(uint32_t kind, std::span<const std::byte> bytes) {
  if (bytes.size() == sizeof(T)) return reinterpret_cast<const T*>(bytes.data());
  return Fail(ErrorKind::kMalformed,
              "BPF record of kind " + std::to_string(kind) + ": " + std::to_string(bytes.size()) + " bytes");
}

}  // namespace

Result<Record> ParseRecord(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(kepler_record)) return Fail(ErrorKind::kMalformed, "BPF record: shorter than its head");
  const uint32_t kind = reinterpret_cast<const kepler_record*>(bytes.data())->kind;
  switch (kind) {
    case KEPLER_TASK_FREED:
      return As<kepler_task_freed>(kind, bytes);
    case KEPLER_EXEC:
      return As<kepler_exec>(kind, bytes);
    case KEPLER_CGROUP_MADE:
    case KEPLER_CGROUP_REMOVED:
      return As<kepler_cgroup>(kind, bytes);
    case KEPLER_TASK_MOVED:
      return As<kepler_moved>(kind, bytes);
    default:
      return Fail(ErrorKind::kMalformed, "BPF record: unknown kind " + std::to_string(kind));
  }
}

std::string_view PathOf(const kepler_cgroup& record) {
  const std::string_view path = TextOf(record.path);
  return path.size() + 1 < sizeof(record.path) ? path : std::string_view();
}

}  // namespace kepler::activity::bpf
