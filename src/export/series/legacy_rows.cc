#include "export/series/legacy_rows.h"

#include <algorithm>
#include <utility>

namespace kepler::series {

using snapshot::Level;

namespace {

bool IsIn(Part part, std::string_view zone) {
  switch (part) {
    case Part::kPackage:
      return zone == "package";
    case Part::kCore:
      return zone == "core";
    case Part::kUncore:
      return zone == "uncore";
    case Part::kDram:
      return zone == "dram";
    case Part::kPackageAndDram:
      return zone == "package" || zone == "dram";
  }
  return false;
}

}  // namespace

PartZones::PartZones(std::span<const ZoneLabel> among, Part part) {
  for (const ZoneLabel& zone : among)
    if (IsIn(part, zone.name) && count < indexes.size()) indexes[count++] = zone.index;
}

std::string_view PartModes::SourceOf(const Context& c) const {
  return active.count == 1 ? LegacySource(c, c.snapshot.zones[active.indexes[0]]) : "";
}

std::string_view LegacySource(const Context& c, const status::Zone& zone) {
  if (zone.path == "model") return "trained_power_model";
  if (zone.source != "rapl") return zone.source;
  const auto is_msr = [](const status::SourceStatus& source) {
    return source.name == "rapl" && source.interface == "msr";
  };
  return std::ranges::any_of(c.snapshot.sources, is_msr) ? "rapl-msr" : "rapl-sysfs";
}

void AddSystemProcesses(const Context& c, const PartModes& modes, std::string_view source, Visitor& out) {
  constexpr std::string_view kName = "system_processes";
  const auto& outside =
      c.snapshot.unlisted[std::to_underlying(Level::kContainer)][std::to_underlying(snapshot::Unlisted::kOutside)];
  modes.ForEach([&](std::string_view mode, const PartZones& zones) {
    out.Add({kName, kName, "system", mode, "", kName, "", source}, Of(zones.Sum(outside)),
            c.snapshot.node[zones.indexes[0]].begin);
  });
}

size_t LegacySamplesPerProcess(const Context& c) {
  size_t samples = c.snapshot.processes.events.empty() ? 1 : 4;  // CPU time and events
  for (const Part part : {Part::kPackage, Part::kCore, Part::kUncore, Part::kDram, Part::kPackageAndDram})
    samples += PartModes(c, Level::kProcess, part).samples();
  return samples;
}

}  // namespace kepler::series
