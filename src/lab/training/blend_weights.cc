#include "lab/training/blend_weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kepler::lab::training {
namespace {

/// Maximum error of a candidate in the blend, as a multiple of the smallest error.
constexpr double kWithin = 1.25;
/// Exponent of the error in the weight of a candidate. A candidate with a 10 % larger error gets half the weight.
constexpr double kSteepness = 8;
constexpr double kMinWeight = 0.05;
/// Standard deviation of the bell curve that turns a difference, in standard errors, into a weight.
constexpr double kDoubt = 2;
/// Maximum error of a candidate in the blend, as a multiple of the smallest error. One huge error is also a standard
/// error, so it would look like doubt; but it shows that the candidate extrapolates badly.
constexpr double kWithinOfMachines = 2;

double WeightByError(double mae, double best) {
  return mae > kWithin * best ? 0 : best == 0 ? 1 : std::pow(mae / best, -kSteepness);
}

/// `errors` and `best`: by machine.
double WeightByMachines(std::span<const double> errors, std::span<const double> best) {
  const auto machines = static_cast<double>(errors.size());
  double of_best = 0;
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < errors.size(); ++i) {
    const double more = errors[i] - best[i];
    of_best += best[i];
    sum += more;
    squares += more * more;
  }
  if (sum > (kWithinOfMachines - 1) * of_best) return 0;
  const double mean = sum / machines;
  const double variance = (squares - machines * mean * mean) / (machines - 1);
  if (!(mean > 0) || !(variance > 0)) return mean > 0 ? 0 : 1;
  return std::exp(-mean * mean / (2 * kDoubt * kDoubt * variance / machines));
}

/// The error by which the best candidate is chosen: each machine counts the same.
double ErrorOrInfinite(const std::optional<Tested>& tested) {
  if (!tested) return HUGE_VAL;
  const std::vector<double>& machines = tested->by_machine;
  return machines.size() > 1 ? std::accumulate(machines.begin(), machines.end(), 0.0) : tested->mae_watts;
}

/// Divides by the sum, without the weights below `least` of it.
void Share(std::vector<double>& weights, double least) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight = weight < least * sum ? 0 : weight / sum;
}

}  // namespace

std::vector<double> WeightsInBlend(std::span<const std::optional<Tested>> tested) {
  std::vector<double> weights(tested.size());
  const std::optional<Tested>& best = *std::ranges::min_element(tested, {}, ErrorOrInfinite);
  if (!best) {
    weights.front() = 1;
    return weights;
  }
  for (size_t i = 0; i < tested.size(); ++i) {
    if (!tested[i]) continue;
    weights[i] = best->by_machine.size() > 1 ? WeightByMachines(tested[i]->by_machine, best->by_machine)
                                             : WeightByError(tested[i]->mae_watts, best->mae_watts);
  }
  for (const double least : {0.0, kMinWeight, 0.0}) Share(weights, least);
  return weights;
}

}  // namespace kepler::lab::training
