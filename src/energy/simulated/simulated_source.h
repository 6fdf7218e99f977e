#pragma once
// A meter with known physics, for demonstrations and for tests that compare with the truth ("fake" in the
// configuration). Deterministic: no chance, no memory.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "energy/energy_source.h"
#include "os/proc_stat.h"

namespace kepler::energy::simulated {

/// The physics of a zone.
struct Physics {
  int64_t idle_milliwatts = 0;  // always
  int64_t busy_milliwatts = 0;  // for each busy CPU
};

/// package 20 W + 15 W per busy CPU · core 0 + 9 W (60 % of the package's dynamic part) · uncore 6 W + 3 W ·
/// dram 3 W + 1 W · psys 40 W + 20 W · any other name 10 W + 5 W.
[[nodiscard]] Physics PhysicsOf(std::string_view zone);

/// The largest value of the counter, as a common Intel package has it; the next microjoule reads 0.
inline constexpr uint64_t kRange = 262'143'328'850;

/// The truth, exact in integers: what the counter of `zone` reads `since_boot` after the boot (CLOCK_BOOTTIME), when
/// all CPUs together have been busy for `busy`:
///     (⌊idle × since_boot⌋ + ⌊busy_watts × busy⌋) mod (kRange + 1)          in µJ
[[nodiscard]] RawCounter CounterAt(std::string_view zone, Nanoseconds since_boot, Nanoseconds busy);

/// Busy CPU time of the machine since boot: user + nice + system + irq + softirq of the "cpu" line of <procfs>/stat.
[[nodiscard]] Nanoseconds BusyTime(const os::ProcStatCpu& cpu);

class SimulatedSource final : public EnergySource {
 public:
  /// `zones`: any names; empty: package, core, dram. `sysfs` only forms the paths, which are labels: nothing is read
  /// there.
  SimulatedSource(std::string sysfs, std::shared_ptr<os::ProcStatReader> proc_stat,
                  const std::vector<std::string>& zones);

  [[nodiscard]] std::string_view Name() const override { return "fake"; }
  [[nodiscard]] status::Domain domain() const override { return status::Domain::kCpu; }
  /// It replaces a real meter in demonstrations and tests.
  [[nodiscard]] Authority authority() const override { return Authority::kMeasured; }
  /// Fails only if <procfs>/stat cannot be read. A name that is listed twice is one zone.
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  /// All zones from one look at <procfs>/stat.
  void Read(std::vector<DomainReading>& out) override;
  /// By the CPUs that the last Read() saw online.
  void UpdateMaxPower(size_t index, Domain& domain) override;

 private:
  std::string sysfs_;
  std::vector<std::string> zones_;
  std::shared_ptr<os::ProcStatReader> proc_stat_;
  uint32_t cpus_ = 0;  // as of the last Read()
};

}  // namespace kepler::energy::simulated
