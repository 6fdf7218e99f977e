#pragma once
// Pages of metrics as agents serve them: Prometheus text format 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/). Pure.
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "lab/dataset/recording.h"

namespace kepler::lab::dataset {

/// Most wanted series of a page: an agent has some tens of its node.
inline constexpr size_t kMaxPageSeries = 100'000;

/// Adds a sample at `time` (Unix seconds) to each series of `page` whose metric is wanted; times that stand in the page
/// do not count, other lines are not looked at. NaN and infinity are counted. kMalformed with the line of a wanted
/// metric that is no sample, kInvalid for more than kMaxPageSeries series or more than kMaxSamples in the recording, of
/// which nothing is added then.
[[nodiscard]] Status AddExposition(std::string_view page, double time,
                                   const std::function<bool(std::string_view metric)>& is_wanted, Recording& recording);

/// The first sample of `metric` in `page`; nothing where there is none.
[[nodiscard]] std::optional<double> FindSample(std::string_view page, std::string_view metric);

}  // namespace kepler::lab::dataset
