#pragma once
// Recording: recorded time series by metric and labels. Tables of measurements are made of recordings. Pure.
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kepler::recording {

/// Maximum number of samples (16 bytes each) and of series in one recording.
inline constexpr size_t kMaxSamples = size_t{1} << 26;
inline constexpr size_t kMaxSeries = 1'000'000;
inline constexpr size_t kMaxWarnings = 10;

struct Sample {
  double time = 0;  // Unix seconds
  double value = 0;
  bool operator==(const Sample&) const = default;
};

/// Pairs of name and value, sorted by name; without __name__.
using Labels = std::vector<std::pair<std::string, std::string>>;
/// Returns the value of a label; "" if there is no such label.
[[nodiscard]] std::string_view LabelOf(const Labels& labels, std::string_view name);

struct Series {
  Labels labels{};
  std::vector<Sample> samples{};
  bool operator==(const Series&) const = default;
};

struct Recording {
  std::map<std::string, std::vector<Series>, std::less<>> metrics{};
  std::vector<std::string> warnings{};  // of the Prometheus server, at most kMaxWarnings: "some data is missing"
  size_t not_finite = 0;                // number of dropped samples: NaN (as in stale markers) or infinite
  bool operator==(const Recording&) const = default;
};

[[nodiscard]] size_t CountSamples(const Recording& recording);
[[nodiscard]] size_t CountSeries(const Recording& recording);

/// Appends the samples of `more` to those of the same series in `recording`. A warning that both have is kept once.
void Append(Recording& recording, Recording more);

}  // namespace kepler::recording
