#pragma once
// Records the series of Kepler's nodes from Prometheus or a compatible server: metric by metric, in time ranges that
// the server accepts.
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/retrying/retrying_server.h"
#include "lab/dataset/metrics.h"
#include "recording/recording.h"

namespace kepler::lab::recorder {

/// Points at begin, begin + step, ... up to end.
struct TimeRange {
  double begin = 0, end = 0;
  bool operator==(const TimeRange&) const = default;
};

/// Returns the number of points of the range, at least 1.
[[nodiscard]] size_t CountPoints(const TimeRange& range, double step);

/// Splits `whole` into ranges of at most `points` points. No point is in two ranges.
[[nodiscard]] std::vector<TimeRange> SplitRange(const TimeRange& whole, double step, size_t points);

struct Question {
  TimeRange range{};
  double step = 5;     // seconds between two points
  std::string node{};  // empty: all
  /// Names or ids of virtual machines. The energy that the agents of their hosts state for them is recorded instead of
  /// the energy of nodes. If `node` is empty, nothing else is recorded.
  std::vector<std::string> vms{};
  std::vector<std::string> match{};  // label matchers of PromQL: 'job=~"kepler.*"'
  dataset::MetricNames names = dataset::MetricNames::kAuto;
  size_t max_bytes = size_t{1} << 30;  // approximate maximum of the recording as JSON
};

struct Queried {
  recording::Recording recording{};  // and warnings of the server, for example about missing data
  dataset::MetricNames names = dataset::MetricNames::kAuto;  // names that the server has
  size_t samples = 0;
  size_t queries = 0;
  size_t retried = 0;  // queries that were sent again
};

/// Sends all requests on the caller's thread; blocks until the last response. `report` gets a line before each metric,
/// and before each part of a time range that has too many points for one response. If the server refuses a request
/// because of too many samples, both halves of its range are requested. Errors: kInvalid if there is no such metric, if
/// there is no sample in the range, or as soon as the recording would be far too large; others as
/// http::retrying::Ask().
[[nodiscard]] Result<Queried> Query(http::retrying::Server server, const Question& question,
                                    const std::function<void(std::string_view)>& report);

}  // namespace kepler::lab::recorder
