#pragma once
// MODEL_CONFIG, the environment variable that configures the power models of Kepler 0.7: KEY=VALUE pairs, separated by
// white space. Pure.
#include <string>
#include <string_view>
#include <vector>

#include "model_store/place.h"

namespace kepler::agent {

struct ModelConfig {
  std::vector<model_store::Place> places;  // of NODE_TOTAL_INIT_URL and NODE_COMPONENTS_INIT_URL
  std::vector<std::string> warnings;       // of all else: what is not done, and what to do instead; some 20 at most
};

/// Of a key that stands twice the last one counts; lines that begin with # say nothing.
[[nodiscard]] ModelConfig ReadModelConfig(std::string_view text);

}  // namespace kepler::agent
