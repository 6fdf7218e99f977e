#include "os/cpu_topology.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/parse.h"
#include "os/file.h"

namespace kepler::os {

Result<std::vector<uint32_t>> ParseCpuList(std::string_view text) {
  constexpr uint32_t kEnd = 65'536;  // Linux supports at most 8,192 CPUs
  const std::string_view list = Trim(text);
  std::vector<uint32_t> cpus;
  if (list.empty()) return cpus;
  Splitter ranges(list, ',');
  while (const auto range = ranges.Next()) {
    const size_t dash = range->find('-');
    const auto first = ParseNumber<uint32_t>(range->substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : ParseNumber<uint32_t>(range->substr(dash + 1));
    const bool in_order = first && last && *first <= *last && (cpus.empty() || *first > cpus.back());
    if (!in_order || *last >= kEnd) return Fail(ErrorKind::kMalformed, "parse CPU list: not like \"0-3,8\"");
    for (uint32_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

Result<std::vector<uint32_t>> CpuTopology::Online() {
  KEPLER_TRY(const std::string_view text, ReadAttribute(root_ + "online", buffer_));
  return ParseCpuList(text);
}

void CpuTopology::Learn() {
  const auto online = Online();
  if (!online) return;
  for (const uint32_t cpu : *online) {
    if (place_.contains(cpu)) continue;
    const std::string topology = fmt::format("{}cpu{}/topology/", root_, cpu);
    const auto package = ReadNumber<uint32_t>(topology + "physical_package_id", buffer_);
    if (!package) continue;
    const auto die = ReadNumber<uint32_t>(topology + "die_id", buffer_);
    place_[cpu] = {*package, die ? std::optional(*die) : std::nullopt};
  }
}

bool CpuTopology::IsOffline(const CpuPart& part) {
  const auto online = Online();
  if (!online) return false;
  bool known = false;
  for (const auto& [cpu, place] : place_) {
    if (place.package != part.package || (part.die && place.die != part.die)) continue;
    if (std::ranges::binary_search(*online, cpu)) return false;
    known = true;
  }
  return known;
}

std::vector<PlacedCpu> CpuTopology::PlacesOf(const std::vector<uint32_t>& cpus) const {
  std::vector<PlacedCpu> placed;
  for (const uint32_t cpu : cpus)
    if (const auto place = place_.find(cpu); place != place_.end()) placed.push_back({cpu, place->second});
  return placed;
}

bool CpuTopology::HasDies() const {
  std::map<uint32_t, std::optional<uint32_t>> first;  // die of the first CPU of each package
  return std::ranges::any_of(place_, [&](const auto& cpu) {
    return first.emplace(cpu.second.package, cpu.second.die).first->second != cpu.second.die;
  });
}

namespace {

using Column = std::pair<std::string_view, std::string CpuInfo::*>;

constexpr std::array<Column, 12> kColumns{{{"vendor_id", &CpuInfo::vendor_id},
                                           {"model name", &CpuInfo::model_name},
                                           {"physical id", &CpuInfo::physical_id},
                                           {"core id", &CpuInfo::core_id},
                                           {"cpu family", &CpuInfo::cpu_family},
                                           {"model", &CpuInfo::model},
                                           {"stepping", &CpuInfo::stepping},
                                           {"CPU implementer", &CpuInfo::vendor_id},
                                           {"CPU part", &CpuInfo::model_name},
                                           {"CPU part", &CpuInfo::part},
                                           {"CPU architecture", &CpuInfo::cpu_family},
                                           {"CPU variant", &CpuInfo::model}}};

void Store(CpuInfo& cpu, std::string_view key, std::string_view value) {
  for (const auto& [name, member] : kColumns) {
    // The first value stays: an Arm kernel that prints a model name prints the part after it.
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
    // Old Arm kernels also print one "Processor : ARMv7 …" and "Hardware : …" line, which is not a logical CPU.
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
