#pragma once
// The meaning and the scraped target of each series of a recording. For extract.cc.
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/dataset/extract.h"
#include "lab/dataset/metrics.h"
#include "lab/dataset/recorded.h"

namespace kepler::lab::dataset {

/// A scraped agent. A node may be scraped twice, or under another address after a restart.
struct Target {
  std::string node, job, instance;
  auto operator<=>(const Target&) const = default;
};

[[nodiscard]] Target TargetOf(const Labels& labels);

/// Puts the samples of each series in order, each time once, at the times at which the agent took the figures instead
/// of those at which they were scraped. A page that is scraped twice has the same figures at the same time. The series
/// of those times are removed. Adds to `dropped` and `notes`.
void OrderSamples(Recording& recording, Dropped& dropped, std::vector<std::string>& notes);

struct Found {
  Meaning meaning;
  const Series* series;  // of the recording: sorted by time, each once
};

struct Targets {
  MetricNames names = MetricNames::kAuto;
  std::map<Target, std::vector<Found>> found{};  // of legacy energies that several meters have, those of one
  Dropped dropped{};                             // samples only
  std::vector<std::string> notes{};
};

/// Finds the series that `options` select. Sorts `recording`: samples by the time at which the agent took them, each
/// time once. kInvalid if a node is missing, or if there is no energy, only estimates, or no feature.
[[nodiscard]] Result<Targets> FindTargets(Recording& recording, const ExtractOptions& options);

}  // namespace kepler::lab::dataset
