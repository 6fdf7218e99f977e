#pragma once
// Finds TimeAccounting. Decided when the kernel was built and booted: read once.
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time_accounting.h"

namespace kepler::os {

struct KernelFiles {
  std::string procfs;  // host.procfs: config.gz, cmdline
  // For kernel/btf/vmlinux, which is the same in every sysfs of a machine. Not host.sysfs: a container has only some
  // directories of the host's sysfs there.
  std::string sysfs = "/sys";
  std::string boot = "/boot";  // there is no setting for it: config.gz or the kernel's types answer without it
};

/// As the first of these says that can be read: config.gz, boot's config-RELEASE, the names in the kernel's types.
/// kUnavailable where none can; the message has what each said.
[[nodiscard]] Result<TimeAccounting> ReadTimeAccounting(const KernelFiles& files);

/// A .config. kMalformed where it is none, or cut.
[[nodiscard]] Result<TimeAccounting> ParseKernelConfig(std::string_view text);
/// BTF (Documentation/bpf/btf.rst): struct rq has the members that the two options add. kMalformed where it is none.
[[nodiscard]] Result<TimeAccounting> ParseKernelTypes(std::string_view btf);
/// The kernel's command line.
[[nodiscard]] bool HasStealAccountingOff(std::string_view cmdline);
/// The content of one gzip member of at most kMaxFileBytes, checked against its sum and length. kMalformed.
[[nodiscard]] Result<std::string> Gunzip(std::string_view member);

}  // namespace kepler::os
