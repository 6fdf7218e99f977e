#include "lab/training/samples.h"

namespace kepler::lab::training {

Samples Subset(const Samples& all, std::span<const size_t> rows) {
  Samples subset;
  subset.features.columns = all.features.columns;
  subset.features.values.reserve(rows.size() * all.features.columns);
  subset.labels.reserve(rows.size());
  for (const size_t i : rows) {
    const auto row = all.features.row(i);
    subset.features.values.insert(subset.features.values.end(), row.begin(), row.end());
    subset.labels.push_back(all.labels[i]);
    if (!all.groups.empty()) subset.groups.push_back(all.groups[i]);
  }
  return subset;
}

}  // namespace kepler::lab::training
