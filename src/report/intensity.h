#pragma once
// Carbon intensity of the grid: a constant, or a series in time. Pure.
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "report/energy_line.h"

namespace kepler::report {

/// Maximum intensity. Power from coal has about 1000 g/kWh.
inline constexpr int64_t kMaxGramsPerKwh = 100'000;

class Intensity {
 public:
  Intensity() = default;
  /// The same at all times, in grams of CO2 per kWh.
  explicit Intensity(double grams_per_kwh) : points_{{Milliseconds::min(), grams_per_kwh}} {}
  /// CSV with a header and the columns "time" and "g_per_kwh". Each value holds until the next time; the first one also
  /// before it. Errors name the line.
  [[nodiscard]] static Result<Intensity> Read(std::string_view csv);

  /// Time of the first value. A constant has had it always.
  [[nodiscard]] Milliseconds Begin() const { return is_known() ? points_.front().first : Milliseconds::min(); }
  /// Time until which the last value holds: as long as the longest of the others. A single value holds always.
  [[nodiscard]] Milliseconds End() const;
  [[nodiscard]] bool is_known() const { return !points_.empty(); }
  /// Grams per kWh of energy that was used evenly in the time from `from` to `to`, which is not before `from`; 0 if the
  /// intensity is not known.
  [[nodiscard]] double Mean(Milliseconds from, Milliseconds to) const;

 private:
  std::vector<std::pair<Milliseconds, double>> points_;  // by time
};

}  // namespace kepler::report
