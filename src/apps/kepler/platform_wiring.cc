#include "apps/kepler/platform_wiring.h"

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "energy/platform/ipmi/dcmi_source.h"
#include "energy/polled_source.h"

namespace kepler::agent {
namespace {

using energy::platform::ipmi::DcmiSource;
using energy::platform::ipmi::FindIpmiDevice;
using energy::platform::ipmi::OpenIpmiDevice;

/// Puts a meter that may block behind a thread that reads it once a period.
Result<std::unique_ptr<energy::EnergySource>> Polled(std::unique_ptr<energy::EnergySource> slow, Nanoseconds period) {
  auto source = std::make_unique<energy::PolledSource>(std::move(slow), period, std::make_shared<SystemClock>());
  KEPLER_CHECK_OK(source->Start());
  return source;
}

/// "" if there is no such device.
std::string DcmiDevice(const Dcmi& dcmi) {
  if (dcmi.device_path.empty()) return FindIpmiDevice("/dev");
  return ::access(dcmi.device_path.c_str(), F_OK) == 0 ? dcmi.device_path : "";
}

energy::PlatformMeter MakeDcmi(const Dcmi& dcmi) {
  return {std::string(DcmiSource::kName), [dcmi] { return !DcmiDevice(dcmi).empty(); },
          [dcmi] {
            const std::string path = DcmiDevice(dcmi);
            const auto open = [path] { return OpenIpmiDevice(path); };
            return Polled(std::make_unique<DcmiSource>(path, open, std::make_shared<SystemClock>()), dcmi.interval);
          }};
}

/// Empty if the meter is not configured.
std::optional<energy::PlatformMeter> MakePlatformMeter(PlatformKind kind, const Config& config) {
  switch (kind) {
    case PlatformKind::kDcmi:
      return MakeDcmi(config.dcmi);
    case PlatformKind::kPmCounters:
    case PlatformKind::kRedfish:
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
