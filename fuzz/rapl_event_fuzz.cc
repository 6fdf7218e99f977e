// The sysfs files from which the perf and MSR readers of RAPL learn about the machine: event, scale, CPU modalias.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "energy/rapl/msr_units.h"
#include "energy/rapl/perf_event.h"
#include "energy/rapl/x86_model.h"

namespace rapl = kepler::energy::rapl;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(rapl::ParseEventConfig(text));
  const auto scale = rapl::ParseEventScale(text);
  if (scale && !(*scale > 0 && *scale <= 1e-6)) std::abort();
  const auto model = rapl::ParseModalias(text);
  if (!model) return 0;
  const auto layout = rapl::MsrLayoutOf(*model);
  if (!layout) return 0;
  for (const auto& counter : layout->counters) {
    const auto unit = rapl::EnergyUnitOf(*model, counter.kind, size << 8);
    if (unit && (unit->shift > 31 || unit->ToMicrojoules(0xFFFFFFFF) > unit->Range())) std::abort();
  }
  return 0;
}
