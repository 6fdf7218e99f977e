#pragma once
// Makes the meters of the whole machine from the configuration.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/kepler/config.h"
#include "base/clock.h"
#include "base/result.h"
#include "energy/energy_source.h"
#include "energy/platform_meters.h"

namespace kepler::agent {

/// A platform meter whose source may block.
struct BlockingMeter {
  std::string name;
  std::function<bool()> is_present;  // as energy::PlatformMeter
  std::function<Result<std::unique_ptr<energy::EnergySource>>()> make;
  Nanoseconds period{0};            // how often it is read
  status::Resolution resolution{};  // of sensors that state none
};

/// The meters of platform.preferredMeters, in that order.
[[nodiscard]] std::vector<BlockingMeter> MakeBlockingMeters(const Config& config);

/// The same meters, each behind a thread. A meter starts its thread when the machine turns out to have it.
[[nodiscard]] std::vector<energy::PlatformMeter> MakePlatformMeters(const Config& config);

}  // namespace kepler::agent
