#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "energy/meter.h"

namespace kepler::energy {

size_t SelectPrimaryZone(std::span<const snapshot::Zone> zones) {
  constexpr std::array<std::string_view, 16> kOrder = {
      "psys", "package", "socket",     "cpu",      "core", "dram",     "uncore", "ppt",
      "ppt0", "ppt1",    "core_power", "io_power", "soc",  "platform", "gpu",    "vddgfx"};
  for (const std::string_view wanted : kOrder) {
    const auto found =
        std::ranges::find_if(zones, [&](const snapshot::Zone& zone) { return ToLowerAscii(zone.name) == wanted; });
    if (found != zones.end()) return static_cast<size_t>(found - zones.begin());
  }
  return 0;
}

}  // namespace kepler::energy
