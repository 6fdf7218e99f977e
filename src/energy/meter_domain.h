#pragma once
// What the Meter knows of one domain. For meter*.cc only.
#include <cstdint>
#include <optional>
#include <string_view>

#include "energy/meter.h"

namespace kepler::energy {

/// What a domain gave to its zone in this sample.
enum class Share : uint8_t {
  kMissing,  // no reading
  kRead,     // a reading, but no amount: the first one, a reset, or rejected
  kCounted,
  kWithheld  // another domain of the zone gives it
};

struct Meter::DomainState {
  Domain domain;
  size_t zone = 0;
  size_t index = 0;                   // in the source's last Discover()
  std::optional<RawCounter> counter;  // the last good reading, of whichever kind, and when it was taken
  std::optional<Power> power;
  BootTime at{};
  BootTime refused_at{};                 // of a power sensor: when its last rejected reading was taken
  std::optional<BootTime> absent_since;  // when a discovery first lacked it
  double carry_uj = 0;                   // of a power sensor: the part of a microjoule not yet given out, in [0, 1)
  std::optional<BootTime> read_at;       // of the last reading, good or rejected
  Power shown;                           // what its last amount meant
  Share share = Share::kMissing;
  Share last_share = Share::kMissing;  // when it last had something new
  const Error* failure = nullptr;      // why there is no reading in this sample; null also where it is absent
  bool mirror = false;                 // it shows what another domain shows: no part of its zone
  bool offline = false;                // switched off, so no part of its zone for now

  [[nodiscard]] bool is_part() const { return !mirror && !offline; }
};

/// What to do about a reading that failed.
[[nodiscard]] std::string_view Remedy(ErrorKind kind);

}  // namespace kepler::energy
