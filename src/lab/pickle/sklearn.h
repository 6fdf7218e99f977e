#pragma once
// Models of scikit-learn as formulas, from their pickles (pickle.h). Pure.
#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "json/document.h"
#include "model/predictor.h"

namespace kepler::lab::pickle {

/// Preparation of a row: each feature becomes x ÷ scale + shift. Then the products of two features may be added.
struct Steps {
  std::vector<double> scale;
  std::vector<double> shift;
  bool has_products = false;
  bool has_one = false;  // before the features, with products
};

/// Reads scalers (MaxAbsScaler, MinMaxScaler, StandardScaler), and PolynomialFeatures of degree 2 as the last one.
[[nodiscard]] Result<Steps> ReadSteps(std::span<const json::Value> steps, size_t features);

/// Makes a formula of prepared rows one of raw rows. Scalers that shift are not supported for curves.
[[nodiscard]] Status Prepare(const Steps& steps, model::Predictor& predictor);

/// Reads LinearRegression, SGDRegressor, GradientBoostingRegressor, KNeighborsRegressor and SVR of scikit-learn, and
/// the curves of Kepler's model server (CurveFitModel). The result has not passed Check(). Errors name the attribute.
[[nodiscard]] Result<model::Predictor> ReadEstimator(const json::Value& estimator, const Steps& steps);

}  // namespace kepler::lab::pickle
