#pragma once
// How the energy of a zone is known: by the name of its source, the only thing that an agent tells others. Pure.
#include <cstdint>
#include <string_view>

#include "status/energy_status.h"

namespace kepler::status {

enum class Origin : uint8_t {
  kMeasured,
  kEstimated,  // by a power model
  kSimulated   // by the fake meter: nothing is measured
};

/// `source`: as in status::Zone.
[[nodiscard]] constexpr Origin OriginOf(std::string_view source) {
  if (source == "model") return Origin::kEstimated;
  return source == "fake" ? Origin::kSimulated : Origin::kMeasured;
}

/// Why a power model estimates the zones of `domain`, for every list of meters.
[[nodiscard]] constexpr std::string_view WhyEstimated(Domain domain) {
  return domain == Domain::kPlatform ? "no meter measures the whole machine, so a power model estimates its power"
                                     : "no meter of the CPUs can be read, so a power model estimates their energy";
}

[[nodiscard]] constexpr std::string_view ToString(Origin origin) {
  switch (origin) {
    case Origin::kMeasured:
      return "measured";
    case Origin::kEstimated:
      return "estimated";
    case Origin::kSimulated:
      return "simulated";
  }
  return "";
}

}  // namespace kepler::status
