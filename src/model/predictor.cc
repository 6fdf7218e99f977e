#include "model/predictor.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "model/features.h"

namespace kepler::model {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A missing value has an effect only if its weight is not 0.
double Apply(const Linear& formula, std::span<const double> x) {
  double watts = formula.bias;
  for (size_t i = 0; i < x.size(); ++i)
    if (formula.weights[i] != 0) watts += formula.weights[i] * x[i];
  return watts;
}

double Apply(const Polynomial& formula, std::span<const double> x) {
  double watts = formula.bias;
  for (size_t i = 0; i < x.size(); ++i) watts += formula.weights[i] * x[i];
  const double* product = formula.products.data();
  for (size_t i = 0; i < x.size(); ++i)
    for (size_t j = i; j < x.size(); ++j) watts += *product++ * x[i] * x[j];
  return watts;
}

double Apply(const Curve& formula, std::span<const double> row) {
  const auto& w = formula.w;
  const double x = row[formula.feature];
  switch (formula.shape) {
    case Curve::Shape::kExponential:
      return w[0] * std::exp(w[1] * x) + w[2];
    case Curve::Shape::kLogarithmic:
      return w[0] * std::log(w[1] * x + 1) + w[2];
    case Curve::Shape::kLogistic:
      return w[0] / (1 + std::exp(-w[2] * (x - w[1]))) + w[3];
  }
  return kNan;
}

double Apply(const Trees& formula, std::span<const double> row) {
  std::array<float, kMaxFeatures> x;  // unwritten elements are never read
  for (size_t i = 0; i < row.size(); ++i) x[i] = static_cast<float>(row[i]);
  float watts = formula.base;
  for (const uint32_t root : formula.roots) {
    const Trees::Node* node = &formula.nodes[root];
    while (node->left != 0) {
      const float value = x[node->feature];
      const bool left = std::isnan(value) ? node->missing_left : value < node->value;
      node = &formula.nodes[left ? node->left : node->right];
    }
    watts += node->value;
  }
  return static_cast<double>(watts);
}

double SquaredDistance(std::span<const double> x, const double* point) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double difference = x[i] - point[i];
    sum += difference * difference;
  }
  return sum;
}

double Apply(const Neighbors& formula, std::span<const double> x) {
  struct Near {
    double distance;
    double label;
  };
  std::array<Near, kMaxNeighbors> nearest;  // the first `found`, nearest first
  size_t found = 0;
  for (size_t row = 0; row < formula.labels.size(); ++row) {
    const double distance = SquaredDistance(x, formula.points.data() + row * x.size());
    if (std::isnan(distance)) return kNan;
    if (found == formula.k && !(distance < nearest[found - 1].distance)) continue;
    size_t place = found < formula.k ? found++ : found - 1;
    for (; place > 0 && distance < nearest[place - 1].distance; --place) nearest[place] = nearest[place - 1];
    nearest[place] = {distance, formula.labels[row]};
  }
  double sum = 0;
  for (size_t i = 0; i < found; ++i) sum += nearest[i].label;
  return sum / static_cast<double>(found);
}

double Apply(const SupportVectors& formula, std::span<const double> x) {
  double watts = formula.bias;
  const double* vector = formula.vectors.data();
  for (const double coefficient : formula.coefficients) {
    watts += coefficient * std::exp(-formula.gamma * SquaredDistance(x, vector));
    vector += x.size();
  }
  return watts;
}

double Apply(const Blend& formula, std::span<const double> x) {
  double watts = 0;
  for (size_t i = 0; i < formula.parts.size(); ++i) watts += formula.weights[i] * Predict(formula.parts[i], x);
  return watts;
}

std::unexpected<Error> Malformed(std::string message) { return Fail(ErrorKind::kMalformed, std::move(message)); }

Status CheckCount(std::string_view what, size_t count, size_t wanted, size_t features) {
  if (count == wanted) return {};
  return Malformed(std::string(what) + ": " + std::to_string(count) + " numbers, expected " + std::to_string(wanted) +
                   " for " + std::to_string(features) + " features");
}

Status CheckFinite(std::string_view what, double value) {
  if (std::isfinite(value)) return {};
  return Malformed(std::string(what) + ": not a finite number");
}

