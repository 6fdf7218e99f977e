#pragma once
// The sensors of the ACPI power meter (ACPI000D, driver acpi_power_meter). On most machines one sensor measures the
// input of the machine. An NVIDIA Grace socket has several, and the firmware says in power1_oem_info what each one
// measures: "CPU Power Socket 0", "Grace Power Socket 0" (CPU and memory), "SysIO Power Socket 0", "Module Power Socket
// 0". Source: NVIDIA Grace Performance Tuning Guide, "Power and Thermals".
#include <string>
#include <string_view>

namespace kepler::energy::hwmon {

/// The name of the chip.
inline constexpr std::string_view kAcpiMeterChip = "power_meter";

/// Returns the label for a text of power1_oem_info: "cpu_power" for "CPU Power Socket 0", the same for each socket. ""
/// for any other text.
[[nodiscard]] std::string GraceLabel(std::string_view oem_info);

/// Returns true if a sensor with this label measures a CPU. The others measure the machine, or the whole module.
[[nodiscard]] bool IsCpuLabel(std::string_view label);

}  // namespace kepler::energy::hwmon
