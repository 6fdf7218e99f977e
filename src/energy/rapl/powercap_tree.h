#pragma once
// One look at <sysfs>/class/powercap: which energy zones there are and to which part of the machine each belongs.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "os/cpu_topology.h"
#include "os/file.h"

namespace kepler::energy::rapl {

/// "package-3" is (package, 3), "package-0-die-1" is (package, 0, 1), "psys-1" is (psys, 1); "core", "package-0-core"
/// and anything else stay whole. (intel_rapl names a package zone "package-N" or, with several dies, "package-N-die-M";
/// sub-zones carry the bare domain name; a second socket's platform zone is "psys-1".)
struct ZoneName {
  std::string base;  // valid UTF-8, at most 64 bytes
  std::optional<uint32_t> index;
  std::optional<uint32_t> die;
  bool operator==(const ZoneName&) const = default;
};

[[nodiscard]] ZoneName ParseZoneName(std::string_view text);

struct PowercapZone {
  std::string control;  // control type: "intel-rapl", "intel-rapl-mmio", …
  std::string base;     // "package", "core", "dram", "psys", …
  std::string unit;     // where in the machine: "1" is socket 1, "1.0" its die 0; sub-zones inherit their package's
  std::string package;  // of a die: the unit without the die, "1" for "1.0"; else ""
  std::string path;     // <sysfs>/class/powercap/intel-rapl:0:1
  uint64_t range = 0;   // max_energy_range_uj; 0: `fault` says why it is not known
  std::optional<Power> max_power;     // the largest limit of its constraints, or of its package's
  std::optional<os::CpuPart> part{};  // the socket, or the die, by its numbers; nothing where the name has none
  std::optional<Error> fault{};       // why its counter cannot be used: where it wraps is not known; kUnavailable

  /// What it measures, by whichever way: two zones with the same identity are twins.
  [[nodiscard]] std::string Identity() const { return base + "@" + unit; }
};

struct PowercapTree {
  std::vector<PowercapZone> zones;
  std::vector<std::string> entries;  // the names in the directory, sorted
  std::vector<Error> problems;       // why entries were left out, one each
};

/// <sysfs>/class/powercap.
[[nodiscard]] std::string PowercapRoot(const std::string& sysfs);

/// Every zone that has a name and an energy counter, in the order of the directory names. A zone without a usable name
/// costs only itself: it is left out. One without a usable max_energy_range_uj has a fault. Fails if the directory
/// cannot be listed.
[[nodiscard]] Result<PowercapTree> ReadPowercapTree(const std::string& sysfs);

/// The largest limit among the constraints of the zone at `path`, or of the nearest zone above it that states one, as
/// of now: software rewrites them at run time.
[[nodiscard]] std::optional<Power> ReadMaxPower(const std::string& path, os::ReadBuffer& buffer);

/// One zone per identity: client chips show the same counters through MSR ("intel-rapl") and through MMIO
/// ("intel-rapl-mmio"). Of those without a fault, if any, "intel-rapl" is kept, else the first.
[[nodiscard]] std::vector<PowercapZone> WithoutTwins(std::vector<PowercapZone> zones);

}  // namespace kepler::energy::rapl
