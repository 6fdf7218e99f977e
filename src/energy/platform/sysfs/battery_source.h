#pragma once
// BatterySource: the batteries of a laptop or of a small server, in <sysfs>/class/power_supply. The power that a
// battery gives is that of the machine only while it runs on batteries. On mains a battery has no reading: its charging
// says nothing about what the machine uses. Batteries of other devices (a mouse: scope is "Device") do not count.
// Source: Linux Documentation/ABI/testing/sysfs-class-power.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "energy/energy_source.h"
#include "os/file.h"

namespace kepler::energy::platform::sysfs {

class BatterySource final : public EnergySource {
 public:
  BatterySource(const std::string& sysfs, std::shared_ptr<const Clock> clock);

  /// Returns true if the machine has a battery.
  [[nodiscard]] static bool IsPresent(const std::string& sysfs);
  static constexpr std::string_view kName = "battery";
  [[nodiscard]] std::string_view Name() const override { return kName; }
  [[nodiscard]] status::Domain domain() const override { return status::Domain::kPlatform; }
  [[nodiscard]] Authority authority() const override { return Authority::kMeasured; }
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  /// Withholds all readings while no battery discharges, and while mains or a USB charger is online: then the battery
  /// gives only a part of the power. Otherwise a battery that does not discharge gives 0 W.
  void Read(std::vector<DomainReading>& out) override;
  /// Returns true if the names of the power supplies have changed.
  [[nodiscard]] bool HasChanged() override;

 private:
  struct Battery {
    std::string directory;
    bool has_power = false;  // power_now; otherwise current_now × voltage_now
  };
  [[nodiscard]] Result<bool> IsDischarging(const Battery& battery);
  [[nodiscard]] Answer ReadPower(const Battery& battery);
  [[nodiscard]] bool HasMains();
  void LogSupply(bool on_battery);

  std::string root_;
  std::shared_ptr<const Clock> clock_;
  std::vector<std::string> chargers_;  // directories of supplies that feed the machine
  std::vector<Battery> batteries_;     // in the order of the last Discover()
  std::vector<std::string> listed_;    // of the last Discover()
  std::optional<bool> on_battery_;     // as logged
  os::ReadBuffer buffer_;
};

}  // namespace kepler::energy::platform::sysfs
