#include "model/zero_components.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kepler::model {
namespace {

bool IsSmall(double watts) { return std::abs(watts) < kSmallestWatts; }
bool IsNothing(double number) { return number == 0; }

bool IsZeroFormula(const Linear& linear, const Predictor& predictor) {
  for (size_t i = 0; i < linear.weights.size(); ++i)
    if (Counts(predictor, i)) return false;
  return IsSmall(linear.bias);
}

bool IsZeroFormula(const Polynomial& polynomial, const Predictor&) {
  return IsSmall(polynomial.bias) && std::ranges::all_of(polynomial.weights, IsNothing) &&
         std::ranges::all_of(polynomial.products, IsNothing);
}

bool IsZeroFormula(const Curve& curve, const Predictor&) {
  return curve.w[0] == 0 && IsSmall(curve.shape == Curve::Shape::kLogistic ? curve.w[3] : curve.w[2]);
}

/// The sum of the smallest leaves and the sum of the largest leaves limit every prediction.
bool IsZeroFormula(const Trees& trees, const Predictor&) {
  double least = trees.base;
  double most = trees.base;
  for (size_t i = 0; i < trees.roots.size(); ++i) {
    const auto begin = trees.nodes.begin() + trees.roots[i];
    const auto end = i + 1 < trees.roots.size() ? trees.nodes.begin() + trees.roots[i + 1] : trees.nodes.end();
    double smallest = INFINITY;
    double largest = -INFINITY;
    for (auto node = begin; node != end; ++node) {
      if (node->left != 0) continue;
      smallest = std::min<double>(smallest, node->value);
      largest = std::max<double>(largest, node->value);
    }
    least += smallest;
    most += largest;
  }
  return IsSmall(least) && IsSmall(most);
}

bool IsZeroFormula(const Neighbors& neighbors, const Predictor&) {
  return std::ranges::all_of(neighbors.labels, IsSmall);
}

bool IsZeroFormula(const SupportVectors& vectors, const Predictor&) {
  return IsSmall(vectors.bias) && std::ranges::all_of(vectors.coefficients, IsNothing);
}

bool IsZeroFormula(const Blend& blend, const Predictor&) { return std::ranges::all_of(blend.parts, IsZero); }

}  // namespace

bool IsZero(const Predictor& predictor) {
  return std::visit([&](const auto& formula) { return IsZeroFormula(formula, predictor); }, predictor.formula);
}

Result<std::vector<Component>> DropZeroComponents(PowerModel& model) {
  std::vector<Component> dropped;
  for (const ComponentModel& component : model.components)
    if (IsZero(component.predictor)) dropped.push_back(component.component);
  if (dropped.size() == model.components.size())
    return Fail(ErrorKind::kInvalid,
                fmt::format("components: {} and every other component give 0 W for every row, because the training "
                            "data has no power; use a model of metered machines",
                            Name(dropped.front())));
  std::erase_if(model.components, [](const ComponentModel& component) { return IsZero(component.predictor); });
  return dropped;
}

}  // namespace kepler::model