Status CheckFinite(std::string_view what, std::span<const double> values) {
  const auto bad = std::ranges::find_if_not(values, [](double value) { return std::isfinite(value); });
  if (bad == values.end()) return {};
  return CheckFinite(std::string(what) + '[' + std::to_string(bad - values.begin()) + ']', *bad);
}

Status CheckNumbers(std::string_view what, std::span<const double> values, size_t wanted, size_t features) {
  KEPLER_CHECK_OK(CheckCount(what, values.size(), wanted, features));
  return CheckFinite(what, values);
}

Status CheckFormula(const Linear& formula, size_t features) {
  KEPLER_CHECK_OK(CheckFinite("bias", formula.bias));
  return CheckNumbers("weights", formula.weights, features, features);
}

Status CheckFormula(const Polynomial& formula, size_t features) {
  KEPLER_CHECK_OK(CheckFinite("bias", formula.bias));
  KEPLER_CHECK_OK(CheckNumbers("weights", formula.weights, features, features));
  return CheckNumbers("products", formula.products, features * (features + 1) / 2, features);
}

Status CheckFeature(std::string_view what, size_t feature, size_t features) {
  if (feature < features) return {};
  return Malformed(std::string(what) + ": no feature " + std::to_string(feature) + "; the model has " +
                   std::to_string(features) + ", counted from 0");
}

Status CheckFormula(const Curve& formula, size_t features) {
  KEPLER_CHECK_OK(CheckFeature("feature", formula.feature, features));
  return CheckFinite("w", formula.w);
}

/// `end` is the start of the next tree. Marks the child in `seen`.
Status CheckChild(std::string_view side, size_t parent, size_t child, size_t end, std::vector<bool>& seen) {
  const std::string where = std::string(side) + '[' + std::to_string(parent) + "]: " + std::to_string(child);
  if (child <= parent || child >= end)
    return Malformed(where + "; a child must be after its parent and before the end of its tree, " +
                     std::to_string(end) + "; a leaf has 0 for both children");
  if (seen[child]) return Malformed(where + " is already the child of another node");
  seen[child] = true;
  return {};
}

Status CheckRoots(const Trees& formula) {
  for (size_t i = 0; i < formula.roots.size(); ++i)
    if (formula.roots[i] >= formula.nodes.size() || (i > 0 && formula.roots[i] <= formula.roots[i - 1]))
      return Malformed("roots[" + std::to_string(i) + "]: " + std::to_string(formula.roots[i]) +
                       "; roots must ascend and be less than the number of nodes, " +
                       std::to_string(formula.nodes.size()));
  return {};
}

/// Trees are stored one after another and share no nodes. A row therefore visits no node twice, and the number of nodes
/// limits the time of a prediction.
Status CheckFormula(const Trees& formula, size_t features) {
  KEPLER_CHECK_OK(CheckFinite("base", static_cast<double>(formula.base)));
  KEPLER_CHECK_OK(CheckRoots(formula));
  std::vector<bool> seen(formula.nodes.size());
  auto next_root = formula.roots.begin();
  size_t end = 0;
  for (size_t i = 0; i < formula.nodes.size(); ++i) {
    const auto& node = formula.nodes[i];
    if (next_root != formula.roots.end() && i == *next_root) {
      ++next_root;
      end = next_root == formula.roots.end() ? formula.nodes.size() : *next_root;
    } else if (!seen[i]) {
      return Malformed("nodes: " + std::to_string(i) + " is neither a root nor a child");
    }
    if (!std::isfinite(node.value)) return Malformed("value[" + std::to_string(i) + "]: not a finite number");
    if (node.left == 0 && node.right == 0) continue;
    KEPLER_CHECK_OK(CheckChild("left", i, node.left, end, seen));
    KEPLER_CHECK_OK(CheckChild("right", i, node.right, end, seen));
    if (node.feature >= features) return CheckFeature("feature[" + std::to_string(i) + ']', node.feature, features);
  }
  return {};
}

