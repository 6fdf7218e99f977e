// /proc/cpuinfo of any machine, cut anywhere: what parses has at least one processor, each with its number and a row of
// the power model.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/cpu_power.h"
#include "os/cpu_topology.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto cpus = kepler::os::ParseCpuInfo(text);
  if (!cpus) return 0;
  if (cpus->empty()) std::abort();
  for (const auto& cpu : *cpus) {
    const auto& row = kepler::model::PowerOf(cpu);
    if (cpu.processor.empty() || row.name.empty() || row.full_watts <= row.idle_watts) std::abort();
  }
  return 0;
}
