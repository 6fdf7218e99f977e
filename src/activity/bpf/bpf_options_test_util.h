#pragma once
// For tests on the kernel that runs them.
#include "activity/bpf/bpf_source.h"

namespace kepler::activity::bpf {

inline const BpfOptions kHere = {.procfs = "/proc", .sysfs = "/sys"};

}  // namespace kepler::activity::bpf