Status CheckFormula(const Neighbors& formula, size_t features) {
  if (formula.k == 0 || formula.k > kMaxNeighbors || formula.k > formula.labels.size())
    return Malformed("k: " + std::to_string(formula.k) + "; it must be 1 to " +
                     std::to_string(std::min(kMaxNeighbors, formula.labels.size())) + " (there are " +
                     std::to_string(formula.labels.size()) + " rows, and the maximum is " +
                     std::to_string(kMaxNeighbors) + ")");
  KEPLER_CHECK_OK(CheckFinite("labels", formula.labels));
  return CheckNumbers("points", formula.points, formula.labels.size() * features, features);
}

Status CheckFormula(const SupportVectors& formula, size_t features) {
  KEPLER_CHECK_OK(CheckFinite("bias", formula.bias));
  if (!(std::isfinite(formula.gamma) && formula.gamma >= 0)) return Malformed("gamma: must be a non-negative number");
  KEPLER_CHECK_OK(CheckFinite("coefficients", formula.coefficients));
  return CheckNumbers("vectors", formula.vectors, formula.coefficients.size() * features, features);
}

Status CheckFormula(const Blend& formula, size_t features) {
  if (formula.parts.empty()) return Malformed("parts: a blend needs at least one part");
  if (formula.weights.size() != formula.parts.size())
    return Malformed("weights: " + std::to_string(formula.weights.size()) + " numbers for " +
                     std::to_string(formula.parts.size()) + " parts");
  double sum = 0;
  for (size_t i = 0; i < formula.parts.size(); ++i) {
    if (!(std::isfinite(formula.weights[i]) && formula.weights[i] >= 0))
      return Malformed("weights[" + std::to_string(i) + "]: must be a non-negative number");
    sum += formula.weights[i];
    const std::string where = "parts[" + std::to_string(i) + ']';
    if (std::holds_alternative<Blend>(formula.parts[i].formula))
      return Malformed(where + ": a blend must not contain a blend");
    if (auto status = Check(formula.parts[i], features); !status)
      return Malformed(where + '.' + status.error().message);
  }
  if (std::abs(sum - 1) > 1e-6) return Malformed("weights: their sum is " + std::to_string(sum) + ", expected 1");
  return {};
}

}  // namespace

bool Blend::operator==(const Blend&) const = default;

Status Check(const Predictor& predictor, size_t features) {
  if (features == 0 || features > kMaxFeatures)
    return Malformed("features: " + std::to_string(features) + "; a model must have 1 to " +
                     std::to_string(kMaxFeatures));
  if (!predictor.limits.empty()) KEPLER_CHECK_OK(CheckCount("limits", predictor.limits.size(), features, features));
  for (size_t i = 0; i < predictor.limits.size(); ++i)
    if (const auto& limit = predictor.limits[i];
        !(std::isfinite(limit.min) && std::isfinite(limit.max) && limit.min <= limit.max))
      return Malformed("limits[" + std::to_string(i) + "]: not two finite numbers in ascending order");
  if (!predictor.scale.empty()) KEPLER_CHECK_OK(CheckNumbers("scale", predictor.scale, features, features));
  return std::visit([features](const auto& formula) { return CheckFormula(formula, features); }, predictor.formula);
}

bool Counts(const Predictor& predictor, size_t feature) {
  if (!predictor.scale.empty() && predictor.scale[feature] == 0) return false;
  if (const auto* const linear = std::get_if<Linear>(&predictor.formula)) return linear->weights[feature] != 0;
  if (const auto* const curve = std::get_if<Curve>(&predictor.formula)) return curve->feature == feature;
  return true;
}

double Predict(const Predictor& predictor, std::span<const double> row) {
  std::array<double, kMaxFeatures> changed;
  auto x = row;
  if (!predictor.limits.empty() || !predictor.scale.empty()) {
    std::ranges::copy(row, changed.begin());
    for (size_t i = 0; i < predictor.limits.size(); ++i)  // NaN stays NaN: the formula handles a missing value
      changed[i] = std::clamp(changed[i], predictor.limits[i].min, predictor.limits[i].max);
    for (size_t i = 0; i < predictor.scale.size(); ++i)
      changed[i] = predictor.scale[i] == 0 ? 0 : changed[i] / predictor.scale[i];
    x = {changed.data(), row.size()};
  }
  return std::visit([x](const auto& formula) { return Apply(formula, x); }, predictor.formula);
}

}  // namespace kepler::model
