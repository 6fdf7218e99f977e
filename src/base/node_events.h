#pragma once
// Hardware events of all tasks on the machine. The tick adds the events of each scan. Power models read the sum on the
// same thread.
#include "base/clock.h"
#include "base/hardware_events.h"

namespace kepler {

struct NodeEvents {
  HardwareEvents total;  // since the first scan
  BootTime at{};         // time of the last added scan; {} if there was no scan
  bool counted = false;  // the events were counted in that scan
};

}  // namespace kepler
