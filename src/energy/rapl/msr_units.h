#pragma once
// The energy registers of RAPL and their units. Sources: Intel SDM volume 3B chapter "Power and Thermal Management" and
// volume 4; AMD PPR "MSRC001_0299"; the units of single models from Linux drivers/powercap/intel_rapl_common.c
// (rapl_ids) and arch/x86/events/rapl.c (rapl_check_hw_unit()). Pure.
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "energy/rapl/counter_layout.h"
#include "energy/rapl/x86_model.h"

namespace kepler::energy::rapl {

struct MsrCounter {
  CounterKind kind = CounterKind::kPackage;
  uint32_t address = 0;  // of a register with a 32-bit counter in its low half
};

struct MsrLayout {
  uint32_t unit_address = 0;
  std::span<const MsrCounter> counters;  // a processor may lack any but the package counter
};

/// Returns nothing for a processor without these registers. AMD has them from family 17h on.
[[nodiscard]] std::optional<MsrLayout> MsrLayoutOf(const X86Model& model);

/// Converts the counts of one counter: microjoules = count * factor / 2^shift.
struct EnergyUnit {
  uint64_t factor = 1'000'000;
  uint32_t shift = 0;
  bool operator==(const EnergyUnit&) const = default;

  [[nodiscard]] uint64_t ToMicrojoules(uint32_t count) const { return count * factor >> shift; }
  [[nodiscard]] double ToJoules(uint32_t count) const {
    return static_cast<double>(count) * static_cast<double>(factor) / static_cast<double>(uint64_t{1} << shift) * 1e-6;
  }
  /// The largest value before the wrap. One more is exactly 2^32 counts, so no microjoule is lost at a wrap.
  [[nodiscard]] uint64_t Range() const { return ((uint64_t{1} << 32) * factor >> shift) - 1; }
};

/// Returns the unit of a counter, from the value of the unit register. Bits 12:8 are the exponent: 2^-n joules, on
/// Silvermont and Airmont 2^n microjoules. Two exceptions: the DRAM counter of most servers counts 2^-16 J whatever the
/// register (data sheets: "15.3 microjoules"), the psys counter of Sapphire Rapids counts joules. Returns nothing for
/// an exponent of 0: virtual machines often read 0 from every register.
[[nodiscard]] std::optional<EnergyUnit> EnergyUnitOf(const X86Model& model, CounterKind kind, uint64_t unit_register);

}  // namespace kepler::energy::rapl
