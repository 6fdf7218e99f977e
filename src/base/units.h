#pragma once
// Physical units. Energy is in whole microjoules, so sums are exact. Power is a double in watts for display only, and
// is never summed into a total. Function names contain the unit; there are no implicit conversions.
#include <chrono>
#include <cmath>
#include <compare>
#include <cstdint>

namespace kepler {

using Nanoseconds = std::chrono::nanoseconds;

[[nodiscard]] constexpr double ToSeconds(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

/// Energy in whole microjoules. The value is signed because differences may be negative; totals are never negative. The
/// range (9.2e12 J) is enough for one kilowatt for 290 years.
class Energy {
 public:
  constexpr Energy() = default;
  [[nodiscard]] static constexpr Energy Microjoules(int64_t uj) { return Energy(uj); }
  [[nodiscard]] static constexpr Energy Joules(int64_t joules) { return Energy(joules * 1'000'000); }

  [[nodiscard]] constexpr int64_t microjoules() const { return uj_; }
  /// For display and ratios only: a double cannot hold every microjoule.
  [[nodiscard]] constexpr double ToJoules() const { return static_cast<double>(uj_) / 1e6; }

  constexpr auto operator<=>(const Energy&) const = default;
  constexpr Energy& operator+=(Energy other) {
    uj_ += other.uj_;
    return *this;
  }
  constexpr Energy& operator-=(Energy other) {
    uj_ -= other.uj_;
    return *this;
  }
  friend constexpr Energy operator+(Energy a, Energy b) { return Energy(a.uj_ + b.uj_); }
  friend constexpr Energy operator-(Energy a, Energy b) { return Energy(a.uj_ - b.uj_); }

 private:
  constexpr explicit Energy(int64_t uj) : uj_(uj) {}
  int64_t uj_ = 0;
};

/// Power in watts. Always finite: NaN and infinities become 0, so a snapshot never contains them.
class Power {
 public:
  constexpr Power() = default;
  [[nodiscard]] static Power Watts(double watts) { return Power(std::isfinite(watts) ? watts : 0.0); }
  [[nodiscard]] static Power Microwatts(double microwatts) { return Watts(microwatts / 1e6); }
  [[nodiscard]] constexpr double watts() const { return watts_; }
  constexpr auto operator<=>(const Power&) const = default;
  friend Power operator+(Power a, Power b) { return Watts(a.watts_ + b.watts_); }

 private:
  constexpr explicit Power(double watts) : watts_(watts) {}
  double watts_ = 0.0;
};

/// Returns the mean power of `energy` over `elapsed`; 0 if no time passed.
[[nodiscard]] inline Power operator/(Energy energy, Nanoseconds elapsed) {
  if (elapsed.count() <= 0) return {};
  return Power::Watts(static_cast<double>(energy.microjoules()) * 1e3 / static_cast<double>(elapsed.count()));
}

/// A share in [0, 1]. Other values are clamped; NaN becomes 0.
class Ratio {
 public:
  constexpr Ratio() = default;
  [[nodiscard]] static Ratio Clamped(double value) {
    return Ratio(std::isnan(value) ? 0.0 : value < 0.0 ? 0.0 : value > 1.0 ? 1.0 : value);
  }
  [[nodiscard]] constexpr double value() const { return value_; }
  constexpr auto operator<=>(const Ratio&) const = default;

 private:
  constexpr explicit Ratio(double value) : value_(value) {}
  double value_ = 0.0;
};

/// Returns floor(energy × ratio): exact for 0 and 1, never above the whole, never negative for a non-negative energy.
[[nodiscard]] inline Energy Fraction(Energy energy, Ratio ratio) {
  if (ratio.value() >= 1.0) return energy;
  const auto part = static_cast<int64_t>(
      std::floor(static_cast<long double>(energy.microjoules()) * static_cast<long double>(ratio.value())));
  return Energy::Microjoules(part);
}

}  // namespace kepler
