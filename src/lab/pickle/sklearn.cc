#include "lab/pickle/sklearn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

namespace kepler::lab::pickle {
namespace {

using json::Cursor;
using Formula = decltype(model::Predictor::formula);

/// A number, alone or as the only one of an array.
Result<double> OneNumber(const Cursor& object, std::string_view key) {
  KEPLER_TRY(const Cursor at, object.Member(key));
  if (const auto number = at.Number()) return *number;
  KEPLER_TRY(const auto numbers, at.Numbers());
  if (numbers.size() != 1) return at.Refuse(fmt::format("{} numbers instead of one", numbers.size()));
  return numbers[0];
}

Result<std::vector<double>> AllNumbers(const Cursor& object, std::string_view key) {
  KEPLER_TRY(const auto numbers, object.Numbers(key));
  return std::vector(numbers.begin(), numbers.end());
}

Status MustBe(const Cursor& object, std::string_view key, std::string_view wanted) {
  KEPLER_TRY(const Cursor at, object.Member(key));
  const auto text = at.Text();
  if (!text || *text != wanted) return at.Refuse(fmt::format("only \"{}\" is supported", wanted));
  return {};
}

Result<Formula> ReadLinear(const Cursor& at, const Steps& steps) {
  KEPLER_TRY(auto weights, AllNumbers(at, "coef_"));
  KEPLER_TRY(double bias, OneNumber(at, "intercept_"));
  const size_t features = steps.scale.size();
  const size_t ones = steps.has_one ? 1 : 0;
  const size_t terms = features + (steps.has_products ? ones + features * (features + 1) / 2 : 0);
  if (weights.size() != terms) return at.Refuse(fmt::format("{} weights instead of {}", weights.size(), terms));
  if (!steps.has_products) return model::Linear{.bias = bias, .weights = std::move(weights)};
  if (steps.has_one) bias += weights[0];
  const auto first = weights.begin() + static_cast<std::ptrdiff_t>(ones);
  const auto products = first + static_cast<std::ptrdiff_t>(features);
  return model::Polynomial{.bias = bias, .weights = {first, products}, .products = {products, weights.end()}};
}

/// scikit-learn goes left if float(x) <= threshold, the formula if float(x) < value.
float Above(double threshold) {
  auto value = static_cast<float>(threshold);
  if (value > threshold) value = std::nextafter(value, -INFINITY);
  return std::nextafter(value, INFINITY);
}

/// Adds a tree whose leaves are multiplied by `rate`.
Status AddTree(const Cursor& tree, double rate, model::Trees& trees) {
  KEPLER_TRY(const Cursor nodes, tree.Member("nodes"));
  KEPLER_TRY(const auto left, nodes.Numbers("left_child"));
  KEPLER_TRY(const auto right, nodes.Numbers("right_child"));
  KEPLER_TRY(const auto feature, nodes.Numbers("feature"));
  KEPLER_TRY(const auto threshold, nodes.Numbers("threshold"));
  KEPLER_TRY(const auto values, tree.Numbers("values"));
  const auto missing = nodes.Numbers("missing_go_to_left");  // since version 1.3
  for (const size_t size :
       {right.size(), feature.size(), threshold.size(), missing ? missing->size() : left.size(), values.size()})
    if (size != left.size()) return tree.Refuse(fmt::format("{} values for {} nodes", size, left.size()));
  const auto root = static_cast<double>(trees.nodes.size());
  trees.roots.push_back(static_cast<uint32_t>(root));
  for (size_t i = 0; i < left.size(); ++i) {
    model::Trees::Node node{.value = static_cast<float>(rate * values[i])};
    if (left[i] >= 0) {
      const double last = root + std::max(left[i], right[i]);
      if (!(right[i] >= 0 && last < std::numeric_limits<uint32_t>::max() && feature[i] >= 0 &&
            feature[i] <= UINT16_MAX))
        return nodes.Refuse(fmt::format("node {} has no valid children or feature", i));
      node = {.value = Above(threshold[i]),
              .left = static_cast<uint32_t>(root + left[i]),
              .right = static_cast<uint32_t>(root + right[i]),
              .feature = static_cast<uint16_t>(feature[i]),
              .missing_left = missing && (*missing)[i] != 0};
    }
    trees.nodes.push_back(node);
  }
  return {};
}

Result<Formula> ReadBoosting(const Cursor& at, const Steps&) {
  KEPLER_TRY(const Cursor start, at.Member("init_"));
  KEPLER_TRY(const double base, OneNumber(start, "constant_"));
  KEPLER_TRY(const double rate, at.Number("learning_rate"));
  KEPLER_TRY(const auto estimators, at.Elements("estimators_"));
  model::Trees trees{.base = static_cast<float>(base), .roots = {}, .nodes = {}};
  for (const Cursor& estimator : estimators) {
    KEPLER_TRY(const Cursor tree, estimator.Member("tree_"));
    KEPLER_CHECK_OK(AddTree(tree, rate, trees));
  }
  return trees;
}

Result<Formula> ReadNeighbors(const Cursor& at, const Steps&) {
  KEPLER_CHECK_OK(MustBe(at, "weights", "uniform"));
  KEPLER_CHECK_OK(MustBe(at, "effective_metric_", "euclidean"));
  model::Neighbors neighbors;
  KEPLER_TRY(const uint64_t k, at.Count("n_neighbors", model::kMaxNeighbors));
  neighbors.k = static_cast<uint32_t>(k);
  KEPLER_TRY(neighbors.points, AllNumbers(at, "_fit_X"));
  KEPLER_TRY(neighbors.labels, AllNumbers(at, "_y"));
  return neighbors;
}

Result<Formula> ReadSupportVectors(const Cursor& at, const Steps&) {
  KEPLER_CHECK_OK(MustBe(at, "kernel", "rbf"));
  model::SupportVectors machine;
  KEPLER_TRY(machine.gamma, at.Number("_gamma"));
  KEPLER_TRY(machine.bias, OneNumber(at, "_intercept_"));
  KEPLER_TRY(machine.vectors, AllNumbers(at, "support_vectors_"));
  KEPLER_TRY(machine.coefficients, AllNumbers(at, "_dual_coef_"));
  return machine;
}

Result<Formula> ReadCurve(const Cursor& at, const Steps&) {
  constexpr std::pair<std::string_view, model::Curve::Shape> kShapes[] = {
      {".expo_func", model::Curve::Shape::kExponential},
      {".log_func", model::Curve::Shape::kLogarithmic},
      {".logi_func", model::Curve::Shape::kLogistic}};
  KEPLER_TRY(const std::string_view function, at.Text("fit_func"));
  KEPLER_TRY(const Cursor parameters, at.Member("popt"));
  KEPLER_TRY(const auto w, parameters.Numbers());
  model::Curve curve;
  KEPLER_TRY(const uint64_t feature, at.Count("feature_index"));
  curve.feature = static_cast<uint32_t>(feature);
  for (const auto& [name, shape] : kShapes) {
    if (!function.ends_with(name)) continue;
    curve.shape = shape;
    if (w.size() != (shape == model::Curve::Shape::kLogistic ? 4 : 3)) break;
    std::ranges::copy(w, curve.w.begin());
    return curve;
  }
  return parameters.Refuse(fmt::format("{} numbers do not fit {}", w.size(), function));
}

constexpr std::pair<std::string_view, Result<Formula> (*)(const Cursor&, const Steps&)> kReaders[] = {
    {"LinearRegression", ReadLinear},       {"SGDRegressor", ReadLinear}, {"GradientBoostingRegressor", ReadBoosting},
    {"KNeighborsRegressor", ReadNeighbors}, {"SVR", ReadSupportVectors},  {"CurveFitModel", ReadCurve}};

}  // namespace

Result<model::Predictor> ReadEstimator(const json::Value& estimator, const Steps& steps) {
  const Cursor at(estimator);
  KEPLER_TRY(std::string_view name, at.Text("class"));
  name.remove_prefix(name.rfind('.') + 1);
  const auto* const found = std::ranges::find(kReaders, name, [](const auto& each) { return each.first; });
  if (found == std::end(kReaders)) return at.Refuse(fmt::format("{} is not a supported model", name));
  if (steps.has_products && found->second != ReadLinear)
    return at.Refuse("PolynomialFeatures are supported before linear models only");
  model::Predictor predictor;
  KEPLER_TRY(predictor.formula, found->second(at, steps));
  KEPLER_CHECK_OK(Prepare(steps, predictor));
  return predictor;
}

}  // namespace kepler::lab::pickle
