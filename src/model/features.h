#pragma once
// What power models see of a machine: features by name, and the groups that the published models were trained on.
// Pure. All of a node, as rates per second; CPU time in milliseconds of CPU time per second.
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler::model {

/// No model has more: rows of features live on the stack.
inline constexpr size_t kMaxFeatures = 64;

/// The name that a feature has today: models of Kepler 0.6 say bpf_cpu_time_us for what is bpf_cpu_time_ms (both hold
/// milliseconds). Other names are their own.
[[nodiscard]] std::string_view CanonicalFeature(std::string_view name);

/// A named set of features, sorted by name as in the models of Kepler 0.7.
struct FeatureGroup {
  std::string_view name;  // "CounterOnly"
  std::span<const std::string_view> features;
};

/// All groups of Kepler 0.7, and those of 0.6 that it dropped (CgroupOnly, KubeletOnly), in the order in which the
/// model server prefers them. A name may stand on several rows, what 0.7 means by it first:
///   * groups with bpf_page_cache_hit also without it, as in 0.6, which had no such feature;
///   * Basic: also the ten features of 0.6, with those of cgroups and the kubelet;
///   * Basic07: what Basic is in 0.7, or without bpf_page_cache_hit, and never what it was in 0.6.
[[nodiscard]] std::span<const FeatureGroup> FeatureGroups();

/// The first group of that name, or nullptr. Names are compared exactly.
[[nodiscard]] const FeatureGroup* FindFeatureGroup(std::string_view name);

/// What group `name` is for data that may lack some features: its first row of which `has` knows all (it is asked for
/// canonical names). kNotFound with the nearest name where there is no such group; kUnavailable, naming what the row
/// that comes closest lacks. The features live as long as the program.
[[nodiscard]] Result<std::span<const std::string_view>> ResolveGroup(std::string_view name,
                                                                     const std::function<bool(std::string_view)>& has);

/// The name of the first group that is exactly this set of features, whatever their order and age of name; else
/// "custom".
[[nodiscard]] std::string_view GroupNameOf(std::span<const std::string> features);

}  // namespace kepler::model
