#pragma once
// Time series as they were recorded: counters by metric and labels. What tables of measurements are made of. Pure.
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kepler::recording {

/// Most samples of one recording, which take 16 bytes each, and most series.
inline constexpr size_t kMaxSamples = size_t{1} << 26;
inline constexpr size_t kMaxSeries = 1'000'000;
inline constexpr size_t kMaxWarnings = 10;

struct Sample {
  double time = 0;  // Unix seconds
  double value = 0;
  bool operator==(const Sample&) const = default;
};

/// Name and value, by name; without __name__.
using Labels = std::vector<std::pair<std::string, std::string>>;
/// "" where it is not there.
[[nodiscard]] std::string_view LabelOf(const Labels& labels, std::string_view name);

struct Series {
  Labels labels{};
  std::vector<Sample> samples{};
  bool operator==(const Series&) const = default;
};

struct Recording {
  std::map<std::string, std::vector<Series>, std::less<>> metrics{};
  std::vector<std::string> warnings{};  // of the server that answered, at most kMaxWarnings: "some data is missing"
  size_t not_finite = 0;                // samples that were NaN (as of a stale series) or infinite, and are not kept
  bool operator==(const Recording&) const = default;
};

[[nodiscard]] size_t CountSamples(const Recording& recording);
[[nodiscard]] size_t CountSeries(const Recording& recording);

/// Puts the samples of `more` behind those of the same series in `recording`.
void Append(Recording& recording, Recording more);

}  // namespace kepler::recording
