#pragma once
// Energy and power sensors of <sysfs>/class/hwmon that stand for the CPU or the machine.
#include <string>
#include <vector>

#include "base/log.h"
#include "energy/energy_source.h"
#include "energy/hwmon/device.h"

namespace kepler::energy::hwmon {

struct HwmonOptions {
  std::vector<std::string> zones{};    // zone names to use, case does not matter; empty: all of the CPU chips
  std::vector<ChipRule> chip_rules{};  // replace the built-in rules of the same chip
  std::vector<std::string> chips{};    // chips that count as CPU, instead of the built-in list
};

/// Which chips are used: those of `chips`, else the built-in list and, as who names something means it, also every chip
/// with a user rule and, if `zones` is given, any chip that has such a zone.
class HwmonSource final : public EnergySource {
 public:
  /// `clock` must outlive the source.
  HwmonSource(std::string sysfs, HwmonOptions options, const Clock& clock);

  [[nodiscard]] std::string_view Name() const override { return "hwmon"; }
  [[nodiscard]] status::Domain domain() const override { return status::Domain::kCpu; }
  [[nodiscard]] Authority authority() const override { return Authority::kMeasured; }
  /// Domains in the order of their zone names. The error names every chip that was seen and why it is not used.
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  /// A negative power (noise around zero, or a board that feeds back) reads as 0 W.
  void Read(std::vector<DomainReading>& out) override;
  /// By the names of the directories.
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
  std::vector<std::string> listed_;  // the directories of the last Discover()
  os::ReadBuffer buffer_;
  log::LogLimiter limiter_;
};

}  // namespace kepler::energy::hwmon
