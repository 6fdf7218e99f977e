// /proc/cpuinfo of any machine, cut anywhere: what parses has at least one processor, each with its number, and the
// shipped model estimates a positive power for a server with it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/default_model.h"
#include "os/cpu_topology.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto cpus = kepler::os::ParseCpuInfo(text);
  if (!cpus) return 0;
  if (cpus->empty()) std::abort();
  for (const auto& cpu : *cpus) {
    if (cpu.processor.empty()) std::abort();
    const auto model = kepler::model::DefaultModel(
        {.processor = kepler::model::NormalProcessorName(cpu.model_name), .cores = uint32_t(cpus->size())});
    const double idle[] = {0};
    const auto estimate = kepler::model::EstimateRow(model, idle, 0);
    if (!(estimate.watts[size_t(kepler::model::Component::kPlatform)] > 0)) std::abort();
  }
  return 0;
}
