#pragma once
// The `name` attribute of a powercap zone, taken apart. Pure.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace kepler::energy::rapl
