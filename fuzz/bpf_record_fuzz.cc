// Any bytes as a record of the ring buffer: it parses or fails, and what it points to lies within.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <variant>

#include "activity/bpf/records.h"
#include "activity/bpf/task_labels.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kepler::activity::bpf;
  const auto aligned = std::make_unique<std::byte[]>(size);  // as the ring's are
  std::ranges::copy(std::as_bytes(std::span(data, size)), aligned.get());
  const auto record = ParseRecord({aligned.get(), size});
  if (!record) return 0;
  const auto check = [&](std::string_view text) {
    const auto* const begin = reinterpret_cast<const char*>(aligned.get());
    if (!text.empty() && (text.data() < begin || text.data() + text.size() > begin + size)) std::abort();
  };
  if (const auto* const* exec = std::get_if<const kepler_exec*>(&*record)) check(TextOf((*exec)->path));
  if (const auto* const* cgroup = std::get_if<const kepler_cgroup*>(&*record)) check(PathOf(**cgroup));
  return 0;
}
