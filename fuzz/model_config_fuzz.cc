// MODEL_CONFIG of any environment: every warning says something, on one line, and every place is one.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "apps/kepler/model_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto config = kepler::agent::ReadModelConfig({reinterpret_cast<const char*>(data), size});
  if (config.places.size() > 2 || config.warnings.size() > 21) std::abort();
  for (const auto& place : config.places)
    if (place.shown.empty() || place.path.empty() == !place.url) std::abort();
  for (const auto& warning : config.warnings)
    if (warning.empty() || warning.contains('\n')) std::abort();
  return 0;
}
