#pragma once
// Predictors: compute watts from a row of features. Plain values that are written to files unchanged and compared in
// tests. Pure; Predict() allocates nothing and may be called from any thread.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "base/result.h"

namespace kepler::model {

/// bias + Σ weight·x. The result of ridge, least squares with or without sign constraint, and stochastic gradient
/// descent.
struct Linear {
  double bias = 0;
  std::vector<double> weights;  // one per feature
  bool operator==(const Linear&) const = default;
};

/// Degree two: bias + Σ weight·x + Σ product·x_i·x_j for i <= j, in the order (0,0), (0,1) … (1,1) …, which is the
/// order of scikit-learn's PolynomialFeatures.
struct Polynomial {
  double bias = 0;
  std::vector<double> weights;   // n
  std::vector<double> products;  // n(n+1)/2
  bool operator==(const Polynomial&) const = default;
};

/// A curve of one feature; w as in the weight files of Kepler 0.7:
/// exponential w0·e^(w1·x) + w2, logarithmic w0·ln(w1·x + 1) + w2, logistic w0/(1 + e^(−w2(x − w1))) + w3.
struct Curve {
  enum class Shape : uint8_t { kExponential, kLogarithmic, kLogistic };
  Shape shape = Shape::kExponential;
  uint32_t feature = 0;
  std::array<double, 4> w{};
  bool operator==(const Curve&) const = default;
};

/// Boosted regression trees with XGBoost's semantics. A row goes left if float(x) < threshold. The node decides the
/// side of a missing (NaN) value. The base and the leaves are added as floats in the order of the trees.
struct Trees {
  struct Node {
    float value = 0;    // threshold, or the leaf's watts
    uint32_t left = 0;  // 0 marks a leaf: a tree's root is never a child
    uint32_t right = 0;
    uint16_t feature = 0;
    bool missing_left = false;
    bool operator==(const Node&) const = default;
  };
  float base = 0;
  // Ascending indices in nodes. A tree ends at the next root. A child has one parent and a larger index than the
  // parent.
  std::vector<uint32_t> roots;
  std::vector<Node> nodes;
  bool operator==(const Trees&) const = default;
};

/// Maximum k: the nearest rows are kept on the stack.
inline constexpr size_t kMaxNeighbors = 64;

/// The mean of the k nearest rows (Euclidean distance). On ties the earlier row is nearer.
struct Neighbors {
  uint32_t k = 1;
  std::vector<double> points;  // row-major: labels.size() rows, one column per feature
  std::vector<double> labels;
  bool operator==(const Neighbors&) const = default;
};

/// Support vector regression with a radial kernel: Σ coefficient·e^(−gamma·|x − vector|²) + bias.
struct SupportVectors {
  double gamma = 1;
  double bias = 0;
  std::vector<double> vectors;  // row-major
  std::vector<double> coefficients;
  bool operator==(const SupportVectors&) const = default;
};

struct Predictor;

/// Σ weight·part. Weights are >= 0 and sum to 1; a part is never a blend.
struct Blend {
  std::vector<double> weights;
  std::vector<Predictor> parts;
  bool operator==(const Blend&) const;
};

/// The range of one feature, or of the label.
struct Range {
  double min = 0;
  double max = 0;
  bool operator==(const Range&) const = default;
};

/// A formula and the preparation of its row: each value is limited to `limits`, then divided by `scale` (a scale of 0
/// gives 0). Empty vectors leave the values unchanged. A blend's parts have their own limits and scales.
struct Predictor {
  std::vector<Range> limits;  // empty, or one per feature
  std::vector<double> scale;  // empty, or one per feature
  std::variant<Linear, Polynomial, Curve, Trees, Neighbors, SupportVectors, Blend> formula;
  bool operator==(const Predictor&) const = default;
};

/// Checks that the predictor can be used with rows of `features` values: sizes match, indices are valid, every tree
/// ends, numbers are finite. A predictor from a file must pass before use. The error is kMalformed and begins with the
/// field's name in model files: "parts[1].weights: …".
[[nodiscard]] Status Check(const Predictor& predictor, size_t features);

/// Returns true if a row's value of `feature` may affect the result: weight files contain features without a weight.
/// The result may be true for a feature that a formula of many parts never uses.
[[nodiscard]] bool Counts(const Predictor& predictor, size_t feature);

/// Returns the formula's watts, which may be negative. Far outside the training range they may be infinite or NaN.
/// `row` has the number of values given to Check(), at most kMaxFeatures. A missing value (NaN) with an effect makes
/// the result NaN, except in trees.
[[nodiscard]] double Predict(const Predictor& predictor, std::span<const double> row);

}  // namespace kepler::model
