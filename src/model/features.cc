#include "model/features.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/text.h"
#include "model/machine.h"

namespace kepler::model {
namespace {

using Feature = std::string_view;

constexpr Feature kTime = "bpf_cpu_time_ms";
constexpr Feature kPageCache = "bpf_page_cache_hit";
constexpr Feature kAccelerator = "accelerator_intel_qat";

template <class... Lists>
constexpr auto Sorted(const Lists&... lists) {
  std::array<Feature, (std::tuple_size_v<Lists> + ...)> all{};
  auto end = all.begin();
  ((end = std::ranges::copy(lists, end).out), ...);
  std::ranges::sort(all);
  return all;
}

constexpr std::array kTimeOnly{kTime};
constexpr std::array kBpf{kTime, kPageCache};
constexpr std::array kCounters{Feature("cache_miss"), Feature("cpu_cycles"), Feature("cpu_instructions")};
constexpr std::array kIrqs{Feature("bpf_block_irq"), Feature("bpf_net_rx_irq"), Feature("bpf_net_tx_irq")};
constexpr std::array kAccelerators{kAccelerator};
constexpr std::array kSystem{Feature("cpu_scaling_frequency_hertz"), Feature("node_info")};
constexpr std::array kCgroup{Feature("cgroupfs_cpu_usage_us"), Feature("cgroupfs_memory_usage_bytes"),
                             Feature("cgroupfs_system_cpu_usage_us"), Feature("cgroupfs_user_cpu_usage_us")};
constexpr std::array kKubelet{Feature("kubelet_cpu_usage"), Feature("kubelet_memory_bytes")};

constexpr auto kWorkload = Sorted(kCounters, kBpf, kIrqs, kAccelerators);
constexpr auto kWorkload06 = Sorted(kCounters, kTimeOnly, kIrqs, kAccelerators);
constexpr auto kFull = Sorted(kWorkload, kSystem);
constexpr auto kFull06 = Sorted(kWorkload06, kSystem);
constexpr auto kBpfIrq = Sorted(kBpf, kIrqs);
constexpr auto kBpfIrq06 = Sorted(kTimeOnly, kIrqs);
constexpr auto kCountersIrqs = Sorted(kCounters, kIrqs);
constexpr auto kBasic = Sorted(kCounters, kBpf);
constexpr auto kBasic06 = Sorted(kCounters, kTimeOnly, kCgroup, kKubelet);
constexpr auto kBasicNoPageCache = Sorted(kCounters, kTimeOnly);

constexpr FeatureGroup kGroups[] = {
    {"Full", kFull},
    {"Full", kFull06},
    {"WorkloadOnly", kWorkload},
    {"WorkloadOnly", kWorkload06},
    {"CounterOnly", kCounters},
    {"BPFOnly", kBpf},
    {"BPFOnly", kTimeOnly},
    {"BPFIRQ", kBpfIrq},
    {"BPFIRQ", kBpfIrq06},
    {"CounterIRQCombined", kCountersIrqs},
    {"Basic", kBasic},
    {"Basic", kBasic06},
    {"Basic07", kBasic},
    {"Basic07", kBasicNoPageCache},
    {"Basic", kBasicNoPageCache},  // after Basic07, which is the name of this set
    {"AcceleratorOnly", kAccelerators},
    {"IRQOnly", kIrqs},
    {"CgroupOnly", kCgroup},
    {"KubeletOnly", kKubelet},
};

std::string_view NearestGroup(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& group : kGroups) names.push_back(group.name);
  return NearestName(name, names);
}

}  // namespace

bool GrowsWithCores(std::string_view feature) {
  constexpr Feature kSameInAnySize[] = {"cpu_scaling_frequency_hertz", "node_info", "utilisation"};
  return !IsAttribute(feature) && std::ranges::find(kSameInAnySize, feature) == std::end(kSameInAnySize);
}

std::string_view CanonicalFeature(std::string_view name) { return name == "bpf_cpu_time_us" ? kTime : name; }

std::span<const FeatureGroup> FeatureGroups() { return kGroups; }

const FeatureGroup* FindFeatureGroup(std::string_view name) {
  const auto found = std::ranges::find(kGroups, name, &FeatureGroup::name);
  return found != std::end(kGroups) ? &*found : nullptr;
}

Result<std::span<const std::string_view>> ResolveGroup(std::string_view name,
                                                       const std::function<bool(std::string_view)>& has) {
  std::optional<std::vector<std::string_view>> fewest;
  for (const auto& group : kGroups) {
    if (group.name != name) continue;
    std::vector<std::string_view> missing;
    std::ranges::copy_if(group.features, std::back_inserter(missing), [&](auto feature) { return !has(feature); });
    if (missing.empty()) return group.features;
    if (!fewest || missing.size() < fewest->size()) fewest = std::move(missing);
  }
  if (fewest)
    return Fail(ErrorKind::kUnavailable, fmt::format("feature group {}: missing: {}", name, fmt::join(*fewest, ", ")));
  const auto nearest = NearestGroup(name);
  return Fail(ErrorKind::kNotFound, fmt::format("unknown feature group \"{:.40}\"{}", EscapeControls(name),
                                                nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
}

std::string_view GroupNameOf(std::span<const std::string> features) {
  std::vector<std::string_view> names;
  for (const auto& feature : features) names.push_back(CanonicalFeature(feature));
  std::ranges::sort(names);
  for (const auto& group : kGroups)
    if (std::ranges::equal(group.features, names)) return group.name;
  return "custom";
}

}  // namespace kepler::model
