#pragma once
// Decides which ACPI power meters together measure the machine. A meter may measure all of it, a part, or the same as
// another meter; <meter>/measures/ has links to the devices that it measures (Linux
// Documentation/hwmon/acpi_power_meter.rst, ACPI 6.5 section 10.4, _PMD). Pure.
#include <span>
#include <string>
#include <vector>

namespace kepler::energy::platform::sysfs {

struct AcpiMeter {
  std::string label{};                  // "module_power" of an NVIDIA Grace socket; "" for most
  std::vector<std::string> measures{};  // absolute paths of devices; empty if the firmware does not say
  bool has_sensor = true;               // false: it shows no power
};

struct AcpiCoverage {
  std::vector<bool> counts;  // by index of the meter; their sum is the machine
  std::string doubt;         // why others, or none, count; "" if that is clear
};

///   one meter                               it counts
///   modules of Grace                        they count, if each meter has a sensor; an unlabelled meter may contain
///   them one measures what all others measure    it counts, the first of several with a sensor all measure different
///   devices           all count, if each has a sensor anything else                           none counts
[[nodiscard]] AcpiCoverage ChooseAcpiMeters(std::span<const AcpiMeter> meters);

}  // namespace kepler::energy::platform::sysfs
