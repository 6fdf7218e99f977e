#pragma once
// From a row of features to watts: what a trained model computes. Plain values that are written to files as they are
// and compared in tests. Pure; Predict() allocates nothing and may be called from any thread.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "base/result.h"

namespace kepler::model {

/// bias + Σ weight·x. Ridge, least squares with or without sign, stochastic descent: all end here.
struct Linear {
  double bias = 0;
  std::vector<double> weights;  // one a feature
  bool operator==(const Linear&) const = default;
};

/// Degree two: bias + Σ weight·x + Σ product·x_i·x_j for i <= j, in the order (0,0), (0,1) … (1,1) …, which is that of
/// scikit-learn's PolynomialFeatures.
struct Polynomial {
  double bias = 0;
  std::vector<double> weights;   // n
  std::vector<double> products;  // n(n+1)/2
  bool operator==(const Polynomial&) const = default;
};

/// One feature through a curve; w as in the weight files of Kepler 0.7:
/// exponential w0·e^(w1·x) + w2, logarithmic w0·ln(w1·x + 1) + w2, logistic w0/(1 + e^(−w2(x − w1))) + w3.
struct Curve {
  enum class Shape : uint8_t { kExponential, kLogarithmic, kLogistic };
  Shape shape = Shape::kExponential;
  uint32_t feature = 0;
  std::array<double, 4> w{};
  bool operator==(const Curve&) const = default;
};

/// Boosted regression trees with XGBoost's semantics: a row goes left where float(x) < threshold, a missing (NaN) value
/// where the node says; base and leaves are added as floats in the order of the trees.
struct Trees {
  struct Node {
    float value = 0;    // threshold, or the leaf's watts
    uint32_t left = 0;  // 0 is a leaf: the root of a tree is nobody's child
    uint32_t right = 0;
    uint16_t feature = 0;
    bool missing_left = false;
    bool operator==(const Node&) const = default;
  };
  float base = 0;
  std::vector<uint32_t> roots;  // into nodes, ascending; a tree's nodes are those before the next root, children have
                                // larger indices than their parent, of which each has one
  std::vector<Node> nodes;
  bool operator==(const Trees&) const = default;
};

/// No model asks more of its rows: what is nearest is kept on the stack.
inline constexpr size_t kMaxNeighbors = 64;

/// The mean of the k nearest rows (Euclidean); equally far ones: the earlier row.
struct Neighbors {
  uint32_t k = 1;
  std::vector<double> points;  // row-major, labels.size() rows of as many columns as there are features
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

/// Σ weight·part. Weights are >= 0 and sum to 1; parts are no blends themselves.
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

/// A formula, and what is done to a row before: each value is held within `limits`, then divided by `scale` (0 gives
/// 0). Empty: left as it is. A blend's parts have limits and scales of their own.
struct Predictor {
  std::vector<Range> limits;  // none, or one a feature
  std::vector<double> scale;  // none, or one a feature
  std::variant<Linear, Polynomial, Curve, Trees, Neighbors, SupportVectors, Blend> formula;
  bool operator==(const Predictor&) const = default;
};

/// Whether it can be used with rows of `features` values: sizes fit, indices are inside, every tree ends, numbers are
/// finite. What is read from a file is checked with this before it is used; what fails is kMalformed and says what,
/// beginning with the field as model files name it: "parts[1].weights: …".
[[nodiscard]] Status Check(const Predictor& predictor, size_t features);

/// Whether a row's value of `feature` can matter: weight files name features that they give no weight. May say so of
/// one that a formula of many parts never uses.
[[nodiscard]] bool Counts(const Predictor& predictor, size_t feature);

/// Watts as the formula has it: may be negative or, far outside what was trained on, not finite. `row` has as many
/// values as Check() was told, at most kMaxFeatures. A value that is missing (NaN) makes it NaN wherever it counts,
/// except in trees.
[[nodiscard]] double Predict(const Predictor& predictor, std::span<const double> row);

}  // namespace kepler::model
