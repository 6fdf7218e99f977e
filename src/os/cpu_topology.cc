#include "os/cpu_topology.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/parse.h"
#include "os/sysfs.h"

namespace kepler::os {

Result<std::vector<uint32_t>> ParseCpuList(std::string_view text) {
  constexpr uint32_t kEnd = 65'536;  // Linux has 8,192 at most
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

}  // namespace kepler::os
