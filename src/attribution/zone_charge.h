#pragma once
// ZoneCharge: what one zone used in a tick, and how it is to be split. Pure.
#include "attribution/weights.h"
#include "base/units.h"

namespace kepler::attribution {

struct ZoneCharge {
  Energy total{};   // used since the last tick
  Energy active{};  // of it, what is split by `weights`; 0 without them
  Power power{};    // means over the interval
  Power active_power{};
  bool fresh = false;  // the watts are known
  // Nothing new was to be read: the watts of the last charge go on, those of the workloads too, and total is 0.
  bool unchanged = false;
  Weights* weights = nullptr;  // null: the node's alone
};

/// The policy of both usage ratios: the busy share of the machine is the active share of its energy.
[[nodiscard]] inline ZoneCharge SplitByRatio(Energy total, Power power, bool fresh, Ratio busy, Weights& weights) {
  return {.total = total,
          .active = Fraction(total, busy),
          .power = power,
          .active_power = Power::Watts(power.watts() * busy.value()),
          .fresh = fresh,
          .weights = &weights};
}

}  // namespace kepler::attribution
