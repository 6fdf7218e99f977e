// Redfish resources: any JSON gives links that can be fetched and readings that can be counted.
#include <set>
#include <string>

#include "base/text.h"
#include "energy/platform/redfish/resource.h"
#include "fuzz.h"

namespace {

using namespace kepler::energy::platform::redfish;

void CheckTarget(std::string_view target) {
  if (target.empty()) return;
  if (!target.starts_with('/') || target.find_first_of("# \r\n") != std::string_view::npos) std::abort();
}

}  // namespace

void Fuzz(std::string_view text) {
  if (!kepler::IsValidUtf8(ReasonOf(text))) std::abort();
  const auto resource = kepler::json::Parse(text, 100'000);
  if (!resource) return;
  for (const auto* name : {"Chassis", "Power", "PowerSubsystem", "ContainedBy", "Metrics"})
    CheckTarget(LinkOf(*resource, name));
  for (const std::string& member : MembersOf(*resource)) CheckTarget(member);
  if (IdOf(*resource, "/redfish/v1/Chassis/1/").empty()) std::abort();
  for (const Kind kind : {Kind::kMetrics, Kind::kSupply, Kind::kEnvironment, Kind::kControls, Kind::kOldSupplies}) {
    const auto readings = ReadingsOf(*resource, kind);
    std::set<std::string> ids;
    for (const Reading& reading : readings) {
      if (!ids.insert(reading.id).second) std::abort();
      if (reading.power && !(reading.power->watts() >= 0)) std::abort();
      if (reading.counter && *reading.counter < kepler::Energy()) std::abort();
    }
    for (const auto systems : {std::optional<size_t>(), std::optional<size_t>(1), SystemsIn(*resource)}) {
      const auto whole = ChooseControl(readings, systems).whole;
      if (whole && !readings[*whole].power) std::abort();
    }
  }
}
