#pragma once
// The physical units. Energy is integral microjoules so that sums are exact; power is a double in watts and only ever
// shown, never summed into a total. Construction and extraction name the unit; nothing converts implicitly.
#include <chrono>
#include <cmath>
#include <compare>
#include <cstdint>

namespace kepler {

using Nanoseconds = std::chrono::nanoseconds;

/// An amount of energy in whole microjoules. Signed, so that differences are plain; totals are never negative.
/// The range (9.2e12 J) outlasts a kilowatt for 290 years.
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

/// Watts. Finite by construction: NaN and infinities become 0, since a snapshot must not be able to hold them.
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

/// Mean power of `energy` over `elapsed`; 0 when no time passed.
[[nodiscard]] inline Power operator/(Energy energy, Nanoseconds elapsed) {
  if (elapsed.count() <= 0) return {};
  return Power::Watts(static_cast<double>(energy.microjoules()) * 1e3 / static_cast<double>(elapsed.count()));
}

/// A share in [0, 1]; anything else is clamped, NaN becomes 0.
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

/// floor(energy × ratio): exact for the ends, never more than the whole, never negative for a non-negative energy.
[[nodiscard]] inline Energy Fraction(Energy energy, Ratio ratio) {
  if (ratio.value() >= 1.0) return energy;
  const auto part = static_cast<int64_t>(
      std::floor(static_cast<long double>(energy.microjoules()) * static_cast<long double>(ratio.value())));
  return Energy::Microjoules(part);
}

}  // namespace kepler
