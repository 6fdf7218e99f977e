#include "apps/kepler/platform_wiring.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "energy/polled_source.h"

namespace kepler::agent {
namespace {

/// Puts a meter that may block behind a thread that reads it once a period.
[[maybe_unused]] Result<std::unique_ptr<energy::EnergySource>> Polled(std::unique_ptr<energy::EnergySource> slow,
                                                                      Nanoseconds period) {
  auto source = std::make_unique<energy::PolledSource>(std::move(slow), period, std::make_shared<SystemClock>());
  KEPLER_CHECK_OK(source->Start());
  return source;
}

/// Empty if the meter is not configured.
std::optional<energy::PlatformMeter> MakePlatformMeter(PlatformKind kind, const Config& /*config*/) {
  switch (kind) {
    case PlatformKind::kPmCounters:
    case PlatformKind::kRedfish:
    case PlatformKind::kDcmi:
    case PlatformKind::kAcpi:
    case PlatformKind::kPsu:
    case PlatformKind::kBattery:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::vector<energy::PlatformMeter> MakePlatformMeters(const Config& config) {
  std::vector<energy::PlatformMeter> meters;
  for (const PlatformKind kind : config.platform_meters)
    if (auto meter = MakePlatformMeter(kind, config)) meters.push_back(*std::move(meter));
  return meters;
}

}  // namespace kepler::agent
