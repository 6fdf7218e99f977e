#include "training/metrics.h"

#include <cmath>
#include <numeric>

namespace kepler::training {

model::Accuracy Judge(std::span<const double> predicted, std::span<const double> measured) {
  model::Accuracy accuracy;
  accuracy.rows = measured.size();
  if (measured.empty()) return accuracy;
  const auto rows = static_cast<double>(measured.size());
  const double mean = std::accumulate(measured.begin(), measured.end(), 0.0) / rows;
  double absolute = 0;
  double relative = 0;
  double residual = 0;
  double total = 0;
  size_t positive = 0;
  for (size_t i = 0; i < measured.size(); ++i) {
    const double error = predicted[i] - measured[i];
    absolute += std::abs(error);
    residual += error * error;
    total += (measured[i] - mean) * (measured[i] - mean);
    if (measured[i] > 0) {
      relative += std::abs(error) / measured[i];
      ++positive;
    }
  }
  accuracy.mae_watts = absolute / rows;
  if (positive > 0) accuracy.mape = 100 * relative / static_cast<double>(positive);
  // The mean of equal labels may differ from them in the last bit.
  if (total > 1e-20 * rows * mean * mean) accuracy.r2 = 1 - residual / total;
  return accuracy;
}

}  // namespace kepler::training
