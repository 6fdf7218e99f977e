#pragma once
// Whether this machine is the guest of a hypervisor: its processors are then shared with others, and so is what they
// need idle.
#include <string>
#include <string_view>

namespace kepler::os {

/// Whether anything under `procfs` and `sysfs` says so: the flag "hypervisor" of an x86 processor (a reserved bit of
/// CPUID that real ones leave 0), Xen's /sys/hypervisor, a device tree's node of that name (Arm), the names that
/// hypervisors give a machine in its DMI tables. What cannot be read says nothing. Xen's first domain, which runs the
/// machine, is none, nor is a container.
[[nodiscard]] bool IsVirtualMachine(const std::string& procfs, const std::string& sysfs);

/// /proc/cpuinfo: whether a line "flags" has the word.
[[nodiscard]] bool HasHypervisorFlag(std::string_view cpuinfo);

/// Whether DMI's vendor and product are those of a virtual machine. Instances of Amazon's that are whole machines have
/// the same vendor and a product that ends in ".metal".
[[nodiscard]] bool IsVirtualProduct(std::string_view vendor, std::string_view product);

}  // namespace kepler::os
