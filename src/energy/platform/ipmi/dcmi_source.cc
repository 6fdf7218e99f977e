#include "energy/platform/ipmi/dcmi_source.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "energy/platform/ipmi/dcmi_power.h"
#include "energy/platform/ipmi/sensor_messages.h"

namespace kepler::energy::platform::ipmi {
namespace {

/// After this many timeouts in one turn the other sensors are not read: the BMC hangs.
constexpr int kMaxTimeouts = 2;

/// "ipmi0" of "/dev/ipmi0".
std::string DeviceName(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

}  // namespace

DcmiSource::DcmiSource(std::string path, IpmiOpener opener, std::shared_ptr<const Clock> clock)
    : link_(std::move(path), std::move(opener), std::move(clock)) {}

Error DcmiSource::At(std::string_view what, const Error& error) const {
  return {error.kind, fmt::format("{}: {}: {}", link_.path(), what, error.message)};
}

DcmiSource::Dcmi DcmiSource::ReadDcmi() {
  const auto answer = link_.Ask(DcmiPowerRequest());
  if (!answer) return {std::unexpected(answer.error())};
  const bool is_absent = IsWithoutDcmi(*answer);
  const auto reading = ParseDcmiPower(*answer);
  auto power = reading ? PowerOf(*reading) : Result<Power>(std::unexpected(reading.error()));
  if (!power) return {std::unexpected(At("get DCMI power reading", power.error())), is_absent};
  return {power};
}

Result<std::vector<Domain>> DcmiSource::Discover() {
  auto domains = Find();
  link_.Close();
  return domains;
}

/// A BMC that starts, or does not answer, may still turn out to have DCMI.
Result<std::vector<Domain>> DcmiSource::Find() {
  if (way_ == Way::kSensors) return DiscoverSensors();
  const Dcmi dcmi = ReadDcmi();
  if (dcmi.power) {
    way_ = Way::kDcmi;
    return std::vector<Domain>{DcmiDomain()};
  }
  if (way_ == Way::kDcmi || !dcmi.is_absent) return std::unexpected(dcmi.power.error());
  auto sensors = DiscoverSensors();
  if (sensors) return sensors;
  return Fail(sensors.error().kind, fmt::format("{}; {}", dcmi.power.error().message, sensors.error().message));
}

Result<std::vector<Domain>> DcmiSource::DiscoverSensors() {
  KEPLER_TRY(auto found, FindPowerSensors(link_));
  if (found.list.empty())
    return Fail(
        ErrorKind::kUnavailable,
        fmt::format("{}: the BMC has no power sensor that can be read (left out: {}); use another platform meter",
                    link_.path(),
                    found.left_out.empty() ? "none" : fmt::format("{}", fmt::join(found.left_out, ", "))));
  way_ = Way::kSensors;
  whole_ = WholeMachine(found.list);
  auto domains = SensorDomains(found);
  sensors_ = std::move(found.list);
  return domains;
}

Domain DcmiSource::DcmiDomain() const {
  Domain domain;
  domain.zone = "dcmi";
  domain.path = link_.path();
  domain.key = "dcmi";
  domain.sensor = status::PlatformSensor{.bmc_id = DeviceName(link_.path()),
                                         .chassis_id = "",
                                         .source_id = "dcmi",
                                         .source_name = "DCMI power reading",
                                         .source_type = "dcmi",
                                         .whole = true};
  domain.resolution.watts = 1;
  return domain;
}

std::vector<Domain> DcmiSource::SensorDomains(const PowerSensors& found) const {
  std::vector<Domain> domains;
  for (const PowerSensor& sensor : found.list) {
    const std::string id = fmt::format("sensor/{}.{:#04x}", sensor.lun, sensor.number);
    const bool is_unique = std::ranges::count(found.list, sensor.name, &PowerSensor::name) == 1;
    Domain& domain = domains.emplace_back();
    domain.zone = is_unique ? sensor.name : fmt::format("{} ({})", sensor.name, id);
    domain.path = link_.path();
    domain.key = id;
    domain.sensor = status::PlatformSensor{.bmc_id = DeviceName(link_.path()),
                                           .chassis_id = "",
                                           .source_id = id,
                                           .source_name = sensor.name,
                                           .source_type = "sdr",
                                           .whole = whole_ == domains.size() - 1};
    domain.resolution.watts = std::abs(sensor.ToPower(1).watts() - sensor.ToPower(0).watts());
  }
  if (!whole_) domains[0].note = "no sensor of the BMC measures the whole machine, so none counts in its total";
  if (!found.left_out.empty())
    domains[0].note += fmt::format("{}power sensors that cannot be read: {}", domains[0].note.empty() ? "" : "; ",
                                   fmt::join(found.left_out, ", "));
  return domains;
}

void DcmiSource::Read(std::vector<DomainReading>& out) {
  out.resize(way_ == Way::kSensors ? sensors_.size() : 1);
  int timeouts = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    if (timeouts >= kMaxTimeouts) {
      out[i] = {link_.clock().Now(), out[i - 1].value};
      continue;
    }
    if (way_ == Way::kSensors) {
      out[i].value = ReadSensor(sensors_[i], whole_ == i);
    } else {
      const Dcmi dcmi = ReadDcmi();
      out[i].value = dcmi.power ? Answer(*dcmi.power) : Answer(dcmi.power.error());
    }
    out[i].at = link_.clock().Now();
    const auto* const error = std::get_if<Error>(&out[i].value);
    if (error != nullptr && error->kind == ErrorKind::kTimeout) ++timeouts;
  }
  link_.Close();
}

/// A part of the machine, such as a power supply, may use nothing.
Answer DcmiSource::ReadSensor(const PowerSensor& sensor, bool is_whole) {
  const auto answer = link_.Ask(SensorRequest(sensor));
  if (!answer) return answer.error();
  const std::string what = fmt::format("read sensor {}", sensor.name);
  const auto raw = ParseSensorReading(*answer);
  if (!raw) return At(what, raw.error());
  const Power power = sensor.ToPower(*raw);
  if (power < Power() || (is_whole && power == Power()))
    return At(what,
              {ErrorKind::kUnavailable,
               fmt::format("it reports {:g} W, which is not a measurement; check whether the power supplies report "
                           "power, or update the firmware of the BMC",
                           power.watts())});
  return power;
}

}  // namespace kepler::energy::platform::ipmi
