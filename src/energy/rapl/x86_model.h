#pragma once
// The processor model, from the CPU modalias of sysfs: "cpu:type:x86,ven0000fam0006mod0055:feature:,0000,…" (Linux
// arch/x86/kernel/cpu/match.c). It decides which RAPL counters exist, and their units.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/file.h"

namespace kepler::energy::rapl {

struct X86Model {
  uint32_t vendor = 0;  // X86_VENDOR_INTEL is 0, X86_VENDOR_AMD 2, X86_VENDOR_HYGON 9
  uint32_t family = 0;
  uint32_t model = 0;
  bool operator==(const X86Model&) const = default;

  [[nodiscard]] bool is_intel() const { return vendor == 0; }
  /// AMD or Hygon, which have the same registers. The package counter covers the whole socket, whatever its number of
  /// dies. The core counter covers a single core.
  [[nodiscard]] bool is_amd() const { return vendor == 2 || vendor == 9; }
};

/// Returns nothing for any other text, also that of another architecture.
[[nodiscard]] std::optional<X86Model> ParseModalias(std::string_view text);

/// Reads <sysfs>/devices/system/cpu/modalias. kMalformed if it does not name an x86 processor.
[[nodiscard]] Result<X86Model> ReadX86Model(const std::string& sysfs, os::ReadBuffer& buffer);

}  // namespace kepler::energy::rapl
