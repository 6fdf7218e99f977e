// A weight file under the name of every trainer: what is read passes its check, and what can be written comes back.
#include <vector>

#include "fuzz.h"
#include "model/weights_json.h"

namespace model = kepler::model;

void Fuzz(std::string_view text) {
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
}
