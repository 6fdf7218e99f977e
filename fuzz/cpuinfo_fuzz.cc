// /proc/cpuinfo: what parses has at least one processor, each with its number.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "os/cpu_topology.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto cpus = kepler::os::ParseCpuInfo(text);
  if (!cpus) return 0;
  if (cpus->empty()) std::abort();
  for (const auto& cpu : *cpus)
    if (cpu.processor.empty()) std::abort();
  return 0;
}
