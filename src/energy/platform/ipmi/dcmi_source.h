#pragma once
// DcmiSource: the power of the machine by its BMC, over the kernel's IPMI driver (/dev/ipmi0). It uses Get Power
// Reading of DCMI, or the BMC's power sensors if there is no DCMI. Reads take milliseconds to seconds, and each costs
// the kernel thread kipmi0 CPU time: run it behind a PolledSource with a period of several seconds.
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "energy/energy_source.h"
#include "energy/platform/ipmi/bmc_link.h"
#include "energy/platform/ipmi/sensor_repository.h"

namespace kepler::energy::platform::ipmi {

class DcmiSource final : public EnergySource {
 public:
  /// `path` of the device is exported as the path of the zones. The source shares ownership of the clock, because a
  /// PolledSource may leave its thread behind.
  DcmiSource(std::string path, IpmiOpener opener, std::shared_ptr<const Clock> clock);

  static constexpr std::string_view kName = "dcmi";
  [[nodiscard]] std::string_view Name() const override { return kName; }
  [[nodiscard]] status::Domain domain() const override { return status::Domain::kPlatform; }
  [[nodiscard]] Authority authority() const override { return Authority::kMeasured; }
  /// Finds DCMI, or else the sensors. The first one that is found stays in use, so that no energy is counted twice.
  /// kNotFound: no device; kPermission: it cannot be opened; kUnavailable: the BMC measures no power, or not now.
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  /// Sends one request per domain. The device is open only meanwhile, so that its module can be reloaded. kUnavailable
  /// for a value that no running machine can have.
  void Read(std::vector<DomainReading>& out) override;
  void Interrupt() override { link_.Interrupt(); }

 private:
  enum class Way : uint8_t { kUnknown, kDcmi, kSensors };
  struct Dcmi {
    Result<Power> power;
    bool is_absent = false;  // the BMC has no DCMI power reading
  };
  [[nodiscard]] Result<std::vector<Domain>> Find();
  [[nodiscard]] Dcmi ReadDcmi();
  [[nodiscard]] Result<std::vector<Domain>> DiscoverSensors();
  [[nodiscard]] Answer ReadSensor(const PowerSensor& sensor, bool is_whole);
  [[nodiscard]] Error At(std::string_view what, const Error& error) const;
  [[nodiscard]] Domain DcmiDomain() const;
  [[nodiscard]] std::vector<Domain> SensorDomains(const PowerSensors& found) const;

  BmcLink link_;
  Way way_ = Way::kUnknown;
  std::vector<PowerSensor> sensors_;  // of the last Discover()
  std::optional<size_t> whole_;       // index in sensors_
};

}  // namespace kepler::energy::platform::ipmi
