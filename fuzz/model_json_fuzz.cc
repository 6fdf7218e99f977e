// A model file: refused with a reason, or a model that may be used and that is the same once written and read again.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <vector>

#include "model/model_json.h"

namespace model = kepler::model;

void Use(const model::PowerModel& power, double value) {
  const std::vector<double> row(power.features.size(), value);
  for (const double watts : model::EstimateRow(power, row, 3).watts)
    if (!std::isfinite(watts) || watts < 0) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto read = model::ReadModelJson({reinterpret_cast<const char*>(data), size});
  if (!read) {
    if (read.error().message.empty()) std::abort();
    return 0;
  }
  for (const double value : {0.0, 1.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) Use(*read, value);
  const auto again = model::ReadModelJson(model::WriteModelJson(*read));
  if (!again || *again != *read) std::abort();
  return 0;
}
