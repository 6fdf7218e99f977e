#pragma once
// RedfishSource: power of the machine from its BMC, over Redfish (DMTF DSP0266). The BMC is another computer: it knows
// nothing of this one, so the BMC file says which BMC belongs to which node. Sensors are found once, and again every
// kSearchPeriod, when a resource is gone and when a file changes. Blocks for seconds: runs behind a PolledSource.
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "energy/energy_source.h"
#include "energy/platform/redfish/bmc_client.h"
#include "energy/platform/redfish/bmc_file.h"
#include "energy/platform/redfish/sensors.h"

namespace kepler::energy::platform::redfish {

struct RedfishOptions {
  std::string bmc_file;
  std::string node_name;                                        // in the BMC file
  std::chrono::milliseconds timeout = std::chrono::seconds(5);  // of each request
};

/// One thread, except Interrupt().
class RedfishSource final : public EnergySource {
 public:
  static constexpr std::string_view kName = "redfish";
  static constexpr std::chrono::minutes kSearchPeriod{15};  // a power supply may be added
  static constexpr std::chrono::minutes kRepairPeriod{2};   // while a sensor of the machine has no value
  static constexpr size_t kMaxTimeouts = 2;                 // then the other sensors are not read in this turn

  RedfishSource(RedfishOptions options, std::shared_ptr<const Clock> clock);

  [[nodiscard]] std::string_view Name() const override { return kName; }
  [[nodiscard]] status::Domain domain() const override { return status::Domain::kPlatform; }
  [[nodiscard]] Authority authority() const override { return Authority::kMeasured; }
  /// Reads the BMC file if it has changed. A file with a mistake leaves the previous one in use.
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  /// Fetches each resource once. An error of a resource is that of its sensors only. If the machine uses 0 W by all
  /// sensors, they are errors: this program runs on it.
  void Read(std::vector<DomainReading>& out) override;
  [[nodiscard]] bool HasChanged() override;
  void Interrupt() override { interrupted_.request_stop(); }
  /// A login in progress is finished, so that its session can be deleted.
  [[nodiscard]] std::chrono::milliseconds MaxFarewell() const override;

 private:
  [[nodiscard]] Status Reload();
  [[nodiscard]] std::vector<Domain> MakeDomains() const;
  void ReadResource(size_t resource, std::vector<DomainReading>& out);
  void RejectZero(std::vector<DomainReading>& out) const;
  void LogDoubts();

  const RedfishOptions options_;
  const std::shared_ptr<const Clock> clock_;
  std::stop_source interrupted_;
  FileStamps stamps_;
  std::optional<Error> file_error_;
  std::unique_ptr<BmcClient> client_;  // null until the BMC file can be read
  Sensors sensors_;
  BootTime searched_at_{};
  std::string doubts_;         // as they were logged
  bool misses_value_ = false;  // a sensor of the machine answered without a value
  size_t timeouts_ = 0;        // in this turn
};

}  // namespace kepler::energy::platform::redfish
