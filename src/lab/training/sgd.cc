#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "lab/training/fits.h"

namespace kepler::lab::training {
namespace {

struct Descent {
  double alpha;
  double eta0;
  double power_t;
  double max_iter;
  double tol;
};

/// Number of passes in a row without a gain of `tol` per row that end it, as in scikit-learn's SGDRegressor.
constexpr int kPatience = 5;

/// std::shuffle may differ from one standard library to the next; the same seed is to give the same model.
void Shuffle(std::vector<uint32_t>& order, std::mt19937_64& random) {
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
}

/// One pass over all rows; the sum of their squared errors / 2. `t` counts the steps.
double Pass(const Samples& scaled, std::span<const uint32_t> order, const Descent& descent, model::Linear& model,
            double& t) {
  double loss = 0;
  for (const uint32_t i : order) {
    const auto row = scaled.features.row(i);
    // The default power costs a quarter of the time with pow().
    const double slower = descent.power_t == 0.25 ? std::sqrt(std::sqrt(t)) : std::pow(t, descent.power_t);
    const double rate = descent.eta0 / slower;
    t += 1;
    const double error =
        std::inner_product(row.begin(), row.end(), model.weights.begin(), model.bias) - scaled.labels[i];
    loss += error * error / 2;
    const double decay = std::max(0.0, 1 - rate * descent.alpha);
    for (size_t j = 0; j < row.size(); ++j) model.weights[j] = decay * model.weights[j] - rate * error * row[j];
    model.bias -= rate * error;
  }
  return loss;
}

/// From the mean of the labels, so that features which say nothing end there.
Result<model::Linear> Descend(const Samples& scaled, const Descent& descent, uint64_t seed) {
  const auto rows = static_cast<double>(scaled.labels.size());
  const double mean = std::accumulate(scaled.labels.begin(), scaled.labels.end(), 0.0) / rows;
  model::Linear model{.bias = mean, .weights = std::vector<double>(scaled.features.columns, 0)};
  std::vector<uint32_t> order(scaled.labels.size());
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937_64 random(seed);
  double best = std::numeric_limits<double>::infinity();
  double t = 1;
  int idle = 0;
  for (double pass = 0; pass < descent.max_iter && idle < kPatience; ++pass) {
    Shuffle(order, random);
    const double loss = Pass(scaled, order, descent, model, t);
    if (!std::isfinite(loss)) return Fail(ErrorKind::kInvalid, "the descent diverges; use a smaller eta0");
    idle = loss > best - descent.tol * rows ? idle + 1 : 0;
    best = std::min(best, loss);
  }
  return model;
}

}  // namespace

Result<model::Predictor> FitSgd(const Samples& samples, const TrainerOptions& options) {
  static constexpr Parameter kKnown[] = {{.name = "alpha", .fallback = 1e-4, .min = 0, .max = 1e6},
                                         {.name = "eta0", .fallback = 0.01, .min = 1e-9, .max = 1},
                                         {.name = "max_iter", .fallback = 1000, .min = 1, .max = 1e6, .whole = true},
                                         {.name = "power_t", .fallback = 0.25, .min = 0, .max = 1},
                                         {.name = "tol", .fallback = 1e-3, .min = 0, .max = 1e12}};
  KEPLER_TRY(const auto parameters, ReadParameters(options, kKnown));
  KEPLER_CHECK_OK(CheckSamples(samples));
  const Descent descent{.alpha = parameters[0],
                        .eta0 = parameters[1],
                        .power_t = parameters[3],
                        .max_iter = parameters[2],
                        .tol = parameters[4]};
  auto scale = MaxAbsScale(samples.features);
  const Samples scaled{.features = Scaled(samples.features, scale), .labels = samples.labels, .groups = {}};
  KEPLER_TRY(auto formula, Descend(scaled, descent, options.seed));
  return Checked({.limits = {}, .scale = std::move(scale), .formula = std::move(formula)}, samples);
}

}  // namespace kepler::lab::training
