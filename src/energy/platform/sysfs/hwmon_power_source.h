#pragma once
// HwmonPowerSource: chips of <sysfs>/class/hwmon that measure the whole machine. Two kinds:
//   acpi  the ACPI power meter (ACPI000D, driver acpi_power_meter): the machine's input, often read from the BMC. The
//         meters of an NVIDIA Grace socket that measure only its CPU are CPU meters (energy/hwmon). Of several meters
//         those count that do not overlap (acpi_coverage.h).
//   psu   power supplies with sensors (driver corsair-psu, PMBus supplies). The input of every supply counts; rails are
//         parts of it.
// Reading a chip may take seconds, so the source belongs behind a PolledSource.
#include <memory>
#include <string>
#include <vector>

#include "energy/energy_source.h"
#include "energy/hwmon/device.h"
#include "energy/platform/sysfs/acpi_coverage.h"
#include "os/file.h"

namespace kepler::energy::platform::sysfs {

enum class HwmonPowerKind : uint8_t { kAcpi, kPsu };

/// Returns the name of the meter: "acpi", "psu".
[[nodiscard]] std::string_view ToString(HwmonPowerKind kind);

class HwmonPowerSource final : public EnergySource {
 public:
  HwmonPowerSource(std::string sysfs, HwmonPowerKind kind, std::shared_ptr<const Clock> clock);

  /// Returns true if the machine has a chip of this kind.
  [[nodiscard]] static bool IsPresent(const std::string& sysfs, HwmonPowerKind kind);

  [[nodiscard]] std::string_view Name() const override { return ToString(kind_); }
  [[nodiscard]] status::Domain domain() const override { return status::Domain::kPlatform; }
  [[nodiscard]] Authority authority() const override { return Authority::kMeasured; }
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  /// An error is of one sensor. A negative power is an error: the machine uses some.
  void Read(std::vector<DomainReading>& out) override;
  /// Returns true if the directory names have changed.
  [[nodiscard]] bool HasChanged() override;

 private:
  [[nodiscard]] Domain DomainOf(const hwmon::Device& device, const hwmon::Sensor& sensor, bool is_only_one);

  void UseCoverage(const AcpiCoverage& coverage, std::vector<Domain>& domains);
  void WithholdPartialSum(std::span<const std::string> without_input, std::vector<Domain>& domains);
  void Doubt(std::string doubt, std::vector<Domain>& domains);

  std::string sysfs_;
  HwmonPowerKind kind_;
  std::shared_ptr<const Clock> clock_;
  std::vector<std::string> files_;   // in the order of the last Discover()
  std::vector<std::string> listed_;  // directory names of the last Discover()
  std::string doubt_;                // as it was logged
  os::ReadBuffer buffer_;
};

}  // namespace kepler::energy::platform::sysfs
