#pragma once
// Virtual machines from what their process shows: the name of its executable and its arguments. Pure.
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace kepler::workload::hypervisor {

/// Each text at most 255 bytes, not sanitised, never empty.
struct Vm {
  VmId id;
  std::string name;
};

/// Whether the process may be a hypervisor, so that its arguments are worth reading. The executable decides; only where
/// it cannot be read ("") a comm does that looks like one, cut at 15 characters or not.
[[nodiscard]] bool MayBeVm(std::string_view exe, std::string_view comm);

/// The virtual machine that the process runs. The executable decides, or argv[0] where that cannot be read, never
/// another argument: a wrapper (sudo, strace, grep) that only mentions a hypervisor is none.
/// Without an id of its own the machine gets one from `key`: nothing else that is always there is unique.
[[nodiscard]] std::optional<Vm> DetectVm(std::string_view exe, std::span<const std::string_view> argv,
                                         const ProcessKey& key);

}  // namespace kepler::workload::hypervisor
