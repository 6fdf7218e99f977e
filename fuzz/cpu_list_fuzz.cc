// CPU lists: whatever parses is in order and bounded.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>

#include "os/cpu_topology.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto cpus = kepler::os::ParseCpuList({reinterpret_cast<const char*>(data), size});
  if (!cpus || cpus->empty()) return 0;
  if (cpus->back() >= 65'536) std::abort();
  if (std::ranges::adjacent_find(*cpus, std::greater_equal<>()) != cpus->end()) std::abort();
  return 0;
}
