#pragma once
// What a server of time series (Prometheus, or what answers as it does) knows of Kepler's nodes: metric by metric, in
// pieces that it has room for.
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

/// How many those are, at least 1.
[[nodiscard]] size_t CountPoints(const TimeRange& range, double step);

/// `whole` in pieces of at most `points` points. No point is in two pieces.
[[nodiscard]] std::vector<TimeRange> SplitRange(const TimeRange& whole, double step, size_t points);

struct Question {
  TimeRange range{};
  double step = 5;     // seconds between two points
  std::string node{};  // empty: all
  /// Names or ids of virtual machines whose energy, by the agents of their hosts, is recorded instead of that of nodes.
  /// Without `node`, nothing else is recorded.
  std::vector<std::string> vms{};
  std::vector<std::string> match{};  // matchers of labels, as the server takes them: 'job=~"kepler.*"'
  dataset::MetricNames names = dataset::MetricNames::kAuto;
  size_t max_bytes = size_t{1} << 30;  // of the recording as JSON, about
};

struct Queried {
  recording::Recording recording{};                          // with the warnings of the server, such as missing data
  dataset::MetricNames names = dataset::MetricNames::kAuto;  // whose they are
  size_t samples = 0;
  size_t queries = 0;
  size_t retried = 0;  // of them
};

/// Sends requests on the caller's thread, for as long as that takes. `report` gets a line before each metric, and
/// before each piece of a time range with more points than one answer may have. If the server refuses a piece because
/// of too many samples, its halves are requested, without a line. kInvalid if there is no such metric or no sample in
/// that time, and as soon as the recording would be far too large; else as http::retrying::Ask().
[[nodiscard]] Result<Queried> Query(http::retrying::Server server, const Question& question,
                                    const std::function<void(std::string_view)>& report);

}  // namespace kepler::lab::recorder
