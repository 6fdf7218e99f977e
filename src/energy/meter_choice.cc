#include "energy/meter_choice.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace kepler::energy {
namespace {

/// An estimate with idle power next to a CPU meter without it, or the other way round, would show a whole that is not
/// comparable with its part. That must also hold for the estimate that replaces a CPU meter that never advances.
bool IsComparable(const SourceFacts& source, const CpuFacts& cpu) {
  return source.only_load == cpu.only_load && source.only_load == cpu.replacement_only_load;
}

}  // namespace

Use UseOf(const SourceFacts& source, const CpuFacts& cpu, std::optional<Authority> answering) {
  if (source.domain == status::Domain::kCpu) return Use::kRefused;
  if (answering && *answering < source.authority) return Use::kWaiting;
  if (source.open || source.authority != Authority::kEstimated || source.domain != status::Domain::kPlatform)
    return Use::kCounted;
  const bool needed = cpu.has_package && !cpu.has_platform;
  return needed && IsComparable(source, cpu) ? Use::kCounted : Use::kWaiting;
}

CpuFacts FactsOf(std::span<const status::Zone> cpu_zones) {
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(cpu_zones, [&](const status::Zone& zone) { return ToLowerAscii(zone.name) == name; });
  };
  return {.has_package = has("package"), .has_platform = has("psys") || has("platform")};
}

}  // namespace kepler::energy
