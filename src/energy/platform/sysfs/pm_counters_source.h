#pragma once
// PmCountersSource: the energy counters of an HPE Cray blade, in <sysfs>/cray/pm_counters. The blade controller
// measures the node ten times a second and writes the results to these files. `energy` is the whole node; cpu_energy,
// memory_energy and accelN_energy are parts of it. A file holds "8123456 J 1434481539532412 us"; older blades write no
// time. The counters start at 0 when the blade starts. Source: HPE Cray EX documentation, "User Access to Compute Node
// Power Data".
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "energy/energy_source.h"
#include "os/file.h"

namespace kepler::energy::platform::sysfs {

/// The content of one file of pm_counters.
struct PmCounter {
  uint64_t value = 0;
  std::optional<uint64_t> microseconds;  // time of the measurement by the clock of the blade controller
  bool operator==(const PmCounter&) const = default;
};

/// `unit`: "J" or "W". Empty for any other text.
[[nodiscard]] std::optional<PmCounter> ParsePmCounter(std::string_view text, std::string_view unit);

class PmCountersSource final : public EnergySource {
 public:
  PmCountersSource(const std::string& sysfs, std::shared_ptr<const Clock> clock);

  [[nodiscard]] static bool IsPresent(const std::string& sysfs);
  static constexpr std::string_view kName = "pm-counters";
  [[nodiscard]] std::string_view Name() const override { return kName; }
  [[nodiscard]] status::Domain domain() const override { return status::Domain::kPlatform; }
  [[nodiscard]] Authority authority() const override { return Authority::kMeasured; }
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  /// The blade controller measures ten times a second. Without a new measurement for so long it has failed.
  static constexpr std::chrono::seconds kMaxStandstill{10};
  /// A counter without a new measurement keeps the time of its previous reading, up to kMaxStandstill.
  void Read(std::vector<DomainReading>& out) override;

 private:
  struct Counter {
    std::string energy_file;
    std::string power_file;
    PmCounter last;
    DomainReading reading{};  // of `last`
  };
  [[nodiscard]] DomainReading ReadCounter(Counter& counter);

  std::string directory_;
  std::shared_ptr<const Clock> clock_;
  std::vector<Counter> counters_;  // in the order of the last Discover()
  os::ReadBuffer buffer_;
};

}  // namespace kepler::energy::platform::sysfs
