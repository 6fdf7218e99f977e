#pragma once
// The time that the machine was suspended. Counters of processors begin anew at its end (suspend to RAM, hibernation).
#include "base/units.h"

namespace kepler {

/// Returns the time since boot in which the machine was suspended, from the kernel's clocks. Each call may be a little
/// late, by the time that the thread waits for a CPU. Any thread.
[[nodiscard]] Nanoseconds SuspendedTime();

}  // namespace kepler
