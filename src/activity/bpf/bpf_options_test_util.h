#pragma once
// For tests that load programs into the running kernel.
#include "activity/bpf/bpf_source.h"

namespace kepler::activity::bpf {

inline const BpfOptions kHere = {.procfs = "/proc", .sysfs = "/sys", .with_uids = true};

}  // namespace kepler::activity::bpf
