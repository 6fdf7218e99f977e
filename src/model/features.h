#pragma once
// What power models see of a machine: features by name, and the groups that the published models were trained on.
// Pure. All of a node, as rates per second; CPU time in milliseconds of CPU time per second.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
/// model server prefers them.
[[nodiscard]] std::span<const FeatureGroup> FeatureGroups();

/// The group of that name, or nullptr. Names are compared exactly.
[[nodiscard]] const FeatureGroup* FindFeatureGroup(std::string_view name);

/// The first group that is exactly this set of features, whatever their order and age of name; else "custom".
[[nodiscard]] std::string_view GroupNameOf(std::span<const std::string> features);

}  // namespace kepler::model
