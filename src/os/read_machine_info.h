#pragma once
// What machine this is, for who looks for a model of it.
#include <string>

#include "base/machine_info.h"

namespace kepler::os {

/// From <procfs>/cpuinfo and meminfo, <sysfs>/devices/system/cpu and, where the kernel gives the processor no name, the
/// numbers that Arm gives it ("arm 0x41 0xd0c": implementer and part) or the name that the device tree gives the
/// machine. What cannot be read stays unknown. The frequency is the largest that cpufreq may set; in a virtual machine,
/// which has no cpufreq, that at which the processors run now.
[[nodiscard]] MachineInfo ReadMachineInfo(const std::string& procfs, const std::string& sysfs);

}  // namespace kepler::os
