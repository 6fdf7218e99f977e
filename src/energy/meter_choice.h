#pragma once
// Decides which sources a MeterSet opens and counts in addition to the CPU meter, by their domain and authority.
// Pure.
#include <cstdint>
#include <optional>
#include <span>

#include "energy/energy_source.h"
#include "status/energy_status.h"

namespace kepler::energy {

/// Properties of a source for the decision.
struct SourceFacts {
  status::Domain domain = status::Domain::kCpu;
  Authority authority = Authority::kMeasured;
  bool only_load = false;  // the source is an estimate of dynamic power only
  bool open = false;       // already opened: a later change of the CPU meter does not matter
};

/// Properties of the CPU meter for the decision.
struct CpuFacts {
  bool has_package = false;            // a part of the machine that an estimate of the platform can be compared with
  bool has_platform = false;           // it measures the platform too
  bool only_load = false;              // it is an estimate of dynamic power only
  bool replacement_only_load = false;  // only_load of the estimate that may replace it; otherwise equal to only_load
};

enum class Use : uint8_t {
  kRefused,  // the MeterSelector chooses the meter of the CPUs, and it is the only one: two would count energy twice
  kWaiting,  // not opened or not counted: it is wrong with this CPU meter, or a source of a higher authority answers
  kCounted
};

/// `answering`: the highest authority of the sources in the domain of `source` that answer; none if no source does.
/// Sources of the same authority measure different things, for example two power supplies, and count together.
[[nodiscard]] Use UseOf(const SourceFacts& source, const CpuFacts& cpu, std::optional<Authority> answering);

/// Sets the facts that follow from the zones of the CPU meter. Names are compared without case.
[[nodiscard]] CpuFacts FactsOf(std::span<const status::Zone> cpu_zones);

}  // namespace kepler::energy
