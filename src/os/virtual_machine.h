#pragma once
// Detects whether this machine is a guest of a hypervisor. Guests share the processors, and therefore the idle power.
#include <string>
#include <string_view>

namespace kepler::os {

/// Returns true if `procfs` or `sysfs` shows a hypervisor:
/// * the flag "hypervisor" of an x86 processor (a reserved bit of CPUID that is 0 on real processors);
/// * Xen's /sys/hypervisor;
/// * a device tree node with that name (Arm);
/// * a hypervisor's names in the DMI tables.
/// Unreadable files are ignored. Xen's first domain, which controls the machine, does not count, and neither does a
/// container.
[[nodiscard]] bool IsVirtualMachine(const std::string& procfs, const std::string& sysfs);

/// Returns true if a "flags" line of /proc/cpuinfo contains the word "hypervisor".
[[nodiscard]] bool HasHypervisorFlag(std::string_view cpuinfo);

/// Returns true if DMI's vendor and product are those of a virtual machine. Amazon's bare-metal instances have the same
/// vendor, and a product that ends in ".metal".
[[nodiscard]] bool IsVirtualProduct(std::string_view vendor, std::string_view product);

}  // namespace kepler::os
