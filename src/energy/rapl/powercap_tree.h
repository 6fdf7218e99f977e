#pragma once
// Reads the energy zones in <sysfs>/class/powercap, and the part of the machine that each zone measures.
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

/// "package-3" is (package, 3), "package-0-die-1" is (package, 0, 1), "psys-1" is (psys, 1). All other names, such as
/// "core" and "package-0-core", are unchanged. intel_rapl names a package zone "package-N", or "package-N-die-M" with
/// several dies. Sub-zones have only the name of the domain. The platform zone of the second socket is "psys-1".
struct ZoneName {
  std::string base;  // valid UTF-8, at most 64 bytes
  std::optional<uint32_t> index;
  std::optional<uint32_t> die;
  bool operator==(const ZoneName&) const = default;
};

[[nodiscard]] ZoneName ParseZoneName(std::string_view text);

struct PowercapZone {
  std::string control;                // control type: "intel-rapl", "intel-rapl-mmio", …
  std::string base;                   // "package", "core", "dram", "psys", …
  std::string unit;                   // "1" is socket 1, "1.0" its die 0; sub-zones have the unit of their package
  std::string package;                // for a die: its unit without the die, "1" for "1.0"; otherwise ""
  std::string path;                   // <sysfs>/class/powercap/intel-rapl:0:1
  uint64_t range = 0;                 // max_energy_range_uj; 0: unknown because of `fault`
  std::optional<Power> max_power;     // largest limit of its constraints or those of its package
  std::optional<os::CpuPart> part{};  // socket or die; empty if the name has no number
  std::optional<Error> fault{};       // reason why the range of the counter is unknown; kUnavailable

  /// Measured quantity, independent of the driver. Two zones with the same identity are twins.
  [[nodiscard]] std::string Identity() const { return base + "@" + unit; }
};

struct PowercapTree {
  std::vector<PowercapZone> zones;
  std::vector<std::string> entries;  // names in the directory, sorted
  std::vector<Error> problems;       // one for each entry that was left out
};

/// <sysfs>/class/powercap.
[[nodiscard]] std::string PowercapRoot(const std::string& sysfs);

/// Returns all zones with a name and an energy counter, in the order of the directory names. A zone without a usable
/// name is left out. A zone without a usable max_energy_range_uj has a fault. Fails if the directory cannot be listed.
[[nodiscard]] Result<PowercapTree> ReadPowercapTree(const std::string& sysfs);

/// Returns the largest current limit of the zone at `path`, or of the nearest zone above it that has a limit. Software
/// may change limits at run time.
[[nodiscard]] std::optional<Power> ReadMaxPower(const std::string& path, os::ReadBuffer& buffer);

/// Keeps one zone per identity. Client chips show the same counters through MSR ("intel-rapl") and through MMIO
/// ("intel-rapl-mmio"). A zone without a fault is preferred, then "intel-rapl", then the first.
[[nodiscard]] std::vector<PowercapZone> WithoutTwins(std::vector<PowercapZone> zones);

}  // namespace kepler::energy::rapl
