// The files of Cray's pm_counters, and the texts by which ACPI power meters say what they measure.
#include "energy/hwmon/acpi_meter.h"
#include "energy/platform/sysfs/pm_counters_source.h"
#include "fuzz.h"

void Fuzz(std::string_view text) {
  const bool as_energy = kepler::energy::platform::sysfs::ParsePmCounter(text, "J").has_value();
  const bool as_power = kepler::energy::platform::sysfs::ParsePmCounter(text, "W").has_value();
  if (as_energy && as_power) std::abort();
  const std::string label = kepler::energy::hwmon::GraceLabel(text);
  if (!label.empty() && !kepler::energy::hwmon::IsCpuLabel(label) && label != "module_power") std::abort();
}
