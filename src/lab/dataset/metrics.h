#pragma once
// Which metrics of this agent and of Kepler up to 0.10 tables are made of, and which column each is. Pure.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lab/dataset/recorded.h"

namespace kepler::lab::dataset {

/// When the agent took the figures of a page, as Unix seconds: a gauge.
inline constexpr std::string_view kSnapshotTime = "kepler_snapshot_timestamp_seconds";

/// Label "path" of energy that a model estimates.
inline constexpr std::string_view kEstimatedPath = "model";

enum class MetricNames : uint8_t {
  kAuto,    // by what there is
  kKepler,  // this agent's
  kLegacy,  // of Kepler up to 0.10: features are those of containers
};

/// What a series counts.
struct Meaning {
  std::string column{};  // "bpf_cpu_time_ms", "package_power"
  double scale = 1;      // of its increase per second
  bool is_energy = false;
  bool is_gauge = false;        // a value of now, not a count: the column has its value at the end of a row
  bool comes_and_goes = false;  // of a container: counts from 0 when it appears
  bool may_rest = false;        // an idle share: read with the active energy, but does not change if nothing is idle
  bool is_estimate = false;     // of a model, not of a meter
  std::string source{};         // of legacy energy: "rapl-sysfs"
};

/// Energy of nodes, of the CPU first.
[[nodiscard]] std::span<const std::string_view> EnergyMetrics();

/// Whether series of that name are worth asking for.
[[nodiscard]] bool IsWanted(MetricNames names, std::string_view metric);
/// Nothing where it is in no table.
[[nodiscard]] std::optional<Meaning> MeaningOf(MetricNames names, std::string_view metric, const Labels& labels);
/// kKepler where there is any metric that only this agent has, kLegacy where there is one that only Kepler had before;
/// kAuto where there is neither.
[[nodiscard]] MetricNames Detect(const std::function<bool(std::string_view metric)>& has);

/// A column of a feature and its metric: "cpu_cycles" of "kepler_node_cpu_cycles_total".
struct FeatureMetric {
  std::string_view column;
  std::string_view metric;
};
/// Of this agent, those that every version of it has.
[[nodiscard]] std::span<const FeatureMetric> FeatureMetrics();

}  // namespace kepler::lab::dataset
