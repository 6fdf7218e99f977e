#include "energy/platform/sysfs/hwmon_power_source.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <utility>

#include "base/log.h"
#include "energy/hwmon/acpi_meter.h"
#include "os/dirents.h"

namespace kepler::energy::platform::sysfs {
namespace {

constexpr std::array<std::string_view, 1> kAcpiChips = {hwmon::kAcpiMeterChip};
/// Names of the kernel's drivers for power supplies (Linux drivers/hwmon/corsair-psu.c and pmbus/).
constexpr std::array<std::string_view, 9> kPsuChips = {"corsairpsu", "dps920ab", "pfe1100", "pfe3000", "cffps1",
                                                       "cffps2",     "ym2151e",  "yh5151e", "fsg032"};

/// What the input of a power supply is called: by corsair-psu, and by the PMBus drivers. With corsair-psu it is the sum
/// of the rails.
constexpr std::array<std::string_view, 3> kInputLabels = {"power_total", "pin", "pin1"};

std::span<const std::string_view> ChipsOf(HwmonPowerKind kind) {
  return kind == HwmonPowerKind::kAcpi ? std::span<const std::string_view>(kAcpiChips) : kPsuChips;
}

bool Contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string_view RemedyFor(HwmonPowerKind kind) {
  return kind == HwmonPowerKind::kAcpi ? "; if the firmware has a power meter, load the module acpi_power_meter"
                                       : "; if the power supply has sensors, load its driver, such as corsair-psu";
}

std::string Root(const std::string& sysfs) { return sysfs + "/class/hwmon"; }

/// The device's name in its bus and the channel: "ACPI000D:00/power1". It stays the same when hwmonN gets another
/// number.
std::string SourceId(const hwmon::Device& device, const hwmon::Sensor& sensor) {
  const std::filesystem::path identity(device.identity);
  return identity.parent_path().filename().string() + "/" + std::filesystem::path(sensor.key).filename().string();
}

/// The devices that an ACPI power meter measures. Nothing for a link that leads nowhere.
std::vector<std::string> MeasuredBy(const hwmon::Device& device) {
  const std::filesystem::path links = device.directory + "/device/measures";
  std::vector<std::string> measured;
  const auto names = os::ListDir(links.string());
  if (!names) return measured;
  for (const std::string& name : *names) {
    std::error_code failed;
    const auto target = std::filesystem::canonical(links / name, failed);
    if (!failed) measured.push_back(target.string());
  }
  return measured;
}

}  // namespace

std::string_view ToString(HwmonPowerKind kind) { return kind == HwmonPowerKind::kAcpi ? "acpi" : "psu"; }

HwmonPowerSource::HwmonPowerSource(std::string sysfs, HwmonPowerKind kind, std::shared_ptr<const Clock> clock)
    : sysfs_(std::move(sysfs)), kind_(kind), clock_(std::move(clock)) {}

bool HwmonPowerSource::IsPresent(const std::string& sysfs, HwmonPowerKind kind) {
  os::ReadBuffer buffer;
  const auto names = os::ListDir(Root(sysfs));
  return names && std::ranges::any_of(*names, [&](const std::string& name) {
           const auto device = hwmon::ReadDevice(fmt::format("{}/{}", Root(sysfs), name), buffer);
           return device && Contains(ChipsOf(kind), device->chip);
         });
}

Domain HwmonPowerSource::DomainOf(const hwmon::Device& device, const hwmon::Sensor& sensor, bool is_only_one) {
  const std::string id = SourceId(device, sensor);
  Domain domain{id, sensor.path, sensor.key, {}, {}, {}};
  domain.sensor.emplace();
  domain.sensor->source_id = id;
  domain.sensor->source_type = std::string(Name());
  domain.sensor->source_name = device.chip;
  if (!sensor.label.empty()) domain.sensor->source_name = sensor.label;
  domain.sensor->whole = is_only_one || Contains(kInputLabels, sensor.label);
  return domain;
}

Result<std::vector<Domain>> HwmonPowerSource::Discover() {
  auto names = os::ListDir(Root(sysfs_));
  if (!names) return Fail(names.error().kind, names.error().message + "; this machine has no hwmon sensors there");
  listed_ = *names;
  files_.clear();
  std::vector<Domain> domains;
  std::vector<AcpiMeter> meters;
  std::vector<AcpiMeter> without_sensor;
  std::vector<std::string> without_input;
  std::string refused;
  for (const std::string& name : listed_) {
    const auto device = hwmon::ReadDevice(fmt::format("{}/{}", Root(sysfs_), name), buffer_);
    if (!device || !Contains(ChipsOf(kind_), device->chip)) continue;
    auto sensors = hwmon::FindSensors(*device, nullptr, buffer_);
    if (!sensors) {
      refused += fmt::format("; {} is not used: {}", device->directory, sensors.error().message);
      without_input.push_back(device->directory);
      without_sensor.push_back({.measures = MeasuredBy(*device), .has_sensor = false});
      continue;
    }
    std::erase_if(*sensors, [](const hwmon::Sensor& sensor) {
      return sensor.kind != hwmon::SensorKind::kPower || hwmon::IsCpuLabel(sensor.label);
    });
    const size_t before = domains.size();
    for (const hwmon::Sensor& sensor : *sensors) {
      domains.push_back(DomainOf(*device, sensor, sensors->size() == 1));
      files_.push_back(sensor.path);
      meters.push_back({sensor.label, MeasuredBy(*device)});
    }
    const auto is_input = [](const Domain& domain) { return domain.sensor->whole; };
    if (std::none_of(domains.begin() + static_cast<std::ptrdiff_t>(before), domains.end(), is_input))
      without_input.push_back(device->directory);
  }
  meters.insert(meters.end(), without_sensor.begin(), without_sensor.end());  // the others have the indices of domains
  if (kind_ == HwmonPowerKind::kAcpi)
    UseCoverage(ChooseAcpiMeters(meters), domains);
  else
    WithholdPartialSum(without_input, domains);
  if (domains.empty())
    return Fail(ErrorKind::kNotFound, fmt::format("no {} power sensor in {}{}{}", Name(), Root(sysfs_), refused,
                                                  refused.empty() ? RemedyFor(kind_) : ""));
  return domains;
}

void HwmonPowerSource::UseCoverage(const AcpiCoverage& coverage, std::vector<Domain>& domains) {
  for (size_t i = 0; i < domains.size(); ++i) domains[i].sensor->whole = coverage.counts[i];
  Doubt(coverage.doubt, domains);
}

/// The sum of the inputs is not the machine's if a supply shows none.
void HwmonPowerSource::WithholdPartialSum(std::span<const std::string> without_input, std::vector<Domain>& domains) {
  if (without_input.empty()) return Doubt("", domains);
  for (Domain& domain : domains) domain.sensor->whole = false;
  Doubt(fmt::format("none counts in the total, because these power supplies show no input power: {}",
                    fmt::join(without_input, ", ")),
        domains);
}

void HwmonPowerSource::Doubt(std::string doubt, std::vector<Domain>& domains) {
  for (Domain& domain : domains) domain.doubt = doubt;
  if (doubt == doubt_) return;
  doubt_ = std::move(doubt);
  if (!doubt_.empty()) log::Warn("power sensors are not added", {{"meter", std::string(Name())}, {"err", doubt_}});
}

void HwmonPowerSource::Read(std::vector<DomainReading>& out) {
  out.clear();
  for (const std::string& file : files_) {
    const auto microwatts = os::ReadNumber<int64_t>(file, buffer_);
    const BootTime now = clock_->Now();
    if (!microwatts)
      out.push_back({now, microwatts.error()});
    else if (*microwatts < 0)
      out.push_back({now, Error{ErrorKind::kUnavailable,
                                fmt::format("read {}: a power of {} uW is impossible", file, *microwatts)}});
    else
      out.push_back({now, Power::Microwatts(static_cast<double>(*microwatts))});
  }
}

bool HwmonPowerSource::HasChanged() {
  const auto listed = os::ListDir(Root(sysfs_));
  return listed && *listed != listed_;
}

}  // namespace kepler::energy::platform::sysfs
