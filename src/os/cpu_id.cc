#include "os/cpu_id.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/parse.h"

namespace kepler::os {
namespace {

/// Instruction sets that differ between processors with the same model number (Intel's 85 is Skylake, Cascade Lake and
/// Cooper Lake). All kernels since 5.4 know them: a guest's kernel may be newer than that of its host.
constexpr std::string_view kCompared[] = {"asimddp", "avx",    "avx2",   "avx512_bf16", "avx512_vnni",
                                          "avx512f", "sha_ni", "sse4_2", "sve"};

/// Parses a decimal number, or a hexadecimal number with 0x as on Arm.
std::optional<uint32_t> NumberOf(std::string_view text) {
  return text.starts_with("0x") ? ParseNumber<uint32_t>(text.substr(2), 16) : ParseNumber<uint32_t>(text);
}

std::vector<std::string> FeaturesOf(std::string_view cpuinfo) {
  std::vector<std::string> features;
  Splitter lines(cpuinfo, '\n');
  while (const auto line = lines.Next()) {
    const auto colon = line->find(':');
    if (colon == std::string_view::npos) continue;
    const auto key = Trim(line->substr(0, colon));
    if (key != "flags" && key != "Features") continue;
    Splitter words(Trim(line->substr(colon + 1)), ' ');
    while (const auto word = words.Next())
      if (std::ranges::find(kCompared, *word) != std::ranges::end(kCompared)) features.emplace_back(*word);
    std::ranges::sort(features);
    const auto repeated = std::ranges::unique(features);
    features.erase(repeated.begin(), repeated.end());
    return features;  // all CPUs have the same
  }
  return features;
}

}  // namespace

CpuId CpuIdOf(std::string_view cpuinfo, std::span<const CpuInfo> cpus) {
  if (cpus.empty()) return {};
  const CpuInfo& cpu = cpus.front();
  const auto family = NumberOf(cpu.cpu_family);
  const auto model = NumberOf(cpu.part.empty() ? cpu.model : cpu.part);
  if (cpu.vendor_id.empty() || !model) return {};
  return {.vendor = cpu.vendor_id, .family = family.value_or(0), .model = *model, .features = FeaturesOf(cpuinfo)};
}

}  // namespace kepler::os
