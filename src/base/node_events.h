#pragma once
// The hardware events of all that ran on the machine: the tick adds up what each scan reports, and who estimates power
// from them looks, on the same thread.
#include "base/clock.h"
#include "base/hardware_events.h"

namespace kepler {

struct NodeEvents {
  HardwareEvents total;  // since the first scan
  BootTime at{};         // of the scan that was added last; {}: there was none
  bool counted = false;  // whether they are counted, as of that scan
};

}  // namespace kepler
