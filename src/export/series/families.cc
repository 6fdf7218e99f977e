#include <algorithm>
#include <array>
#include <iterator>
#include <list>
#include <vector>

#include "export/series/family_table.h"

namespace kepler::series {
namespace {

/// Returns true for families of workloads, which the names of 0.7 replace.
bool IsOfWorkloads(const Family& family) {
  const bool one_level =
      family.gates == kProcess || family.gates == kContainer || family.gates == kVm || family.gates == kPod;
  return one_level && family.name != "kepler_cut_series";
}

using LabelLists = std::list<std::vector<std::string_view>>;

/// `labels` keeps the labels of the families that change.
void RemoveStateLabel(std::vector<Family>& families, LabelLists& labels) {
  for (Family& family : families) {
    if (family.name.ends_with("_state_info") || std::ranges::count(family.labels, "state") == 0) continue;
    auto& left = labels.emplace_back(family.labels.begin(), family.labels.end());
    std::erase(left, "state");
    family.labels = left;
  }
}

std::vector<Family> Merge(std::span<const Family> first, std::span<const Family> second) {
  std::vector<Family> all;
  std::ranges::merge(first, second, std::back_inserter(all), {}, &Family::name, &Family::name);
  return all;
}

template <NameSet kNames, bool kStateLabel>
std::span<const Family> Catalogue() {
  static LabelLists labels;
  static const std::vector<Family> kFamilies = [] {
    std::vector<Family> all = Merge(EnergyFamilies(), AgentFamilies());
    if (kNames == NameSet::kV07) std::erase_if(all, IsOfWorkloads);
    if (kNames != NameSet::kV011) all = Merge(LegacyFamilies(), all);
    // Of families with one name the first is kept, which is the one of 0.7.
    const auto rest = std::ranges::unique(all, {}, &Family::name);
    all.erase(rest.begin(), rest.end());
    if (!kStateLabel) RemoveStateLabel(all, labels);
    return all;
  }();
  return kFamilies;
}

template <NameSet kNames>
std::span<const Family> Catalogue(bool state_label) {
  return state_label ? Catalogue<kNames, true>() : Catalogue<kNames, false>();
}

}  // namespace

std::span<const Family> Families(NameSet names, bool state_label) {
  switch (names) {
    case NameSet::kV011:
      return Catalogue<NameSet::kV011>(state_label);
    case NameSet::kV07:
      return Catalogue<NameSet::kV07>(state_label);
    case NameSet::kBoth:
      return Catalogue<NameSet::kBoth>(state_label);
  }
  return {};
}

bool IsAboutPage(const Family& family) {
  constexpr std::array<std::string_view, 3> kNames = {"kepler_cut_series", "kepler_exposed_series",
                                                      "promhttp_metric_handler_errors_total"};
  return std::ranges::find(kNames, family.name) != kNames.end();
}

}  // namespace kepler::series
