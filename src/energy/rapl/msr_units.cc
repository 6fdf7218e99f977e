#include "energy/rapl/msr_units.h"

#include <algorithm>
#include <array>

namespace kepler::energy::rapl {
namespace {

constexpr std::array<MsrCounter, 5> kIntelCounters = {{{CounterKind::kPackage, 0x611},
                                                       {CounterKind::kCore, 0x639},
                                                       {CounterKind::kUncore, 0x641},
                                                       {CounterKind::kDram, 0x619},
                                                       {CounterKind::kPsys, 0x64D}}};
constexpr std::array<MsrCounter, 2> kAmdCounters = {
    {{CounterKind::kPackage, 0xC001029B}, {CounterKind::kCore, 0xC001029A}}};
constexpr uint32_t kIntelUnit = 0x606;
constexpr uint32_t kAmdUnit = 0xC0010299;

constexpr uint32_t kIntelFamily = 6;
/// Models of family 6 whose exponent is that of 2^n microjoules: Silvermont, Merrifield, Airmont, Avoton, Moorefield.
constexpr std::array<uint32_t, 5> kMicrojouleModels = {0x37, 0x4A, 0x4C, 0x4D, 0x5A};
/// Models whose DRAM counter counts 2^-16 J: Haswell-X, Broadwell-X, Skylake-X (also Cascade and Cooper Lake), Knights
/// Landing, Ice Lake-X and -D, Knights Mill. Not Sapphire Rapids (Linux commit 4c081324df56).
constexpr std::array<uint32_t, 7> kFixedDramModels = {0x3F, 0x4F, 0x55, 0x57, 0x6A, 0x6C, 0x85};
/// Sapphire Rapids and Emerald Rapids.
constexpr std::array<uint32_t, 2> kJoulePsysModels = {0x8F, 0xCF};

constexpr uint32_t kFixedDramExponent = 16;

bool IsOneOf(std::span<const uint32_t> models, const X86Model& model) {
  return model.is_intel() && std::ranges::find(models, model.model) != models.end();
}

}  // namespace

std::optional<MsrLayout> MsrLayoutOf(const X86Model& model) {
  if (model.is_intel() && model.family == kIntelFamily) return MsrLayout{kIntelUnit, kIntelCounters};
  constexpr uint32_t kZen = 0x17;
  if (model.is_amd() && model.family >= kZen) return MsrLayout{kAmdUnit, kAmdCounters};
  return std::nullopt;
}

std::optional<EnergyUnit> EnergyUnitOf(const X86Model& model, CounterKind kind, uint64_t unit_register) {
  const auto exponent = static_cast<uint32_t>(unit_register >> 8 & 0x1F);
  if (exponent == 0) return std::nullopt;
  if (kind == CounterKind::kDram && IsOneOf(kFixedDramModels, model)) return EnergyUnit{.shift = kFixedDramExponent};
  if (kind == CounterKind::kPsys && IsOneOf(kJoulePsysModels, model)) return EnergyUnit{.shift = 0};
  if (IsOneOf(kMicrojouleModels, model)) return EnergyUnit{.factor = uint64_t{1} << exponent, .shift = 0};
  return EnergyUnit{.shift = exponent};
}

}  // namespace kepler::energy::rapl
