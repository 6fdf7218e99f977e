// Any bytes as a record of the ring buffer: it parses or fails, and what it points to lies within.
#include <algorithm>
#include <memory>
#include <variant>

#include "activity/bpf/records.h"
#include "activity/bpf/task_labels.h"
#include "fuzz.h"

void Fuzz(std::string_view bytes) {
  using namespace kepler::activity::bpf;
  const auto aligned = std::make_unique<std::byte[]>(bytes.size());  // as the ring's are
  std::ranges::copy(std::as_bytes(std::span(bytes)), aligned.get());
  const auto record = ParseRecord({aligned.get(), bytes.size()});
  if (!record) return;
  const auto check = [&](std::string_view text) {
    const auto* const begin = reinterpret_cast<const char*>(aligned.get());
    if (!text.empty() && (text.data() < begin || text.data() + text.size() > begin + bytes.size())) std::abort();
  };
  if (const auto* const* exec = std::get_if<const kepler_exec*>(&*record)) check(TextOf((*exec)->path));
  if (const auto* const* cgroup = std::get_if<const kepler_cgroup*>(&*record)) check(PathOf(**cgroup));
}
