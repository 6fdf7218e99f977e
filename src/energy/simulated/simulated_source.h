#pragma once
// SimulatedSource: a meter with known physics, called "fake" in the configuration. Demonstrations use it, and tests
// that compare results with the true values. Deterministic: no random numbers, no state.
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
  int64_t idle_milliwatts = 0;  // independent of load
  int64_t busy_milliwatts = 0;  // for each busy CPU
};

/// Returns idle power + power per busy CPU: package 20 W + 15 W, core 0 W + 9 W (60 % of the package's dynamic power),
/// uncore 6 W + 3 W, dram 3 W + 1 W, psys 40 W + 20 W, all other names 10 W + 5 W.
[[nodiscard]] Physics PhysicsOf(std::string_view zone);

/// Largest value of the counter; after it the counter wraps to 0. As for a common Intel package.
inline constexpr uint64_t kRange = 262'143'328'850;

/// Returns the exact value of the counter of `zone`, in integers. `since_boot`: CLOCK_BOOTTIME. `busy`: busy time of
/// all CPUs together:
///     (⌊idle × since_boot⌋ + ⌊busy_watts × busy⌋) mod (kRange + 1)          in µJ
[[nodiscard]] RawCounter CounterAt(std::string_view zone, Nanoseconds since_boot, Nanoseconds busy);

/// Returns the busy CPU time since boot: user + nice + system + irq + softirq of the "cpu" line in <procfs>/stat.
[[nodiscard]] Nanoseconds BusyTime(const os::ProcStatCpu& cpu);

class SimulatedSource final : public EnergySource {
 public:
  /// `zones`: any names; empty: package, core, dram. `sysfs` is used only for the paths in labels. Nothing is read
  /// there.
  SimulatedSource(std::string sysfs, std::shared_ptr<os::ProcStatReader> proc_stat,
                  const std::vector<std::string>& zones);

  [[nodiscard]] std::string_view Name() const override { return "fake"; }
  [[nodiscard]] status::Domain domain() const override { return status::Domain::kCpu; }
  /// It replaces a real meter in demonstrations and tests.
  [[nodiscard]] Authority authority() const override { return Authority::kMeasured; }
  /// Fails only if <procfs>/stat is unreadable. A repeated name is a single zone.
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  /// Computes all zones from one reading of <procfs>/stat.
  void Read(std::vector<DomainReading>& out) override;
  /// Uses the number of online CPUs at the last Read().
  void UpdateMaxPower(size_t index, Domain& domain) override;

 private:
  std::string sysfs_;
  std::vector<std::string> zones_;
  std::shared_ptr<os::ProcStatReader> proc_stat_;
  uint32_t cpus_ = 0;  // as of the last Read()
};

}  // namespace kepler::energy::simulated
