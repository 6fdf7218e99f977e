#include "energy/rapl/counter_layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "energy/rapl/powercap_tree.h"

namespace kepler::energy::rapl {
namespace {

/// Identity of the counter as PowercapZone::Identity() returns it. Only the platform counter of the first package has
/// no number in powercap.
std::string KeyOf(CounterKind kind, const os::CpuPart& part) {
  if (kind == CounterKind::kPsys && part.package == 0) return "psys@-";
  const std::string unit = part.die ? fmt::format("{}.{}", part.package, *part.die) : std::to_string(part.package);
  return fmt::format("{}@{}", ZoneOf(kind), unit);
}

}  // namespace

std::string_view ZoneOf(CounterKind kind) {
  constexpr std::array<std::string_view, kCounterKinds.size()> kNames = {"package", "core", "uncore", "dram", "psys"};
  return kNames.at(static_cast<size_t>(kind));
}

ZoneChoice::ZoneChoice(const std::vector<std::string>& zones) {
  for (const std::string& zone : zones)
    if (const auto name = Trim(zone); !name.empty()) wanted_.push_back(ToLowerAscii(name));
}

bool ZoneChoice::Takes(std::string_view zone, bool is_amd) const {
  if (!all()) return std::ranges::find(wanted_, ToLowerAscii(zone)) != wanted_.end();
  return !is_amd || zone != "core";
}

void SayCoreIsLeftOut(bool& said) {
  if (std::exchange(said, true)) return;
  log::Info("ignoring an energy zone", {{"meter", "rapl"},
                                        {"zone", "core"},
                                        {"err", "on AMD its counter covers a single core of the socket"},
                                        {"action", "add it to rapl.zones to use it"}});
}

std::vector<os::PlacedCpu> OnePerPart(std::span<const os::PlacedCpu> cpus, bool per_die) {
  std::map<std::pair<uint32_t, std::optional<uint32_t>>, os::PlacedCpu> parts;
  for (os::PlacedCpu cpu : cpus) {
    if (!per_die) cpu.part.die.reset();
    parts.try_emplace({cpu.part.package, cpu.part.die}, cpu);
  }
  std::vector<os::PlacedCpu> places;
  places.reserve(parts.size());
  for (const auto& [part, cpu] : parts) places.push_back(cpu);
  return places;
}

std::vector<PlacedCounter> LayOut(const std::string& sysfs, std::span<const os::PlacedCpu> places,
                                  std::span<const CounterKind> kinds) {
  const std::string root = PowercapRoot(sysfs) + "/intel-rapl:";
  std::vector<PlacedCounter> counters;
  std::set<uint32_t> with_psys;  // packages
  int zone = 0;
  for (const os::PlacedCpu& place : places) {
    const int package = zone++;
    int part = 0;
    for (const CounterKind kind : kinds) {
      const bool psys = kind == CounterKind::kPsys;
      if (psys && !with_psys.insert(place.part.package).second) continue;
      std::string path = root + std::to_string(psys ? zone++ : package);
      if (!psys && kind != CounterKind::kPackage) path += fmt::format(":{}", part++);
      counters.push_back({kind, place, {std::string(ZoneOf(kind)), path, KeyOf(kind, place.part), {}, {}, {}}});
    }
  }
  return counters;
}

}  // namespace kepler::energy::rapl
