// A weight file under the name of every trainer: what is read passes its check, and what can be written comes back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "model/weights_json.h"

namespace model = kepler::model;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string_view name :
       {"LinearRegressionTrainer_0", "ExponentialRegressionTrainer_0", "LogisticRegressionTrainer_0", "x"}) {
    const auto read = model::ReadWeightsJson(text, name);
    if (!read) continue;
    if (!model::Check(*read)) std::abort();
    static_cast<void>(model::EstimateRow(*read, std::vector<double>(read->features.size(), 1e9), 1));
    const auto written = model::WriteWeightsJson(*read);
    if (!written) continue;
    const auto again = model::ReadWeightsJson(*written, name);
    if (!again || again->features != read->features || again->machine != read->machine) std::abort();
    for (size_t i = 0; i < read->components.size(); ++i)
      if (!(again->components.at(i).predictor == read->components[i].predictor)) std::abort();
  }
  return 0;
}
