#pragma once
// State of one domain in a Meter. For meter*.cc only.
#include <cstdint>
#include <optional>
#include <string_view>

#include "energy/meter.h"
#include "energy/power_integral.h"
#include "energy/power_limits.h"

namespace kepler::energy {

/// Contribution of a domain to its zone in a sample.
enum class Share : uint8_t {
  kMissing,  // no reading
  kRead,     // a reading without an amount: the first one, a reset, or a rejected one
  kCounted,
  kWithheld  // another domain of the zone counts the energy
};

struct Meter::DomainState {
  Domain domain;
  size_t zone = 0;
  size_t index = 0;                      // index in the last Discover() of the source
  std::optional<RawCounter> counter;     // latest good reading of a counter
  uint64_t start = 0;                    // of the counter, at that reading
  PowerIntegral integral;                // of a power sensor
  BootTime at{};                         // of the latest good reading
  Nanoseconds suspended{0};              // time that the machine was suspended, at the latest reading of a counter
  BootTime refused_at{};                 // power sensor: time of the latest rejected reading
  std::optional<BootTime> absent_since;  // time of the first discovery without it
  std::optional<BootTime> read_at;       // time of the latest reading, good or rejected
  uint64_t bridged = 0;                  // gaps that the source bridged, by its latest reading
  Power shown;                           // power of its latest amount
  Share share = Share::kMissing;
  Share last_share = Share::kMissing;  // at its latest new reading
  const Error* failure = nullptr;      // reason for the missing reading of this sample; null for an absent domain
  bool mirror = false;                 // shows the same as another domain: not a part of its zone
  bool replaced = false;               // a sensor that is listed under a new key now: not a part of its zone
  bool offline = false;                // switched off: not a part of its zone now

  /// Lasting maximum: the stated one, or the default of its kind.
  [[nodiscard]] Power max_power() const {
    return domain.max_power.value_or(domain.range || counter ? kMaxOfCounter : kMaxOfSensor);
  }
  [[nodiscard]] bool is_part() const { return !mirror && !offline && !replaced; }
};

/// Returns the remedy for a failed reading, for the log.
[[nodiscard]] std::string_view Remedy(ErrorKind kind);

}  // namespace kepler::energy
