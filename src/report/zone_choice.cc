#include "report/zone_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace kepler::report {

Status CheckZones(std::span<const std::string> zones) {
  for (size_t i = 0; i < zones.size(); ++i) {
    const auto others = zones.subspan(i + 1);
    if (std::ranges::find(others, zones[i]) != others.end())
      return Fail(ErrorKind::kInvalid, fmt::format("'{}' is named twice", zones[i]));
  }
  return {};
}

}  // namespace kepler::report
