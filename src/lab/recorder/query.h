#pragma once
// What a server of time series (Prometheus, or what answers as it does) knows of Kepler's nodes: metric by metric, in
// pieces that it has room for.
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/dataset/metrics.h"
#include "lab/dataset/recording.h"
#include "lab/recorder/server.h"
#include "lab/recorder/times.h"

namespace kepler::lab::recorder {

struct Question {
  TimeRange range{};
  double step = 5;                   // seconds between two points
  std::string node{};                // empty: all
  std::vector<std::string> match{};  // matchers of labels, as the server takes them: 'job=~"kepler.*"'
  dataset::MetricNames names = dataset::MetricNames::kAuto;
  size_t max_bytes = size_t{1} << 30;  // of the recording as JSON, about
};

struct Queried {
  dataset::Recording recording{};
  dataset::MetricNames names = dataset::MetricNames::kAuto;  // whose they are
  size_t samples = 0;
  size_t queries = 0;
  size_t retried = 0;  // of them
};

/// Sends requests on the caller's thread, for as long as that takes. `report` gets a line before each metric, and
/// before each piece of a time range with more points than one answer may have. If the server refuses a piece because
/// of too many samples, its halves are requested, without a line. kInvalid if there is no such metric or no sample in
/// that time, and as soon as the recording would be far too large; else as Ask().
[[nodiscard]] Result<Queried> Query(Server server, const Question& question,
                                    const std::function<void(std::string_view)>& report);

}  // namespace kepler::lab::recorder
