#include "lab/pickle/sklearn.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
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

constexpr std::pair<std::string_view, Result<Formula> (*)(const Cursor&, const Steps&)> kReaders[] = {
    {"LinearRegression", ReadLinear}, {"SGDRegressor", ReadLinear}};

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
