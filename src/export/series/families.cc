#include <algorithm>
#include <array>
#include <iterator>
#include <list>
#include <vector>

#include "export/series/family_table.h"

namespace kepler::series {

std::span<const Family> Families() {
  static const std::vector<Family> kFamilies = [] {
    std::vector<Family> all;
    std::ranges::merge(EnergyFamilies(), AgentFamilies(), std::back_inserter(all), {}, &Family::name, &Family::name);
    return all;
  }();
  return kFamilies;
}

std::span<const Family> FamiliesWithoutState() {
  static std::list<std::vector<std::string_view>> labels;
  static const std::vector<Family> kFamilies = [] {
    std::vector<Family> all(Families().begin(), Families().end());
    for (Family& family : all) {
      if (family.name.ends_with("_state_info") || std::ranges::count(family.labels, "state") == 0) continue;
      auto& left = labels.emplace_back(family.labels.begin(), family.labels.end());
      std::erase(left, "state");
      family.labels = left;
    }
    return all;
  }();
  return kFamilies;
}

bool IsAboutPage(const Family& family) {
  constexpr std::array<std::string_view, 3> kNames = {"kepler_cut_series", "kepler_exposed_series",
                                                      "promhttp_metric_handler_errors_total"};
  return std::ranges::find(kNames, family.name) != kNames.end();
}

}  // namespace kepler::series
