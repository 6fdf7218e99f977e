#pragma once
// Numbers as the exposition formats want them. Independent of the locale; never NaN, never infinity.
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/units.h"

namespace kepler::prometheus {

/// What the Write functions may use of their output.
inline constexpr size_t kNumberRoom = 32;

/// value × 10^-kDecimals, exactly, as a plain decimal without trailing zeros: 1500000 with six decimals is "1.5".
/// Needs kNumberRoom bytes; answers the end of the text.
template <unsigned kDecimals>
[[nodiscard]] char* WriteFixed(char* out, int64_t value) {
  constexpr uint64_t kUnit = [] {
    uint64_t unit = 1;
    for (unsigned i = 0; i < kDecimals; ++i) unit *= 10;
    return unit;
  }();
  auto magnitude = static_cast<uint64_t>(value);
  if (value < 0) {
    *out++ = '-';
    magnitude = 0 - magnitude;
  }
  out = std::to_chars(out, out + kNumberRoom, magnitude / kUnit).ptr;
  uint64_t fraction = magnitude % kUnit;
  if (fraction == 0) return out;
  *out++ = '.';
  for (size_t i = kDecimals; i-- > 0; fraction /= 10) out[i] = static_cast<char>('0' + fraction % 10);
  size_t digits = kDecimals;
  while (out[digits - 1] == '0') --digits;
  return out + digits;
}

[[nodiscard]] inline char* WriteJoules(char* out, Energy energy) { return WriteFixed<6>(out, energy.microjoules()); }
[[nodiscard]] inline char* WriteSeconds(char* out, Nanoseconds time) { return WriteFixed<9>(out, time.count()); }

/// The shortest text that reads back as the same double; what is not finite, and minus zero, is "0".
[[nodiscard]] char* WriteDouble(char* out, double value);

/// A number already turned into text, for the families with few rows.
class NumberText {
 public:
  static NumberText Of(Energy energy);
  static NumberText Of(Nanoseconds time);
  static NumberText Of(uint64_t count);
  static NumberText Of(double value);
  static NumberText Of(bool value) { return Of(uint64_t{value}); }
  /// Seconds since the epoch; the epoch itself, "never", is 0.
  static NumberText Of(WallTime time) { return Of(time.time_since_epoch()); }
  [[nodiscard]] std::string_view view() const { return {text_.data(), size_}; }

 private:
  void SetEnd(const char* end) { size_ = static_cast<size_t>(end - text_.data()); }
  std::array<char, kNumberRoom> text_{};
  size_t size_ = 0;
};

}  // namespace kepler::prometheus
