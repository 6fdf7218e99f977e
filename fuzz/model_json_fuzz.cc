// A model file: refused with a reason, or a model that may be used and that is the same once written and read again.
#include <cmath>
#include <limits>
#include <vector>

#include "fuzz.h"
#include "model/model_json.h"

namespace model = kepler::model;

void Use(const model::PowerModel& power, double value) {
  const std::vector<double> row(power.features.size(), value);
  for (const double watts : model::EstimateRow(power, row, 3).watts)
    if (!std::isfinite(watts) || watts < 0) std::abort();
}

void Fuzz(std::string_view text) {
  const auto read = model::ReadModelJson(text);
  if (!read) {
    if (read.error().message.empty()) std::abort();
    return;
  }
  for (const double value : {0.0, 1.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) Use(*read, value);
  const auto again = model::ReadModelJson(model::WriteModelJson(*read));
  if (!again || *again != *read) std::abort();
}
