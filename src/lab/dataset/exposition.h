#pragma once
// Pages of metrics as agents serve them: Prometheus text format 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/). Pure.
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "lab/dataset/recorded.h"

namespace kepler::lab::dataset {

/// Maximum number of wanted series of a page. An agent has some tens of series about its node.
inline constexpr size_t kMaxPageSeries = 100'000;

/// Adds a sample at `time` (Unix seconds) to each wanted series of `page`. Timestamps in the page are ignored, and so
/// are lines of other metrics. NaN and infinity are only counted. kMalformed, with the line, if a wanted metric has no
/// valid sample. kInvalid for more than kMaxPageSeries series, or more than kMaxSamples in the recording. After an
/// error nothing is added.
[[nodiscard]] Status AddExposition(std::string_view page, double time,
                                   const std::function<bool(std::string_view metric)>& is_wanted, Recording& recording);

/// The first finite sample of `metric` in `page`, if any.
[[nodiscard]] std::optional<double> FindSample(std::string_view page, std::string_view metric);

}  // namespace kepler::lab::dataset
