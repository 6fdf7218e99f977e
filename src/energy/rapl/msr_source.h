#pragma once
// MsrSource: reads RAPL counters from the model-specific registers of the processor, through the kernel's msr device: 8
// bytes at the offset that is the register's number (msr(4)). Needs CAP_SYS_RAWIO, and a kernel without lockdown. No
// descriptor is kept open. Registers and units: msr_units.h.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "energy/energy_source.h"
#include "energy/rapl/counter_layout.h"
#include "energy/rapl/msr_units.h"
#include "os/cpu_topology.h"
#include "os/file.h"

namespace kepler::energy::rapl {

class MsrSource final : public EnergySource {
 public:
  /// `zones`: as of PowercapSource. `device_path`: of the msr device of each CPU; "%d" stands for the number of the
  /// CPU. `clock` must outlive the source.
  MsrSource(std::string sysfs, const std::vector<std::string>& zones, std::string device_path, const Clock& clock);

  [[nodiscard]] std::string_view Name() const override { return "rapl"; }
  [[nodiscard]] status::Domain domain() const override { return status::Domain::kCpu; }
  [[nodiscard]] Authority authority() const override { return Authority::kMeasured; }
  /// Uses one CPU of each package; on Intel of each die, because the dies of a package have counters of their own. A
  /// register that cannot be read or is 0 does not exist. Fails without a package counter: virtual machines often read
  /// 0 from every register.
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  /// A counter that reads 0 is kUnavailable: it is more likely lost than exactly 0.
  void Read(std::vector<DomainReading>& out) override;
  /// Returns true if other CPUs are online, or if a package was unreadable.
  [[nodiscard]] bool HasChanged() override;
  [[nodiscard]] bool IsOffline(const Domain& domain) override;

 private:
  struct Register {
    uint32_t cpu = 0;
    uint32_t address = 0;
    std::optional<EnergyUnit> unit;  // empty: its package could not be read, because of `fault`
    Error fault;
  };
  struct Place {
    os::PlacedCpu at;
    uint64_t unit_register = 0;
    std::vector<CounterKind> kinds;  // those that exist
    std::optional<Error> fault;
  };
  struct Found {
    std::vector<Domain> domains;
    std::vector<Register> registers;  // one per domain
  };
  [[nodiscard]] Result<std::vector<Place>> FindPlaces(const X86Model& model, const MsrLayout& layout);
  [[nodiscard]] Place Probe(const os::PlacedCpu& at, const MsrLayout& layout) const;
  [[nodiscard]] Result<Found> FindCounters(const X86Model& model, const MsrLayout& layout,
                                           const std::vector<Place>& places);
  [[nodiscard]] std::string PathOf(uint32_t cpu) const;
  [[nodiscard]] Answer ReadCounter(const Register& counter, const Result<UniqueFd>& device) const;

  std::string sysfs_;
  ZoneChoice wanted_;
  std::string device_path_;
  const Clock& clock_;
  os::CpuTopology topology_;
  std::vector<uint32_t> online_;              // CPUs at the last Discover()
  std::vector<Register> registers_;           // in the order of the last Discover()
  std::map<std::string, os::CpuPart> parts_;  // of all domains found so far, by key
  os::ReadBuffer buffer_;
  bool core_is_said_ = false;
};

}  // namespace kepler::energy::rapl
