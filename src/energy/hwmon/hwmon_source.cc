#include "energy/hwmon/hwmon_source.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "energy/hwmon/acpi_meter.h"
#include "os/dirents.h"
#include "os/file.h"

namespace kepler::energy::hwmon {
namespace {

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::string ZoneNames(const std::vector<Sensor>& sensors) {
  std::set<std::string> names;
  for (const Sensor& sensor : sensors) names.insert(sensor.zone);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Two sensors with the same key would share their state in the Meter. This is possible only in an unusual sysfs tree.
void MakeKeysUnique(std::vector<Sensor>& sensors) {
  std::set<std::string> keys;
  for (Sensor& sensor : sensors)
    if (!keys.insert(sensor.key).second) sensor.key = sensor.path;
}

}  // namespace

HwmonSource::HwmonSource(std::string sysfs, HwmonOptions options, const Clock& clock)
    : sysfs_(std::move(sysfs)), options_(std::move(options)), clock_(clock) {
  for (std::string& zone : options_.zones) zone = ToLowerAscii(Trim(zone));
  for (std::string& chip : options_.chips) chip = CleanName(Trim(chip));
  std::erase(options_.zones, "");
  std::erase(options_.chips, "");
}

bool HwmonSource::Admits(const std::string& chip) const {
  const bool has_rule =
      std::ranges::any_of(options_.chip_rules, [&](const ChipRule& r) { return CleanName(r.name) == chip; });
  if (has_rule || Contains(options_.chips, chip)) return true;
  return options_.chips.empty() && (!options_.zones.empty() || IsCpuChip(chip));
}

Result<HwmonSource::Scan> HwmonSource::ScanDevices() {
  const std::string root = Root();
  auto names = os::ListDir(root);
  if (!names) return Fail(names.error().kind, names.error().message + "; this machine has no hwmon sensors there");
  listed_ = *names;
  Scan scan;
  std::set<std::string> refused;
  const auto refuse = [&](const std::string& who, std::string_view why) {
    const std::string refusal = fmt::format("{} ({})", who, why);
    if (refused.insert(refusal).second) scan.refused += (scan.refused.empty() ? "" : ", ") + refusal;
  };
  for (const std::string& name : *names) {
    const auto device = ReadDevice(fmt::format("{}/{}", root, name), buffer_);
    if (!device) {
      refuse(name, device.error().message);
      continue;
    }
    const bool is_admitted = Admits(device->chip);
    const bool is_acpi_meter = device->chip == kAcpiMeterChip;
    if (!is_admitted && !is_acpi_meter) {
      refuse(device->chip, "not a known CPU meter; to use it add it to experimental.hwmon.chips");
      continue;
    }
    auto sensors = FindSensors(*device, FindRule(options_.chip_rules, device->chip), buffer_);
    if (!sensors) {
      refuse(device->chip, sensors.error().message);
      continue;
    }
    if (!is_admitted) std::erase_if(*sensors, [](const Sensor& sensor) { return !IsCpuLabel(sensor.label); });
    if (sensors->empty()) {
      refuse(device->chip, "it measures the whole machine, see platform.preferredMeters");
      continue;
    }
    std::ranges::move(*sensors, std::back_inserter(scan.sensors));
  }
  return scan;
}

Result<std::vector<Domain>> HwmonSource::Discover() {
  KEPLER_TRY(Scan scan, ScanDevices());
  if (!scan.refused.empty())
    limiter_.Say(log::Level::kInfo, scan.refused, clock_.Now(), "hwmon chips not used", {{"chips", scan.refused}});
  if (scan.sensors.empty()) {
    return Fail(ErrorKind::kNotFound, fmt::format("no CPU power sensor in {}/class/hwmon; found: {}", sysfs_,
                                                  scan.refused.empty() ? "nothing" : scan.refused));
  }
  const std::string existing = ZoneNames(scan.sensors);
  if (!options_.zones.empty()) {
    std::erase_if(scan.sensors,
                  [&](const Sensor& sensor) { return !Contains(options_.zones, ToLowerAscii(sensor.zone)); });
  }
  if (scan.sensors.empty()) {
    return Fail(
        ErrorKind::kInvalid,
        fmt::format("experimental.hwmon.zones selects no zone of {}/class/hwmon; available: {}", sysfs_, existing));
  }
  MakeKeysUnique(scan.sensors);
  std::ranges::sort(scan.sensors, {}, [](const Sensor& s) { return std::tie(s.zone, s.path); });
  sensors_ = std::move(scan.sensors);
  std::vector<Domain> domains;
  for (const Sensor& sensor : sensors_) {
    std::string note;
    if (sensor.kind == SensorKind::kProduct) note = fmt::format("computed: {} x {}", sensor.path, sensor.current);
    Domain& domain =
        domains.emplace_back(sensor.zone, sensor.path, sensor.key, std::nullopt, std::nullopt, std::move(note));
    domain.is_summed = sensor.kind == SensorKind::kEnergy;
    (domain.is_summed ? domain.resolution.joules : domain.resolution.watts) = 1e-6;
  }
  return domains;
}

void HwmonSource::Read(std::vector<DomainReading>& out) {
  out.resize(sensors_.size());
  for (size_t i = 0; i < sensors_.size(); ++i) {
    out[i].value = ReadSensor(sensors_[i]);
    out[i].at = clock_.Now();
  }
}

bool HwmonSource::HasChanged() {
  const auto listed = os::ListDir(Root());
  return listed && *listed != listed_;
}

Answer HwmonSource::ReadSensor(const Sensor& sensor) {
  if (sensor.kind == SensorKind::kEnergy) {
    const auto counter = os::ReadNumber<uint64_t>(sensor.path, buffer_);
    if (!counter) return counter.error();
    return RawCounter{*counter};
  }
  const auto value = os::ReadNumber<int64_t>(sensor.path, buffer_);
  if (!value) return value.error();
  auto microwatts = static_cast<double>(*value);  // for a product: millivolts so far
  if (sensor.kind == SensorKind::kProduct) {
    const auto milliamperes = os::ReadNumber<int64_t>(sensor.current, buffer_);
    if (!milliamperes) return milliamperes.error();
    microwatts *= static_cast<double>(*milliamperes);
  }
  return Power::Microwatts(std::max(microwatts, 0.0));
}

}  // namespace kepler::energy::hwmon
