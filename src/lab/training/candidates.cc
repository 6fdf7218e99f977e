#include "lab/training/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kepler::lab::training {
namespace {

/// Bounds of a hyper-parameter. Values are drawn from a log-uniform distribution: between 1 and 100, as many are below
/// 10 as above.
struct Bounds {
  std::string_view name;
  double min;
  double max;
  bool whole = false;
};

struct Space {
  std::string_view trainer;
  bool free;
  std::vector<Bounds> bounds;
};

std::vector<Bounds> BoostingBounds(double max_depth) {
  return {{.name = "trees", .min = 30, .max = 400, .whole = true},
          {.name = "rate", .min = 0.02, .max = 0.3},
          {.name = "depth", .min = 2, .max = max_depth, .whole = true},
          {.name = "min_child_weight", .min = 1, .max = 40, .whole = true},
          {.name = "subsample", .min = 0.4, .max = 1}};
}

const std::vector<Space>& Spaces() {
  static const std::vector<Space> kSpaces = {
      {.trainer = "gradient-boosting", .free = true, .bounds = BoostingBounds(7)},
      {.trainer = "linear-boosting", .free = false, .bounds = BoostingBounds(6)},
      {.trainer = "monotone", .free = false, .bounds = BoostingBounds(7)},
      {.trainer = "random-forest",
       .free = true,
       .bounds = {{.name = "trees", .min = 40, .max = 200, .whole = true},
                  {.name = "depth", .min = 4, .max = 14, .whole = true},
                  {.name = "min_child_weight", .min = 1, .max = 30, .whole = true}}},
      {.trainer = "svr",
       .free = true,
       .bounds = {{.name = "C", .min = 1, .max = 3000}, {.name = "gamma", .min = 0.05, .max = 20}}},
      {.trainer = "knn", .free = true, .bounds = {{.name = "k", .min = 3, .max = 40, .whole = true}}},
      {.trainer = "polynomial", .free = true, .bounds = {{.name = "alpha", .min = 1e-4, .max = 10}}},
      {.trainer = "ridge", .free = false, .bounds = {{.name = "alpha", .min = 1e-3, .max = 100}}},
  };
  return kSpaces;
}

/// Returns a number in [0, 1). std::uniform_real_distribution gives other numbers on other platforms.
double Unit(std::mt19937_64& random) { return std::ldexp(static_cast<double>(random() >> 11), -53); }

double Draw(const Bounds& bounds, std::mt19937_64& random) {
  const double value = bounds.min * std::pow(bounds.max / bounds.min, Unit(random));
  if (bounds.whole) return std::round(value);
  const double digit = std::pow(10, std::floor(std::log10(value)) - 1);
  return std::clamp(std::round(value / digit) * digit, bounds.min, bounds.max);
}

}  // namespace

std::span<const Candidate> FixedCandidates(size_t rows) {
  static const std::vector<Candidate> kForLarge = {
      {.name = "linear", .trainer = "linear", .parameters = {}, .free = false},
      {.name = "linear-boosting", .trainer = "linear-boosting", .parameters = {}, .free = false},
      {.name = "gradient-boosting(subsample=0.5)",
       .trainer = "gradient-boosting",
       .parameters = {{"trees", 200}, {"rate", 0.05}, {"subsample", 0.5}, {"min_child_weight", 10}}},
      {.name = "gradient-boosting(trees=60)", .trainer = "gradient-boosting", .parameters = {{"trees", 60}}},
      {.name = "gradient-boosting(min_child_weight=5)",
       .trainer = "gradient-boosting",
       .parameters = {{"min_child_weight", 5}}},
      {.name = "polynomial", .trainer = "polynomial", .parameters = {}},
      {.name = "knn(k=12)", .trainer = "knn", .parameters = {{"k", 12}}},
  };
  static const std::vector<Candidate> kForSmall = {
      {.name = "linear", .trainer = "linear", .parameters = {}},
      {.name = "polynomial", .trainer = "polynomial", .parameters = {}},
      {.name = "polynomial(alpha=1)", .trainer = "polynomial", .parameters = {{"alpha", 1}}},
      {.name = "knn(k=3)", .trainer = "knn", .parameters = {{"k", 3}}},
      {.name = "linear-boosting", .trainer = "linear-boosting", .parameters = {}},
      {.name = "gradient-boosting", .trainer = "gradient-boosting", .parameters = {}},
      {.name = "svr(C=100)", .trainer = "svr", .parameters = {{"C", 100}}},
      {.name = "xgboost(bins=0)", .trainer = "xgboost", .parameters = {{"bins", 0}}},
      {.name = "random-forest(trees=60)", .trainer = "random-forest", .parameters = {{"trees", 60}}},
  };
  return rows <= kSmallTable ? kForSmall : kForLarge;
}

Candidate DrawCandidate(std::mt19937_64& random) {
  const Space& space = Spaces()[static_cast<size_t>(random() % Spaces().size())];
  Candidate candidate{
      .name = std::string(space.trainer), .trainer = space.trainer, .parameters = {}, .free = space.free};
  std::string numbers;
  for (const Bounds& bounds : space.bounds) {
    const double value = Draw(bounds, random);
    candidate.parameters.emplace(bounds.name, value);
    numbers += fmt::format("{}{}={:.6g}", numbers.empty() ? "" : ", ", bounds.name, value);
  }
  candidate.name += fmt::format("({})", numbers);
  return candidate;
}

}  // namespace kepler::lab::training
