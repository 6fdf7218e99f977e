#pragma once
// HwmonSource: energy and power sensors in <sysfs>/class/hwmon that measure the CPU or the machine.
#include <string>
#include <vector>

#include "base/log.h"
#include "energy/energy_source.h"
#include "energy/hwmon/device.h"

namespace kepler::energy::hwmon {

struct HwmonOptions {
  std::vector<std::string> zones{};    // names of zones to use, without case; empty: all zones of the CPU chips
  std::vector<ChipRule> chip_rules{};  // replace the built-in rules of the same chips
  std::vector<std::string> chips{};    // chips that count as CPU, instead of the built-in list
};

/// Chips with a user rule are always used, and so are the chips in `chips`. If `chips` is empty, the built-in list is
/// used, or all chips if `zones` is given.
class HwmonSource final : public EnergySource {
 public:
  /// `clock` must outlive the source.
  HwmonSource(std::string sysfs, HwmonOptions options, const Clock& clock);

  [[nodiscard]] std::string_view Name() const override { return "hwmon"; }
  [[nodiscard]] status::Domain domain() const override { return status::Domain::kCpu; }
  [[nodiscard]] Authority authority() const override { return Authority::kMeasured; }
  /// Returns domains in the order of their zone names. The error lists all chips with the reason why each is not used.
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  /// A negative power (noise near zero, or a board that feeds power back) becomes 0 W.
  void Read(std::vector<DomainReading>& out) override;
  /// Returns true if the directory names have changed.
  [[nodiscard]] bool HasChanged() override;

 private:
  struct Scan {
    std::vector<Sensor> sensors;
    std::string refused;  // "amdgpu (…), nvme (…)"
  };
  [[nodiscard]] std::string Root() const { return sysfs_ + "/class/hwmon"; }
  [[nodiscard]] Result<Scan> ScanDevices();
  [[nodiscard]] bool Admits(const std::string& chip) const;
  [[nodiscard]] Answer ReadSensor(const Sensor& sensor);

  std::string sysfs_;
  HwmonOptions options_;  // names cleaned
  const Clock& clock_;
  std::vector<Sensor> sensors_;      // in the order of the last Discover()
  std::vector<std::string> listed_;  // directory names of the last Discover()
  os::ReadBuffer buffer_;
  log::LogLimiter limiter_;
};

}  // namespace kepler::energy::hwmon
