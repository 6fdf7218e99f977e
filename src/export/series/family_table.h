#pragma once
// The tables that form the catalogue, and the rules for each family.
#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "export/series/family.h"

namespace kepler::series {

// Short names for the tables.
inline constexpr auto kLegacy = Origin::kLegacy;
inline constexpr auto kUpstream = Origin::kUpstream;
inline constexpr auto kCommon = Origin::kCommon;

/// Families about the energy and time of the machine and its workloads.
[[nodiscard]] std::span<const Family> EnergyFamilies();
/// Families about the agent's sources, its work and its process.
[[nodiscard]] std::span<const Family> AgentFamilies();
/// Families with the names of Kepler 0.7.
[[nodiscard]] std::span<const Family> LegacyFamilies();

/// OpenMetrics requires the unit as the last word of the name. HELP is written without escaping, so it must not need
/// any.
[[nodiscard]] constexpr bool IsValid(const Family& family) {
  return std::ranges::is_sorted(family.labels) && BaseName(family).ends_with(family.unit) &&
         family.help.find_first_of("\\\"\n") == std::string_view::npos;
}
[[nodiscard]] constexpr bool IsValid(std::span<const Family> table) {
  return std::ranges::is_sorted(table, {}, &Family::name) &&
         std::ranges::all_of(table, [](const Family& family) { return IsValid(family); });
}

}  // namespace kepler::series
