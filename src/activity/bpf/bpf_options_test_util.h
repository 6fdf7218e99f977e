#pragma once
// For tests that load programs into the running kernel.
#include "activity/bpf/bpf_source.h"

namespace kepler::activity::bpf {

inline const BpfOptions kHere = {.procfs = "/proc", .sysfs = "/sys"};

}  // namespace kepler::activity::bpf
