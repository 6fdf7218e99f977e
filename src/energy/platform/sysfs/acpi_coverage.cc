#include "energy/platform/sysfs/acpi_coverage.h"

#include <algorithm>
#include <string_view>

namespace kepler::energy::platform::sysfs {
namespace {

constexpr std::string_view kModule = "module_power";

/// Whether `inner` is `outer`, or a device below it.
bool Contains(std::string_view outer, std::string_view inner) {
  return inner.starts_with(outer) && (inner.size() == outer.size() || inner[outer.size()] == '/');
}

bool Covers(const AcpiMeter& a, const AcpiMeter& b) {
  return !b.measures.empty() && std::ranges::all_of(b.measures, [&](const std::string& inner) {
    return std::ranges::any_of(a.measures, [&](const std::string& outer) { return Contains(outer, inner); });
  });
}

bool Overlap(const AcpiMeter& a, const AcpiMeter& b) {
  return std::ranges::any_of(a.measures, [&](const std::string& one) {
    return std::ranges::any_of(b.measures,
                               [&](const std::string& two) { return Contains(one, two) || Contains(two, one); });
  });
}

bool AllDiffer(std::span<const AcpiMeter> meters) {
  for (size_t i = 0; i < meters.size(); ++i) {
    if (meters[i].measures.empty() || !meters[i].has_sensor) return false;
    for (size_t k = i + 1; k < meters.size(); ++k)
      if (Overlap(meters[i], meters[k])) return false;
  }
  return true;
}

}  // namespace

AcpiCoverage ChooseAcpiMeters(std::span<const AcpiMeter> meters) {
  constexpr const char* kBlind =
      "an ACPI power meter without a sensor may measure a part of the machine, so none counts in the total";
  AcpiCoverage coverage{.counts = std::vector<bool>(meters.size()), .doubt = ""};
  const bool all_have_sensors = std::ranges::all_of(meters, &AcpiMeter::has_sensor);
  const auto modules = std::ranges::count(meters, kModule, &AcpiMeter::label);
  if (modules > 0) {
    if (!all_have_sensors) {  // the label is the sensor's, so the blind meter may be a module
      coverage.doubt = kBlind;
      return coverage;
    }
    for (size_t i = 0; i < meters.size(); ++i) coverage.counts[i] = meters[i].label == kModule;
    if (static_cast<size_t>(modules) < meters.size())
      coverage.doubt = "a meter without a known label may contain the modules, so only the modules count";
    return coverage;
  }
  if (meters.size() == 1 || AllDiffer(meters)) {
    coverage.counts.assign(meters.size(), true);
    return coverage;
  }
  for (size_t i = 0; i < meters.size(); ++i) {
    const auto is_covered = [&](const AcpiMeter& other) { return Covers(meters[i], other); };
    if (!meters[i].has_sensor || !std::ranges::all_of(meters, is_covered)) continue;
    coverage.counts[i] = true;
    return coverage;
  }
  coverage.doubt =
      all_have_sensors
          ? "the firmware does not say (measures/) whether these ACPI power meters overlap, so none counts in the total"
          : kBlind;
  return coverage;
}

}  // namespace kepler::energy::platform::sysfs
