#pragma once
// RAPL through powercap sysfs: <sysfs>/class/powercap/*/energy_uj. Works for Intel and AMD (the kernel shows both as
// "intel-rapl") and for whatever else registers there with a name and an energy counter.
#include <map>
#include <string>
#include <vector>

#include "base/log.h"
#include "energy/energy_source.h"
#include "energy/rapl/die_mirrors.h"
#include "energy/rapl/powercap_tree.h"
#include "os/cpu_topology.h"
#include "os/file.h"

namespace kepler::energy::rapl {

class PowercapSource final : public EnergySource {
 public:
  /// `zones`: base names to use ("package", not "package-0"; case and outer space do not matter); empty: all.
  /// `clock` must outlive the source.
  PowercapSource(std::string sysfs, const std::vector<std::string>& zones, const Clock& clock);

  [[nodiscard]] std::string_view Name() const override { return "rapl"; }
  [[nodiscard]] status::Domain domain() const override { return status::Domain::kCpu; }
  [[nodiscard]] Authority authority() const override { return Authority::kMeasured; }
  /// Without `zones`, AMD's "core" zone is not used: it measures one core and looks like all of them.
  /// Fails if there is no zone, if `zones` leaves none (the message names those that exist), or if no counter may be
  /// read (since Linux 5.10 energy_uj is for root only).
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  /// A die that mirrors its package's counter is withheld (die_mirrors.h).
  void Read(std::vector<DomainReading>& out) override;
  void UpdateMaxPower(size_t index, Domain& domain) override;
  /// By the names of the directories, and by the ranges of counters that could not be used for want of them.
  [[nodiscard]] bool HasChanged() override;
  /// By the CPUs of the domain's socket or die. Never of a zone that names none ("psys" without a number).
  [[nodiscard]] bool IsOffline(const Domain& domain) override;

 private:
  [[nodiscard]] Status CheckReadable(const std::vector<PowercapZone>& zones);
  void SayLeftOut(const Error& problem);
  [[nodiscard]] Status LeaveOutFaulted(std::vector<PowercapZone>& zones);
  void SayCoreIsLeftOut();
  [[nodiscard]] Answer ReadCounter(size_t index);

  std::string sysfs_;
  std::vector<std::string> wanted_;  // lower case
  const Clock& clock_;
  std::vector<PowercapZone> zones_;           // in the order of the last Discover()
  std::vector<std::string> listed_;           // the directories of the last Discover()
  std::vector<std::string> faulted_;          // paths of all zones whose range was not known then
  std::map<std::string, os::CpuPart> parts_;  // of every zone that was ever found, by its domain's key
  os::CpuTopology topology_;
  DieMirrors mirrors_;
  os::ReadBuffer buffer_;
  log::LogLimiter limiter_;
  bool core_is_said_ = false;
};

}  // namespace kepler::energy::rapl
