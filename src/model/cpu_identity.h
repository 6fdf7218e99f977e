#pragma once
// Which kind of processor this is, from the text of /proc/cpuinfo. Pure.
#include <cstdint>
#include <string_view>

namespace kepler::model {

enum class Vendor : uint8_t { kUnknown, kIntel, kAmd, kArm };

/// x86: the display family, model and stepping. Arm: implementer 0x41 (Arm's own cores) and the part number.
struct CpuIdentity {
  Vendor vendor = Vendor::kUnknown;
  uint32_t family = 0;
  uint32_t model = 0;
  uint32_t stepping = 0;
  uint32_t part = 0;
  bool operator==(const CpuIdentity&) const = default;
};

/// Of the first processor in `cpuinfo`. What is not there or does not parse stays 0 (kUnknown): a name is never
/// guessed, since it only picks a row of a table that has a last row for everything else.
[[nodiscard]] CpuIdentity ParseCpuIdentity(std::string_view cpuinfo);

}  // namespace kepler::model
