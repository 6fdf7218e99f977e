#include <algorithm>
#include <array>
#include <iterator>
#include <list>
#include <map>
#include <mutex>
#include <string_view>
#include <tuple>
#include <utility>
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

/// Lists of labels that families of a catalogue refer to.
using LabelLists = std::list<std::vector<std::string_view>>;

void ReplaceLabels(Family& family, std::vector<std::string_view> labels, LabelLists& lists) {
  std::ranges::sort(labels);
  family.labels = lists.emplace_back(std::move(labels));
}

void RemoveStateLabel(Family& family, LabelLists& lists) {
  if (family.name.ends_with("_state_info") || std::ranges::count(family.labels, "state") == 0) return;
  std::vector<std::string_view> labels(family.labels.begin(), family.labels.end());
  std::erase(labels, "state");
  ReplaceLabels(family, std::move(labels), lists);
}

void AddKubernetesLabels(Family& family, LabelLists& lists) {
  const bool of_pods = family.gates == kPod || family.gates == kContainer;
  if (family.origin == Origin::kLegacy || !of_pods) return;
  std::vector<std::string_view> labels(family.labels.begin(), family.labels.end());
  std::erase(labels, "pod_name");
  std::erase(labels, "pod_namespace");
  labels.insert(labels.end(), {"namespace", "pod"});
  ReplaceLabels(family, std::move(labels), lists);
}

std::vector<Family> Merge(std::span<const Family> first, std::span<const Family> second) {
  std::vector<Family> all;
  std::ranges::merge(first, second, std::back_inserter(all), {}, &Family::name, &Family::name);
  return all;
}

std::vector<Family> MakeFamilies(NameSet names, bool state_label, LabelSet labels, LabelLists& lists) {
  std::vector<Family> all = Merge(EnergyFamilies(), AgentFamilies());
  if (names == NameSet::kV07) std::erase_if(all, IsOfWorkloads);
  if (names != NameSet::kV011) all = Merge(LegacyFamilies(), all);
  // Of families with one name the first is kept, which is the one of 0.7.
  const auto rest = std::ranges::unique(all, {}, &Family::name);
  all.erase(rest.begin(), rest.end());
  for (Family& family : all) {
    if (!state_label) RemoveStateLabel(family, lists);
    if (labels == LabelSet::kKubernetes) AddKubernetesLabels(family, lists);
  }
  return all;
}

}  // namespace

std::span<const Family> Families(NameSet names, bool state_label, LabelSet labels) {
  struct Catalogue {
    LabelLists lists;
    std::vector<Family> families;
  };
  static std::mutex mutex;
  static std::map<std::tuple<NameSet, bool, LabelSet>, Catalogue> catalogues;  // each is made once and stays
  const std::scoped_lock lock(mutex);
  const auto [found, added] = catalogues.try_emplace({names, state_label, labels});
  Catalogue& catalogue = found->second;
  if (added) catalogue.families = MakeFamilies(names, state_label, labels, catalogue.lists);
  return catalogue.families;
}

bool IsAboutPage(const Family& family) {
  constexpr std::array<std::string_view, 3> kNames = {"kepler_cut_series", "kepler_exposed_series",
                                                      "promhttp_metric_handler_errors_total"};
  return std::ranges::find(kNames, family.name) != kNames.end();
}

}  // namespace kepler::series
