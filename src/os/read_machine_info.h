#pragma once
// Reads the machine attributes that select a power model.
#include <string>

#include "base/machine_info.h"

namespace kepler::os {

/// Reads <procfs>/cpuinfo and meminfo, and <sysfs>/devices/system/cpu. If the kernel does not name the processor, the
/// name is Arm's numbers ("arm 0x41 0xd0c": implementer and part), or the machine's name in the device tree. An
/// unreadable attribute stays unknown. The frequency is the maximum of cpufreq. A virtual machine has no cpufreq; there
/// it is the current frequency of the processors.
[[nodiscard]] MachineInfo ReadMachineInfo(const std::string& procfs, const std::string& sysfs);

}  // namespace kepler::os
