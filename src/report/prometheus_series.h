#pragma once
// What the agent's series mean for a report, once a Prometheus server has added labels of its own. Pure.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recording/recording.h"
#include "report/energy_report.h"

namespace kepler::report {

/// The selector of all samples that a report needs, in PromQL. `matchers` are PromQL: 'job="kepler"'.
[[nodiscard]] std::string SelectorOf(By by, std::span<const std::string> zones, std::span<const std::string> matchers);

enum class SeriesKind : uint8_t { kTotal, kActive, kIdle, kUnattributed, kUnlisted, kStart, kWorkload, kVmInfo };

struct EnergySeries {
  SeriesKind kind = SeriesKind::kTotal;
  std::string node;
  std::string zone;
  std::string reason;                                      // of kUnlisted
  bool is_ended = false;                                   // of kWorkload
  std::vector<std::pair<std::string, std::string>> texts;  // of kWorkload and kVmInfo, as in EnergyLine
};

/// Nothing for a metric that a report by `by` does not use. If the target has a label of the same name, the server has
/// renamed the agent's label to "exported_…".
[[nodiscard]] std::optional<EnergySeries> EnergySeriesOf(By by, std::string_view metric,
                                                         const recording::Labels& labels);

/// Adds the names of a pod from the labels `pod` and `namespace`, which it has with labelNames: kubernetes. A label
/// that is the target's says nothing about the pod.
void AddPodNames(const recording::Labels& labels, const recording::Labels& target, EnergySeries& series);

/// Labels of a node's series that the server has added: those of its target.
[[nodiscard]] recording::Labels TargetOf(const recording::Labels& labels);
/// True if a series can be of that target: labels that the agent may have given to it do not count.
[[nodiscard]] bool IsOfTarget(By by, const recording::Labels& labels, const recording::Labels& target);

}  // namespace kepler::report
