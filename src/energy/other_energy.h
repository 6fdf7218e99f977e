#pragma once
// OtherEnergy: the energy that the machine used in addition to its measured CPU zones, from two running totals. The
// platform meter is read less often than the CPU meter, so the totals are compared at the time of the platform's
// reading: the CPU total of that time is interpolated between ticks. Collection thread only.
#include <cstddef>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "status/platform_status.h"

namespace kepler::energy {

class OtherEnergy {
 public:
  OtherEnergy();
  /// The CPU zones used `energy` until `at`, since the previous call. Call once per tick, before AddPlatform().
  void AddParts(Energy energy, BootTime at);
  /// The platform used `energy` until `at`, since the previous call. `continues`: false if the interval before `at` is
  /// not known, as for the first reading.
  void AddPlatform(Energy energy, BootTime at, bool continues);
  /// Empty before the platform had two readings.
  [[nodiscard]] const std::optional<status::OtherEnergy>& result() const { return result_; }

 private:
  struct Point {
    BootTime at;
    Energy total;
  };
  [[nodiscard]] Energy PartsAt(BootTime at) const;

  std::vector<Point> parts_;  // ring of the latest ticks
  size_t next_ = 0;
  Energy parts_total_;
  Energy balance_;                      // platform - parts; the energy is its highest value so far
  std::optional<Energy> parts_before_;  // parts at the previous reading of the platform
  std::optional<status::OtherEnergy> result_;
};

}  // namespace kepler::energy
