#include "model/cpu_power.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

#include "base/parse.h"

namespace kepler::model {
namespace {

// Source of the watts: the SPECpower_ssj2008 results (https://www.spec.org/power_ssj2008/results/), "average watts at
// active idle" and "at 100 %" divided by the hardware threads, averaged per microarchitecture by Cloud Carbon
// Footprint's ccf-coefficients (Apache-2.0, https://github.com/cloud-carbon-footprint/ccf-coefficients,
// output/coefficients-aws-use.csv, results up to March 2026), rounded to three digits here. Exceptions:
//  * Zen 5: that average mixes eight-core desktop parts with 192-core ones (3.7 and 9.0 W); the row here is the mean of
//    the two results published for the EPYC 9965 in May 2025 (768 threads: 150 and 157 W idle, 800 and 800 W full).
//  * Arm Neoverse: no SPECpower result exists; as Cloud Carbon Footprint does for Graviton, the row of Zen 2 stands in.
//  * The general average is that project's average over all of a cloud provider's machines (0.74 and 3.5 W).
constexpr CpuPower kSandyBridge{"Intel Sandy Bridge", 2.21, 8.63};
constexpr CpuPower kIvyBridge{"Intel Ivy Bridge", 1.71, 5.56};
constexpr CpuPower kHaswell{"Intel Haswell", 1.86, 5.60};
constexpr CpuPower kBroadwell{"Intel Broadwell", 0.713, 3.69};
constexpr CpuPower kSkylake{"Intel Skylake", 0.613, 4.10};
constexpr CpuPower kCascadeLake{"Intel Cascade Lake", 0.690, 4.06};
constexpr CpuPower kCoffeeLake{"Intel Coffee Lake", 1.14, 5.42};
constexpr CpuPower kIceLake{"Intel Ice Lake", 0.767, 3.76};
constexpr CpuPower kSapphireRapids{"Intel Sapphire Rapids", 1.04, 4.16};
constexpr CpuPower kEmeraldRapids{"Intel Emerald Rapids", 0.814, 4.48};
constexpr CpuPower kGraniteRapids{"Intel Granite Rapids", 0.582, 2.53};
constexpr CpuPower kZen1{"AMD EPYC 1st generation (Zen)", 0.847, 2.60};
constexpr CpuPower kZen2{"AMD EPYC 2nd generation (Zen 2)", 0.474, 1.69};
constexpr CpuPower kZen3{"AMD EPYC 3rd generation (Zen 3)", 0.456, 1.96};
constexpr CpuPower kZen4{"AMD EPYC 4th generation (Zen 4)", 0.739, 2.28};
constexpr CpuPower kZen5{"AMD EPYC 5th generation (Zen 5)", 0.200, 1.04};
constexpr CpuPower kNeoverse{"Arm Neoverse (Zen 2 stands in)", 0.474, 1.69};
constexpr CpuPower kGeneral{"general average", 0.74, 3.5};

/// Range of model numbers of one family, both ends included. Source: the kernel's intel-family.h and the AMD processor
/// manuals.
struct Models {
  uint32_t family;
  uint32_t first;
  uint32_t last;
  uint32_t least_stepping;
  const CpuPower& power;
};

constexpr Models kIntelModels[] = {
    {6, 42, 42, 0, kSandyBridge},      {6, 45, 45, 0, kSandyBridge},     {6, 58, 58, 0, kIvyBridge},
    {6, 62, 62, 0, kIvyBridge},        {6, 60, 60, 0, kHaswell},         {6, 63, 63, 0, kHaswell},
    {6, 69, 70, 0, kHaswell},          {6, 61, 61, 0, kBroadwell},       {6, 71, 71, 0, kBroadwell},
    {6, 79, 79, 0, kBroadwell},        {6, 86, 86, 0, kBroadwell},       {6, 78, 78, 0, kSkylake},
    {6, 94, 94, 0, kSkylake},          {6, 85, 85, 5, kCascadeLake},     {6, 85, 85, 0, kSkylake},
    {6, 142, 142, 0, kCoffeeLake},     {6, 158, 158, 0, kCoffeeLake},    {6, 165, 166, 0, kCoffeeLake},
    {6, 106, 106, 0, kIceLake},        {6, 108, 108, 0, kIceLake},       {6, 125, 126, 0, kIceLake},
    {6, 143, 143, 0, kSapphireRapids}, {6, 207, 207, 0, kEmeraldRapids}, {6, 173, 174, 0, kGraniteRapids},
};

constexpr Models kAmdModels[] = {
    {23, 0x00, 0x2f, 0, kZen1}, {23, 0x30, 0xff, 0, kZen2}, {24, 0x00, 0xff, 0, kZen1},  // 24 is Hygon's Zen
    {25, 0x10, 0x1f, 0, kZen4}, {25, 0x60, 0xaf, 0, kZen4}, {25, 0x00, 0x5f, 0, kZen3}, {26, 0x00, 0xff, 0, kZen5},
};

constexpr uint32_t kImplementerArm = 0x41;                                                // Arm's own cores
constexpr uint32_t kNeoverseParts[] = {0xd0c, 0xd40, 0xd49, 0xd4f, 0xd83, 0xd84, 0xd8e};  // N1 V1 N2 V2 V3AE V3 N3

/// Parses a decimal number, or a hexadecimal number with 0x as on Arm.
uint32_t NumberOf(std::string_view text, uint32_t otherwise = UINT32_MAX) {
  const bool hex = text.starts_with("0x");
  return (hex ? ParseNumber<uint32_t>(text.substr(2), 16) : ParseNumber<uint32_t>(text)).value_or(otherwise);
}

/// Returns the first row for the display family, model and stepping.
const CpuPower& FirstMatch(std::span<const Models> table, const CpuInfo& cpu) {
  const uint32_t family = NumberOf(cpu.cpu_family);
  const uint32_t model = NumberOf(cpu.model);
  const uint32_t stepping = NumberOf(cpu.stepping, 0);
  for (const Models& row : table)
    if (family == row.family && model >= row.first && model <= row.last && stepping >= row.least_stepping)
      return row.power;
  return kGeneral;
}

}  // namespace

const CpuPower& GeneralAverage() { return kGeneral; }

const CpuPower& PowerOf(const CpuInfo& cpu) {
  if (cpu.vendor_id == "GenuineIntel") return FirstMatch(kIntelModels, cpu);
  if (cpu.vendor_id == "AuthenticAMD" || cpu.vendor_id == "HygonGenuine") return FirstMatch(kAmdModels, cpu);
  const bool is_arm = NumberOf(cpu.vendor_id) == kImplementerArm;
  const bool is_neoverse = std::ranges::find(kNeoverseParts, NumberOf(cpu.part)) != std::end(kNeoverseParts);
  return is_arm && is_neoverse ? kNeoverse : kGeneral;
}

}  // namespace kepler::model
