#pragma once
// Features of a machine as inputs of power models, by name, and the feature groups of the published models. Pure.
// Features are those of the whole node, as rates per second; CPU time is in milliseconds per second.
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler::model {

/// Maximum number of features of a model: rows of features are on the stack.
inline constexpr size_t kMaxFeatures = 64;

/// Returns the current name of a feature. Models of Kepler 0.6 use bpf_cpu_time_us for bpf_cpu_time_ms (both hold
/// milliseconds). Other names are unchanged.
[[nodiscard]] std::string_view CanonicalFeature(std::string_view name);

/// Returns true for counters, which sum over all CPUs of a machine; false for attributes of the machine
/// (model/machine.h), frequencies and ratios.
[[nodiscard]] bool GrowsWithCores(std::string_view feature);

/// A named set of features, sorted by name as in the models of Kepler 0.7.
struct FeatureGroup {
  std::string_view name;  // "CounterOnly"
  std::span<const std::string_view> features;
};

/// All groups of Kepler 0.7, and the groups of 0.6 that 0.7 dropped (CgroupOnly, KubeletOnly), in the order of
/// preference of the model server. A name may have several rows, with the meaning in 0.7 first:
/// * groups with bpf_page_cache_hit have a second row without it, because 0.6 had no such feature;
/// * Basic: also the ten features of 0.6, including those of cgroups and the kubelet;
/// * Basic07: the group Basic of 0.7, with or without bpf_page_cache_hit, never the group of 0.6.
[[nodiscard]] std::span<const FeatureGroup> FeatureGroups();

/// Returns the first group with that name, or nullptr. Names are compared exactly.
[[nodiscard]] const FeatureGroup* FindFeatureGroup(std::string_view name);

/// Returns the features of group `name` for data that may lack some features: the first row whose features are all
/// available according to `has` (called with canonical names). Errors: kNotFound with the nearest name if there is no
/// such group. kUnavailable with the missing features of the closest row. The features live as long as the program.
[[nodiscard]] Result<std::span<const std::string_view>> ResolveGroup(std::string_view name,
                                                                     const std::function<bool(std::string_view)>& has);

/// Returns the name of the first group with exactly these features, in any order, with old or new names; otherwise
/// "custom".
[[nodiscard]] std::string_view GroupNameOf(std::span<const std::string> features);

}  // namespace kepler::model
