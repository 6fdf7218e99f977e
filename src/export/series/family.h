#pragma once
// The catalogue of all metric families that the agent exposes, in any format. Exporters walk the catalogue (visit.h),
// and docs/metrics.md is generated from it.
#include <cstdint>
#include <span>
#include <string_view>

namespace kepler::series {

struct Context;
class Visitor;

/// Condition that enables a family: a bit of the metrics level (same bits as the configuration), or the `process`
/// collector. Families without a gate are always exposed.
enum Gate : uint32_t {
  kAlways = 0,
  kNode = 1u << 0,
  kProcess = 1u << 1,
  kContainer = 1u << 2,
  kVm = 1u << 3,
  kPod = 1u << 4,
  kNamespace = 1u << 5,
  kOwner = 1u << 6,
  kUser = 1u << 7,
  kAllLevels = (1u << 8) - 1,
  kProcessCollector = 1u << 8
};

/// Source of a family's definition, which shows how stable its name is.
enum class Origin : uint8_t {
  kUpstream,  // Kepler 0.11
  kLegacy,    // Kepler 0.7
  kOwn,       // this project, since 0.1
  kCommon     // also in every exporter that uses Prometheus' client library
};

struct Family {
  std::string_view name;  // a name that ends in _total is a counter; every other family is a gauge
  std::string_view help;
  std::span<const std::string_view> labels;  // sorted by name; "node_name" is the constant label
  void (*rows)(const Context&, Visitor&);    // emits the samples of one snapshot
  std::string_view unit = "";                // "" for no unit; otherwise the name (without _total) ends in the unit
  uint32_t gates = kAlways;                  // the family is exposed if any of these gates is on
  Origin origin = Origin::kOwn;
};

/// Names of the families of workloads. All other families are in every set.
enum class NameSet : uint8_t {
  kV011,  // Kepler 0.11
  kV07,   // Kepler 0.7, with its families of the node
  kBoth   // of families with the same name, the one of 0.7
};

/// Labels of the families of pods and containers that have the names of 0.11.
enum class LabelSet : uint8_t {
  kV011,       // pod_name and pod_namespace, on pods
  kKubernetes  // pod and namespace, on pods and containers
};

/// Sorted by name. Without `state_label` only the *_state_info families have the label `state`. Thread-safe.
[[nodiscard]] std::span<const Family> Families(NameSet names = NameSet::kV011, bool state_label = true,
                                               LabelSet labels = LabelSet::kV011);

inline constexpr std::string_view kTotal = "_total";
/// Returns "counter" or "gauge".
[[nodiscard]] constexpr std::string_view TypeOf(const Family& family) {
  return family.name.ends_with(kTotal) ? "counter" : "gauge";
}
/// Returns the family's name without a counter's _total, which is its name in OpenMetrics.
[[nodiscard]] constexpr std::string_view BaseName(const Family& family) {
  return family.name.substr(0, family.name.size() - (family.name.ends_with(kTotal) ? kTotal.size() : 0));
}

/// Returns true if the family describes one page of /metrics. Exporters that push leave it out.
[[nodiscard]] bool IsAboutPage(const Family& family);

}  // namespace kepler::series
