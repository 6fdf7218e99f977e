// A booster of XGBoost, cut and changed anywhere: what is read passes its check, and predicts for any row.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "model/xgboost_json.h"

namespace model = kepler::model;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto read = model::ReadXgboostJson({reinterpret_cast<const char*>(data), size});
  if (!read || read->feature_count == 0) return 0;
  model::Predictor predictor;
  predictor.formula = std::move(read->trees);
  if (!model::Check(predictor, read->feature_count)) std::abort();
  for (const double value : {0.0, -1e300, 1e300, std::numeric_limits<double>::quiet_NaN()})
    static_cast<void>(model::Predict(predictor, std::vector<double>(read->feature_count, value)));
  return 0;
}
