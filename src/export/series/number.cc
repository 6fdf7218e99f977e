#include "export/series/number.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/parse.h"

namespace kepler::series {
namespace {

/// Returns the double that is nearest to value ÷ unit. `exponent`: of 1 ÷ unit, such as "e-6".
double Divided(int64_t value, int64_t unit, std::string_view exponent) {
  constexpr int64_t kExact = int64_t{1} << std::numeric_limits<double>::digits;
  if (-kExact < value && value < kExact) return static_cast<double>(value) / static_cast<double>(unit);
  std::array<char, 32> text;
  char* end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  end += exponent.copy(end, exponent.size());
  return ParseNumber<double>({text.data(), static_cast<size_t>(end - text.data())}).value_or(0);
}

}  // namespace

double AsDouble(Energy energy) { return Divided(energy.microjoules(), 1'000'000, "e-6"); }
double AsDouble(Nanoseconds time) { return Divided(time.count(), 1'000'000'000, "e-9"); }
double AsDouble(double value) { return std::isfinite(value) ? value : 0.0; }

}  // namespace kepler::series
