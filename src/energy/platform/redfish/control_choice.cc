// ChooseControl() of resource.h.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "energy/platform/redfish/resource.h"

namespace kepler::energy::platform::redfish {

Choice ChooseControl(std::span<const Reading> controls, std::optional<size_t> systems) {
  if (controls.size() == 1) return {controls[0].power ? std::optional<size_t>(0) : std::nullopt, ""};
  std::vector<size_t> candidates;
  for (size_t i = 0; i < controls.size(); ++i)
    if (controls[i].scope != Scope::kPart) candidates.push_back(i);
  if (candidates.empty()) return {};
  const auto watts = [&](size_t i) { return controls[i].power ? controls[i].power->watts() : -1; };
  const size_t largest = *std::ranges::max_element(candidates, {}, watts);
  const auto is_server = [&](size_t i) { return controls[i].scope == Scope::kServer; };
  const auto servers = std::ranges::count_if(candidates, is_server);
  const size_t server = servers > 0 ? *std::ranges::find_if(candidates, is_server) : largest;
  const bool is_shared = systems && *systems > 1;
  size_t chosen = largest;
  if (candidates.size() > 1 && servers == 1 && systems != size_t{1}) chosen = server;
  Choice choice{watts(chosen) >= 0 ? std::optional(chosen) : std::nullopt, ""};
  const bool is_certain = candidates.size() == 1 || systems == size_t{1} || (servers == 1 && is_shared) ||
                          (servers == 1 && server == largest);
  if (is_certain) return choice;
  std::string names;
  for (const size_t i : candidates)
    names += fmt::format("{}{} \"{}\" {}", names.empty() ? "" : ", ", controls[i].id, controls[i].name,
                         controls[i].power ? fmt::format("{} W", watts(i)) : "without a reading");
  if (is_shared) choice.whole.reset();
  choice.doubt = fmt::format("several PowerControl entries may be the machine ({}); {}", names,
                             is_shared ? "none counts, because the chassis has several systems"
                                       : fmt::format("{} counts", controls[chosen].id));
  return choice;
}

}  // namespace kepler::energy::platform::redfish
