#include "workload/kubernetes/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace kepler::workload::kubernetes {
namespace {

constexpr double kMax = 0x1p63;  // thousandths: 8 PiB in bytes

constexpr auto kSuffixes = std::to_array<std::pair<std::string_view, double>>({
    {"", 1},
    {"n", 1e-9},
    {"u", 1e-6},
    {"m", 1e-3},
    {"k", 1e3},
    {"M", 1e6},
    {"G", 1e9},
    {"T", 1e12},
    {"P", 1e15},
    {"E", 1e18},
    {"Ki", 0x1p10},
    {"Mi", 0x1p20},
    {"Gi", 0x1p30},
    {"Ti", 0x1p40},
    {"Pi", 0x1p50},
    {"Ei", 0x1p60},
});

/// What `suffix` multiplies with; nothing for an unknown one.
std::optional<double> FactorOf(std::string_view suffix) {
  const auto known = std::ranges::find(kSuffixes, suffix, &std::pair<std::string_view, double>::first);
  if (known != kSuffixes.end()) return known->second;
  if (!suffix.starts_with('e') && !suffix.starts_with('E')) return std::nullopt;
  suffix.remove_prefix(1);
  if (suffix.starts_with('+') && !suffix.starts_with("+-")) suffix.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(suffix.begin(), suffix.end(), exponent);
  if (error != std::errc() || end != suffix.end()) return std::nullopt;
  return std::pow(10.0, exponent);
}

}  // namespace

std::optional<uint64_t> ParseThousandths(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789."));
  double number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number, std::chars_format::fixed);
  if (error != std::errc() || end != digits.end()) return std::nullopt;
  const auto factor = FactorOf(text.substr(digits.size()));
  if (!factor) return std::nullopt;
  if (number == 0) return 0;  // whatever it is multiplied with
  const double exact = std::min(number * *factor * 1000, kMax);
  // What a double cannot hold exactly (1.1) must not be rounded up for that.
  const double nearest = std::round(exact);
  const double thousandths = std::abs(exact - nearest) <= exact * 1e-12 ? nearest : std::ceil(exact);
  return std::max(static_cast<uint64_t>(thousandths), uint64_t{1});
}

}  // namespace kepler::workload::kubernetes
