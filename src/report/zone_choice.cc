#include "report/zone_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace kepler::report {
namespace {

using std::string_view_literals::operator""sv;

enum class Extent : uint8_t { kPart, kMemory, kProcessor, kBoard, kPlatform };

/// What a zone measures. hwmon has other names; nothing is known about them.
std::optional<Extent> ExtentOf(std::string_view zone) {
  constexpr std::array kExtents = {
      std::pair("platform"sv, Extent::kPlatform), std::pair("psys"sv, Extent::kBoard),
      std::pair("package"sv, Extent::kProcessor), std::pair("socket"sv, Extent::kProcessor),
      std::pair("dram"sv, Extent::kMemory),       std::pair("core"sv, Extent::kPart),
      std::pair("uncore"sv, Extent::kPart)};
  const auto found = std::ranges::find(kExtents, zone, &std::pair<std::string_view, Extent>::first);
  return found == kExtents.end() ? std::nullopt : std::optional(found->second);
}

/// Empty: unknown. Only the platform is known to include zones with names of their own.
std::optional<bool> Overlap(std::string_view one, std::string_view other) {
  const auto a = ExtentOf(ToLowerAscii(one)), b = ExtentOf(ToLowerAscii(other));
  const auto larger = std::max(a, b), smaller = std::min(a, b);
  if (larger == Extent::kPlatform) return true;
  if (!smaller) return std::nullopt;
  if (larger == Extent::kBoard) return true;
  if (larger == Extent::kProcessor) return smaller != Extent::kMemory;
  return ToLowerAscii(one) == ToLowerAscii(other);
}

/// Calls f(zone, other) for all pairs until it returns false.
template <class F>
void ForEachPair(std::span<const std::string> zones, const F& f) {
  for (size_t i = 0; i < zones.size(); ++i)
    for (size_t j = i + 1; j < zones.size(); ++j)
      if (!f(zones[i], zones[j])) return;
}

}  // namespace

Status CheckZones(std::span<const std::string> zones) {
  Status checked;
  ForEachPair(zones, [&](const std::string& one, const std::string& other) {
    if (one == other)
      checked = Fail(ErrorKind::kInvalid, fmt::format("'{}' is named twice", one));
    else if (Overlap(one, other) == true)
      checked = Fail(ErrorKind::kInvalid,
                     fmt::format("'{}' and '{}' overlap, so their sum counts energy twice; choose one", one, other));
    return checked.has_value();
  });
  return checked;
}

std::string DoubtAbout(std::span<const std::string> zones) {
  std::string doubt;
  ForEachPair(zones, [&](const std::string& one, const std::string& other) {
    if (!Overlap(one, other))
      doubt = fmt::format("zones '{}' and '{}' may overlap; if they do, the sum counts energy twice", one, other);
    return doubt.empty();
  });
  return doubt;
}

}  // namespace kepler::report
