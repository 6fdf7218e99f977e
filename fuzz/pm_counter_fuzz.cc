// The files of Cray's pm_counters, and the texts by which ACPI power meters say what they measure.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "energy/hwmon/acpi_meter.h"
#include "energy/platform/sysfs/pm_counters_source.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool as_energy = kepler::energy::platform::sysfs::ParsePmCounter(text, "J").has_value();
  const bool as_power = kepler::energy::platform::sysfs::ParsePmCounter(text, "W").has_value();
  if (as_energy && as_power) std::abort();
  const std::string label = kepler::energy::hwmon::GraceLabel(text);
  if (!label.empty() && !kepler::energy::hwmon::IsCpuLabel(label) && label != "module_power") std::abort();
  return 0;
}
