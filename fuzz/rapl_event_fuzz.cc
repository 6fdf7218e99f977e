// The sysfs files from which the perf and MSR readers of RAPL learn about the machine: event, scale, CPU modalias.
#include "energy/rapl/msr_units.h"
#include "energy/rapl/perf_event.h"
#include "energy/rapl/x86_model.h"
#include "fuzz.h"

namespace rapl = kepler::energy::rapl;

void Fuzz(std::string_view text) {
  static_cast<void>(rapl::ParseEventConfig(text));
  const auto scale = rapl::ParseEventScale(text);
  if (scale && !(*scale > 0 && *scale <= 1e-6)) std::abort();
  const auto model = rapl::ParseModalias(text);
  if (!model) return;
  const auto layout = rapl::MsrLayoutOf(*model);
  if (!layout) return;
  for (const auto& counter : layout->counters) {
    const auto unit = rapl::EnergyUnitOf(*model, counter.kind, text.size() << 8);
    if (unit && (unit->shift > 31 || unit->ToMicrojoules(0xFFFFFFFF) > unit->Range())) std::abort();
  }
}
