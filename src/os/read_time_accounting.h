#pragma once
// Reads TimeAccounting. The kernel's build and boot options decide, so one read is enough.
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time_accounting.h"

namespace kepler::os {

struct KernelFiles {
  std::string procfs;  // host.procfs: config.gz, cmdline
  // Directory with kernel/btf/vmlinux, which is the same in every sysfs of a machine. It is not host.sysfs: in a
  // container, host.sysfs has only some of the host's directories.
  std::string sysfs = "/sys";
  std::string boot = "/boot";  // not configurable: config.gz or the kernel's types are enough without it
};

/// Uses the first readable source: config.gz, config-RELEASE in `boot`, the names in the kernel's types. kUnavailable
/// if no source is readable; the message contains the error of each source.
[[nodiscard]] Result<TimeAccounting> ReadTimeAccounting(const KernelFiles& files);

/// Parses a kernel .config. kMalformed if the text is not a .config, or is cut.
[[nodiscard]] Result<TimeAccounting> ParseKernelConfig(std::string_view text);
/// Parses BTF (Documentation/bpf/btf.rst): struct rq contains the members that the two options add. kMalformed if the
/// bytes are not BTF.
[[nodiscard]] Result<TimeAccounting> ParseKernelTypes(std::string_view btf);
/// Returns true if the kernel's command line contains no-steal-acc.
[[nodiscard]] bool HasStealAccountingOff(std::string_view cmdline);

}  // namespace kepler::os
