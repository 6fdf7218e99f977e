// A booster of XGBoost, cut and changed anywhere: what is read passes its check, and predicts for any row.
#include <limits>
#include <utility>
#include <vector>

#include "fuzz.h"
#include "model/xgboost_json.h"

namespace model = kepler::model;

void Fuzz(std::string_view text) {
  auto read = model::ReadXgboostJson(text);
  if (!read || read->feature_count == 0) return;
  model::Predictor predictor;
  predictor.formula = std::move(read->trees);
  if (!model::Check(predictor, read->feature_count)) std::abort();
  for (const double value : {0.0, -1e300, 1e300, std::numeric_limits<double>::quiet_NaN()})
    static_cast<void>(model::Predict(predictor, std::vector<double>(read->feature_count, value)));
}
