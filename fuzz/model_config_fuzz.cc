// MODEL_CONFIG of any environment: every warning says something, on one line, and every place is one.
#include "apps/kepler/model_config.h"
#include "fuzz.h"

void Fuzz(std::string_view text) {
  const auto config = kepler::agent::ReadModelConfig(text);
  if (config.places.size() > 2 || config.warnings.size() > 21) std::abort();
  for (const auto& place : config.places)
    if (place.shown.empty() || place.path.empty() == !place.url) std::abort();
  for (const auto& warning : config.warnings)
    if (warning.empty() || warning.contains('\n')) std::abort();
}
