#include <algorithm>
#include <iterator>
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

}  // namespace kepler::series
