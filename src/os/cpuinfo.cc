#include "os/cpuinfo.h"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "base/parse.h"
#include "os/file.h"

namespace kepler::os {
namespace {

using Column = std::pair<std::string_view, std::string CpuInfo::*>;

constexpr std::array<Column, 10> kColumns{{{"vendor_id", &CpuInfo::vendor_id},
                                           {"model name", &CpuInfo::model_name},
                                           {"physical id", &CpuInfo::physical_id},
                                           {"core id", &CpuInfo::core_id},
                                           {"cpu family", &CpuInfo::cpu_family},
                                           {"model", &CpuInfo::model},
                                           {"CPU implementer", &CpuInfo::vendor_id},
                                           {"CPU part", &CpuInfo::model_name},
                                           {"CPU architecture", &CpuInfo::cpu_family},
                                           {"CPU variant", &CpuInfo::model}}};

void Store(CpuInfo& cpu, std::string_view key, std::string_view value) {
  for (const auto& [name, member] : kColumns) {
    // The first one stays: an Arm kernel that prints a model name prints the part after it.
    if (name == key && (cpu.*member).empty()) cpu.*member = value;
  }
}

}  // namespace

Result<std::vector<CpuInfo>> ParseCpuInfo(std::string_view text) {
  std::vector<CpuInfo> cpus;
  Splitter lines(text, '\n');
  while (const auto line = lines.Next()) {
    const auto colon = line->find(':');
    if (colon == std::string_view::npos) continue;
    const auto key = Trim(line->substr(0, colon));
    const auto value = Trim(line->substr(colon + 1));
    // Old Arm kernels also print one "Processor : ARMv7 …" and "Hardware : …": not a logical processor.
    if (key == "processor" && ParseNumber<uint32_t>(value))
      cpus.emplace_back().processor = value;
    else if (!cpus.empty())
      Store(cpus.back(), key, value);
  }
  if (cpus.empty()) return Fail(ErrorKind::kMalformed, "parse cpuinfo: no \"processor\" line");
  return cpus;
}

Result<std::vector<CpuInfo>> ReadCpuInfo(const std::string& procfs) {
  const std::string path = procfs + "/cpuinfo";
  KEPLER_TRY(const std::string text, ReadWholeFile(path));
  auto cpus = ParseCpuInfo(text);
  if (!cpus) return Fail(cpus.error().kind, fmt::format("{}: {}", path, cpus.error().message));
  return cpus;
}

}  // namespace kepler::os
