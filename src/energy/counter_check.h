#pragma once
// CounterCheck: a power sensor that also has an energy counter of its own, such as EnergykWh of Redfish. The counter is
// too coarse to be counted: a step of 1 kWh between two readings is no power of 240 kW. It checks the integral of the
// power, and it bridges gaps that are too long for an integral. Pure; not thread-safe.
//
//   the time of the latest step is known     the step of the counter, without what was counted since its previous step
//   it is not known                          the step without the resolution: at most the resolution too low
//
// An integral that is known is never replaced: a BMC may update its counter once a minute, and then a step says little
// about a gap of two minutes. The resolution is the smallest step seen, so the real one is at most that. Until a step
// was seen, nothing is bridged.
#include <optional>

#include "base/units.h"
#include "status/energy_status.h"

namespace kepler::energy {

class CounterCheck {
 public:
  struct Interval {
    std::optional<Energy> integral;  // by the trapezoidal rule; empty if the interval is too long
    Nanoseconds elapsed{0};
    bool is_gap = false;  // readings are missing
    Power max;            // lasting maximum of the sensor
  };
  /// The first reading of the counter, or the first one after Skip().
  void Begin(Energy counter);
  /// A reading had no counter: what follows is not compared with what came before it.
  void Skip() { last_.reset(); }
  /// Returns the energy to count for the interval since the previous reading; empty if it is unknown. A counter that
  /// decreased, or moved more than `max` allows, is refused: its step is not used.
  [[nodiscard]] std::optional<Energy> Add(Energy counter, const Interval& interval);
  [[nodiscard]] bool has_begun() const { return last_.has_value(); }
  [[nodiscard]] const status::CounterCheck& result() const { return result_; }

 private:
  [[nodiscard]] std::optional<Energy> Bridge(Energy step, const Interval& interval) const;

  std::optional<Energy> last_;
  std::optional<Energy> resolution_;
  std::optional<Energy> since_step_;  // counted since the latest step; empty if its time is not known
  status::CounterCheck result_;
};

}  // namespace kepler::energy
