#include <algorithm>
#include <cmath>

#include "lab/recorder/query.h"

namespace kepler::lab::recorder {

size_t CountPoints(const TimeRange& range, double step) {
  return static_cast<size_t>(std::floor((range.end - range.begin) / step + 1e-6)) + 1;
}

std::vector<TimeRange> SplitRange(const TimeRange& whole, double step, size_t points) {
  const size_t count = CountPoints(whole, step);
  std::vector<TimeRange> pieces;
  for (size_t i = 0; i < count; i += points) {
    const size_t last = std::min(i + points, count) - 1;
    pieces.push_back(
        {.begin = whole.begin + static_cast<double>(i) * step, .end = whole.begin + static_cast<double>(last) * step});
  }
  return pieces;
}

}  // namespace kepler::lab::recorder
