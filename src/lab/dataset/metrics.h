#pragma once
// The metrics of this agent and of Kepler up to 0.10 that are used in tables, and the column of each. Pure.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lab/dataset/recorded.h"

namespace kepler::lab::dataset {

/// Gauge: time at which the agent took the figures of a page, in Unix seconds.
inline constexpr std::string_view kSnapshotTime = "kepler_snapshot_timestamp_seconds";

/// The meter of each zone of a node, in the label "source"; path "model" marks an estimate.
inline constexpr std::string_view kEnergySource = "kepler_node_energy_source_info";
/// Label "source" of energy that is simulated. Its paths are as those of a real meter.
inline constexpr std::string_view kFakeMeter = "fake";
/// Label "path" of energy that a model estimates.
inline constexpr std::string_view kEstimatedPath = "model";

enum class MetricNames : uint8_t {
  kAuto,    // the metrics that are available
  kKepler,  // metrics of this agent
  kLegacy,  // metrics of Kepler up to 0.10, whose features are those of containers
};

/// The meaning of a series.
struct Meaning {
  std::string column{};  // "bpf_cpu_time_ms", "package_power"
  double scale = 1;      // of its increase per second
  bool is_energy = false;
  bool is_gauge = false;        // a current value, not a counter: the column has its value at the end of a row
  bool comes_and_goes = false;  // a series of a container: counts from 0 when it appears
  bool may_rest = false;        // an idle share: read with the active energy, but constant if nothing is idle
  bool is_estimate = false;     // from a model, not from a meter
  std::string source{};         // meter of legacy energy: "rapl-sysfs"
};

/// Names of the energy metrics of nodes; the CPU's is first.
[[nodiscard]] std::span<const std::string_view> EnergyMetrics();

/// Returns true if series of that metric are used in tables.
[[nodiscard]] bool IsWanted(MetricNames names, std::string_view metric);
/// Returns nothing if the series is not used in tables.
[[nodiscard]] std::optional<Meaning> MeaningOf(MetricNames names, std::string_view metric, const Labels& labels);
/// Returns kKepler if a metric exists that only this agent has, else kLegacy if one exists that only Kepler up to 0.10
/// has, else kAuto.
[[nodiscard]] MetricNames Detect(const std::function<bool(std::string_view metric)>& has);

/// A column of a feature and its metric: "cpu_cycles" of "kepler_node_cpu_cycles_total".
struct FeatureMetric {
  std::string_view column;
  std::string_view metric;
};
/// The features of this agent that all its versions have.
[[nodiscard]] std::span<const FeatureMetric> FeatureMetrics();

}  // namespace kepler::lab::dataset
