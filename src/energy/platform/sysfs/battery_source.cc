#include "energy/platform/sysfs/battery_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include "base/log.h"
#include "os/dirents.h"

namespace kepler::energy::platform::sysfs {
namespace {

bool Exists(const std::string& path) {
  std::error_code failed;
  return std::filesystem::exists(path, failed);
}

/// Returns true for a battery of the machine.
bool IsBattery(const std::string& directory, os::ReadBuffer& buffer) {
  const auto type = os::ReadAttribute(directory + "/type", buffer);
  if (!type || *type != "Battery") return false;
  const auto scope = os::ReadAttribute(directory + "/scope", buffer);
  return !scope || *scope != "Device";
}

/// Returns true for mains, and for a USB port that may charge the machine. Charging ports of other devices have a
/// scope.
bool IsCharger(const std::string& directory, os::ReadBuffer& buffer) {
  const auto type = os::ReadAttribute(directory + "/type", buffer);
  if (!type || (*type != "Mains" && !type->starts_with("USB"))) return false;
  const auto scope = os::ReadAttribute(directory + "/scope", buffer);
  return !scope || *scope != "Device";
}

/// "" if the driver states none.
std::string ModelName(const std::string& directory, os::ReadBuffer& buffer) {
  const auto name = os::ReadAttribute(directory + "/model_name", buffer);
  return name ? std::string(*name) : std::string();
}

}  // namespace

BatterySource::BatterySource(const std::string& sysfs, std::shared_ptr<const Clock> clock)
    : root_(sysfs + "/class/power_supply"), clock_(std::move(clock)) {}

bool BatterySource::IsPresent(const std::string& sysfs) {
  const std::string root = sysfs + "/class/power_supply";
  os::ReadBuffer buffer;
  const auto names = os::ListDir(root);
  return names &&
         std::ranges::any_of(*names, [&](const std::string& name) { return IsBattery(root + "/" + name, buffer); });
}

Result<std::vector<Domain>> BatterySource::Discover() {
  KEPLER_TRY(auto names, os::ListDir(root_));
  listed_ = names;
  batteries_.clear();
  chargers_.clear();
  std::vector<Domain> domains;
  for (const std::string& name : names) {
    const std::string directory = root_ + "/" + name;
    if (IsCharger(directory, buffer_)) chargers_.push_back(directory);
    if (!IsBattery(directory, buffer_)) continue;
    const bool has_power = Exists(directory + "/power_now");
    batteries_.push_back({directory, has_power});
    Domain domain{name, directory + (has_power ? "/power_now" : "/current_now"), name, {}, {}, {}};
    domain.sensor.emplace();
    domain.sensor->source_id = name;
    domain.sensor->source_name = ModelName(directory, buffer_);
    domain.sensor->source_type = std::string(kName);
    domains.push_back(std::move(domain));
  }
  if (domains.empty()) return Fail(ErrorKind::kNotFound, fmt::format("no battery in {}", root_));
  return domains;
}

void BatterySource::Read(std::vector<DomainReading>& out) {
  out.clear();
  bool any_discharges = false;
  bool any_answers = false;
  for (const Battery& battery : batteries_) {
    const BootTime now = clock_->Now();
    const auto discharges = IsDischarging(battery);
    if (!discharges) {
      out.push_back({now, discharges.error()});
      continue;
    }
    any_answers = true;
    any_discharges |= *discharges;
    out.push_back({now, *discharges ? ReadPower(battery) : Answer(Power())});
  }
  const bool on_battery = any_discharges && !HasMains();
  if (any_answers) LogSupply(on_battery);
  if (on_battery) return;
  for (DomainReading& reading : out)
    if (std::holds_alternative<Power>(reading.value)) reading.value = Withheld{.unused = true};
}

bool BatterySource::HasChanged() {
  const auto listed = os::ListDir(root_);
  return listed && *listed != listed_;
}

Result<bool> BatterySource::IsDischarging(const Battery& battery) {
  KEPLER_TRY(const auto status, os::ReadAttribute(battery.directory + "/status", buffer_));
  return status == "Discharging";
}

bool BatterySource::HasMains() {
  return std::ranges::any_of(chargers_, [&](const std::string& directory) {
    const auto online = os::ReadNumber<int>(directory + "/online", buffer_);
    return online && *online > 0;
  });
}

/// Some drivers give a negative power or current while the battery discharges.
Answer BatterySource::ReadPower(const Battery& battery) {
  if (battery.has_power) {
    const auto microwatts = os::ReadNumber<int64_t>(battery.directory + "/power_now", buffer_);
    if (!microwatts) return microwatts.error();
    return Power::Microwatts(std::abs(static_cast<double>(*microwatts)));
  }
  const auto microamperes = os::ReadNumber<int64_t>(battery.directory + "/current_now", buffer_);
  if (!microamperes) return microamperes.error();
  const auto microvolts = os::ReadNumber<int64_t>(battery.directory + "/voltage_now", buffer_);
  if (!microvolts) return microvolts.error();
  return Power::Watts(std::abs(static_cast<double>(*microamperes) / 1e6 * (static_cast<double>(*microvolts) / 1e6)));
}

void BatterySource::LogSupply(bool on_battery) {
  if (on_battery_ == on_battery) return;
  on_battery_ = on_battery;
  if (on_battery)
    log::Info("the machine runs on its battery, which measures its power", {{"path", root_}});
  else
    log::Info("the machine runs on mains; its battery gives no power reading", {{"path", root_}});
}

}  // namespace kepler::energy::platform::sysfs
