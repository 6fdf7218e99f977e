#pragma once
// The two tables that the catalogue is merged from, and what holds for each.
#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "export/series/family.h"

namespace kepler::series {

// Short names for the tables.
inline constexpr auto kCounter = Type::kCounter;
inline constexpr auto kGauge = Type::kGauge;
inline constexpr auto kOwn = Origin::kOwn;
inline constexpr auto kUpstream = Origin::kUpstream;
inline constexpr auto kCommon = Origin::kCommon;

/// What the machine and its workloads used.
[[nodiscard]] std::span<const Family> EnergyFamilies();
/// What the agent says of its sources, its own work and its process.
[[nodiscard]] std::span<const Family> AgentFamilies();

/// OpenMetrics: the unit is the last word of the name. HELP is written as it is, so it may hold nothing to escape.
[[nodiscard]] constexpr bool IsValid(const Family& family) {
  return std::ranges::is_sorted(family.labels) && BaseName(family).ends_with(family.unit) &&
         family.help.find_first_of("\\\"\n") == std::string_view::npos &&
         family.name.ends_with("_total") == (family.type == Type::kCounter);
}
[[nodiscard]] constexpr bool IsValid(std::span<const Family> table) {
  return std::ranges::is_sorted(table, {}, &Family::name) &&
         std::ranges::all_of(table, [](const Family& family) { return IsValid(family); });
}

}  // namespace kepler::series
