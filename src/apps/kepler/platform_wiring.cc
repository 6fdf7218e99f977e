#include "apps/kepler/platform_wiring.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "energy/hwmon/acpi_meter.h"
#include "energy/platform/ipmi/dcmi_source.h"
#include "energy/platform/redfish/redfish_source.h"
#include "energy/platform/sysfs/battery_source.h"
#include "energy/platform/sysfs/hwmon_power_source.h"
#include "energy/platform/sysfs/pm_counters_source.h"
#include "energy/polled_source.h"

namespace kepler::agent {
namespace {

using energy::platform::ipmi::DcmiSource;
using energy::platform::ipmi::FindIpmiDevice;
using energy::platform::ipmi::OpenIpmiDevice;
using energy::platform::redfish::RedfishOptions;
using energy::platform::redfish::RedfishSource;
using energy::platform::sysfs::BatterySource;
using energy::platform::sysfs::HwmonPowerKind;
using energy::platform::sysfs::HwmonPowerSource;
using energy::platform::sysfs::PmCountersSource;

/// The blade controller measures ten times a second, and gives a counter.
constexpr Nanoseconds kPmCountersPeriod = std::chrono::seconds(1);
/// A read of an ACPI meter or a battery may be a request of the firmware to a slow bus.
constexpr Nanoseconds kAcpiPeriod = std::chrono::seconds(5);
constexpr Nanoseconds kPsuPeriod = std::chrono::seconds(5);
constexpr Nanoseconds kBatteryPeriod = std::chrono::seconds(10);

/// The unit of the files of hwmon and of batteries: 1 uW.
constexpr status::Resolution kMicrowatt = {.watts = 1e-6};
/// ACPI states power in milliwatts.
constexpr status::Resolution kMilliwatt = {.watts = 1e-3};
/// A BMC states whole watts.
constexpr status::Resolution kWatt = {.watts = 1};
/// A Cray blade states whole joules.
constexpr status::Resolution kJoule = {.joules = 1};

BlockingMeter MakeHwmonPower(const std::string& sysfs, HwmonPowerKind kind, Nanoseconds period,
                             status::Resolution resolution) {
  return {std::string(ToString(kind)), [=] { return HwmonPowerSource::IsPresent(sysfs, kind); },
          [=] { return std::make_unique<HwmonPowerSource>(sysfs, kind, std::make_shared<SystemClock>()); }, period,
          resolution};
}

/// A meter that is read through files of <sysfs>.
template <class Source>
BlockingMeter MakeFileMeter(const std::string& sysfs, Nanoseconds period, status::Resolution resolution) {
  return {std::string(Source::kName), [=] { return Source::IsPresent(sysfs); },
          [=] { return std::make_unique<Source>(sysfs, std::make_shared<SystemClock>()); }, period, resolution};
}

/// "" if there is no such device.
std::string DcmiDevice(const Dcmi& dcmi) {
  if (dcmi.device_path.empty()) return FindIpmiDevice("/dev");
  return ::access(dcmi.device_path.c_str(), F_OK) == 0 ? dcmi.device_path : "";
}

BlockingMeter MakeDcmi(const Dcmi& dcmi) {
  return {std::string(DcmiSource::kName), [dcmi] { return !DcmiDevice(dcmi).empty(); },
          [dcmi] {
            std::string path = DcmiDevice(dcmi);
            if (path.empty()) path = dcmi.device_path.empty() ? "/dev/ipmi0" : dcmi.device_path;
            const auto open = [path] { return OpenIpmiDevice(path); };
            return std::make_unique<DcmiSource>(path, open, std::make_shared<SystemClock>());
          },
          dcmi.interval, kWatt};
}

/// A meter that the configuration does not ask for.
BlockingMeter Unconfigured(std::string_view name, const std::string& reason) {
  return {
      std::string(name), [] { return false; },
      [reason]() -> Result<std::unique_ptr<energy::EnergySource>> { return Fail(ErrorKind::kUnavailable, reason); }};
}

/// A configured BMC counts as present: nothing on this machine shows it, and its failure is then reported.
BlockingMeter MakeRedfish(const Config& config) {
  const RedfishOptions options{.bmc_file = config.redfish_config_file,
                               .node_name = config.redfish_node_name,
                               .timeout = std::chrono::ceil<std::chrono::milliseconds>(config.redfish_http_timeout)};
  return {std::string(RedfishSource::kName), [] { return true; },
          [options] { return std::make_unique<RedfishSource>(options, std::make_shared<SystemClock>()); },
          config.redfish_interval, kWatt};
}

/// The user says that the ACPI power meter of this machine measures its CPUs.
bool AcpiMeterIsOfCpus(const energy::hwmon::HwmonOptions& hwmon) {
  const auto is_acpi = [](std::string_view chip) { return chip == energy::hwmon::kAcpiMeterChip; };
  return std::ranges::any_of(hwmon.chips, is_acpi) ||
         std::ranges::any_of(hwmon.chip_rules, is_acpi, &energy::hwmon::ChipRule::name);
}

BlockingMeter MakeBlockingMeter(PlatformKind kind, const Config& config) {
  const std::string& sysfs = config.host.sysfs;
  switch (kind) {
    case PlatformKind::kPmCounters:
      return MakeFileMeter<PmCountersSource>(sysfs, kPmCountersPeriod, kJoule);
    case PlatformKind::kDcmi:
      return MakeDcmi(config.dcmi);
    case PlatformKind::kRedfish:
      if (!config.redfish_enabled)
        return Unconfigured(RedfishSource::kName,
                            "not configured; set experimental.platform.redfish.enabled and configFile");
      return MakeRedfish(config);
    case PlatformKind::kAcpi:
      if (AcpiMeterIsOfCpus(config.hwmon))
        return Unconfigured(ToString(HwmonPowerKind::kAcpi), "experimental.hwmon says that it is a meter of the CPUs");
      return MakeHwmonPower(sysfs, HwmonPowerKind::kAcpi, kAcpiPeriod, kMilliwatt);
    case PlatformKind::kPsu:
      return MakeHwmonPower(sysfs, HwmonPowerKind::kPsu, kPsuPeriod, kMicrowatt);
    case PlatformKind::kBattery:
      break;
  }
  return MakeFileMeter<BatterySource>(sysfs, kBatteryPeriod, kMicrowatt);
}

}  // namespace

std::vector<BlockingMeter> MakeBlockingMeters(const Config& config) {
  std::vector<BlockingMeter> meters;
  meters.reserve(config.platform_meters.size());
  for (const PlatformKind kind : config.platform_meters) meters.push_back(MakeBlockingMeter(kind, config));
  return meters;
}

std::vector<energy::PlatformMeter> MakePlatformMeters(const Config& config) {
  std::vector<energy::PlatformMeter> meters;
  for (BlockingMeter& meter : MakeBlockingMeters(config)) {
    auto make = [make = meter.make, period = meter.period]() -> Result<std::unique_ptr<energy::EnergySource>> {
      KEPLER_TRY(auto slow, make());
      auto polled = std::make_unique<energy::PolledSource>(std::move(slow), period, std::make_shared<SystemClock>());
      KEPLER_CHECK_OK(polled->Start());
      return polled;
    };
    meters.push_back({std::move(meter.name), std::move(meter.is_present), std::move(make)});
  }
  return meters;
}

}  // namespace kepler::agent
