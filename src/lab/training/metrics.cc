#include "lab/training/metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kepler::lab::training {
namespace {

constexpr double kMinVariance = 1e-12;  // W²

}  // namespace

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
  for (size_t i = 0; i < measured.size(); ++i) {
    const double error = predicted[i] - measured[i];
    absolute += std::abs(error);
    residual += error * error;
    total += (measured[i] - mean) * (measured[i] - mean);
    if (measured[i] >= kMinWattsOfMape) relative += std::abs(error) / measured[i];
  }
  accuracy.mae_watts = absolute / rows;
  if (const size_t positive = RowsOfMape(measured); positive > 0)
    accuracy.mape = 100 * relative / static_cast<double>(positive);
  // The mean of equal labels may differ from them in the last bit.
  if (total > rows * std::max(1e-20 * mean * mean, kMinVariance)) accuracy.r2 = 1 - residual / total;
  return accuracy;
}

size_t RowsOfMape(std::span<const double> measured) {
  return static_cast<size_t>(std::ranges::count_if(measured, [](double watts) { return watts >= kMinWattsOfMape; }));
}

}  // namespace kepler::lab::training
