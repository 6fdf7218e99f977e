#pragma once
// The energy counters of RAPL as domains, for readers that do not find them in powercap. A domain has the zone, the key
// and the path that powercap gives the counter, so series continue whichever interface is read. Paths are computed: the
// kernel numbers zones in this order (Linux drivers/powercap/intel_rapl_common.c, rapl_package_register_powercap()).
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "energy/energy_source.h"
#include "os/cpu_topology.h"

namespace kepler::energy::rapl {

/// In the kernel's order.
enum class CounterKind : uint8_t { kPackage, kCore, kUncore, kDram, kPsys };
inline constexpr std::array kCounterKinds = {CounterKind::kPackage, CounterKind::kCore, CounterKind::kUncore,
                                             CounterKind::kDram, CounterKind::kPsys};
[[nodiscard]] std::string_view ZoneOf(CounterKind kind);

/// The zones that a user wants: base names; case and surrounding spaces are ignored; an empty list means all zones.
class ZoneChoice {
 public:
  explicit ZoneChoice(const std::vector<std::string>& zones);
  /// Returns true if every zone is wanted.
  [[nodiscard]] bool all() const { return wanted_.empty(); }
  /// Without a list, AMD's core counter is not wanted, because it covers a single core.
  [[nodiscard]] bool Takes(std::string_view zone, bool is_amd) const;

 private:
  std::vector<std::string> wanted_;  // lower case
};

/// Logs once per `said` that AMD's core counter is not used.
void SayCoreIsLeftOut(bool& said);

/// One counter and the CPU that reads it.
struct PlacedCounter {
  CounterKind kind = CounterKind::kPackage;
  os::PlacedCpu at;  // without a die, unless each die has counters of its own
  Domain domain;     // zone, path and key
};

/// Returns one place per package, or per die if `per_die`: that of the first of `cpus` in it, in the order of packages
/// and dies.
[[nodiscard]] std::vector<os::PlacedCpu> OnePerPart(std::span<const os::PlacedCpu> cpus, bool per_die);

/// Returns a counter of each of `kinds` at each of `places`; psys only at the first die of a package.
[[nodiscard]] std::vector<PlacedCounter> LayOut(const std::string& sysfs, std::span<const os::PlacedCpu> places,
                                                std::span<const CounterKind> kinds);

}  // namespace kepler::energy::rapl
