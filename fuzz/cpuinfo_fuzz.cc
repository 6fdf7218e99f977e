// /proc/cpuinfo of any machine, cut anywhere: what parses has at least one processor, each with its number, and the
// shipped model estimates a positive power for a server with it.
#include "fuzz.h"
#include "model/default_model.h"
#include "os/cpu_topology.h"

void Fuzz(std::string_view text) {
  const auto cpus = kepler::os::ParseCpuInfo(text);
  if (!cpus) return;
  if (cpus->empty()) std::abort();
  for (const auto& cpu : *cpus) {
    if (cpu.processor.empty()) std::abort();
    const auto model = kepler::model::DefaultModel(
        {.processor = kepler::model::NormalProcessorName(cpu.model_name), .cores = uint32_t(cpus->size())});
    const double idle[] = {0};
    const auto estimate = kepler::model::EstimateRow(model, idle, 0);
    if (!(estimate.watts[size_t(kepler::model::Component::kPlatform)] > 0)) std::abort();
  }
}
