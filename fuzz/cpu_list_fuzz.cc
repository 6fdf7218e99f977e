// CPU lists: whatever parses is in order and bounded.
#include <algorithm>
#include <functional>

#include "fuzz.h"
#include "os/cpu_topology.h"

void Fuzz(std::string_view text) {
  const auto cpus = kepler::os::ParseCpuList(text);
  if (!cpus || cpus->empty()) return;
  if (cpus->back() >= 65'536) std::abort();
  if (std::ranges::adjacent_find(*cpus, std::greater_equal<>()) != cpus->end()) std::abort();
}
