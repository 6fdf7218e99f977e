// Any bytes as a record of the ring buffer: it parses or fails, and what it points to lies within.
#include <cstdint>
#include <cstdlib>
#include <variant>

#include "activity/bpf/records.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kepler::activity::bpf;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto record = ParseRecord(bytes);
  if (!record) return 0;
  const auto check = [&](std::string_view text) {
    const auto* const begin = reinterpret_cast<const char*>(data);
    if (!text.empty() && (text.data() < begin || text.data() + text.size() > begin + size)) std::abort();
  };
  if (const auto* const exec = std::get_if<ExecRecord>(&*record)) check(exec->path);
  if (const auto* const cgroup = std::get_if<CgroupRecord>(&*record)) check(cgroup->path);
  return 0;
}
