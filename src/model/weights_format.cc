#include "model/weights_format.h"

#include <algorithm>

namespace kepler::model {

std::string_view TrainerOf(std::string_view model_name) { return model_name.substr(0, model_name.rfind('_')); }

const std::string* CurveFeature(std::span<const std::string> features, Component component) {
  constexpr std::string_view kMemory[] = {"cache_miss", "bpf_page_cache_hit"};
  constexpr std::string_view kOther[] = {"cpu_instructions", "bpf_cpu_time_ms"};
  for (const std::string_view wanted : component == Component::kDram ? kMemory : kOther)
    if (const auto found = std::ranges::find(features, wanted); found != features.end()) return &*found;
  return features.size() == 1 ? features.data() : nullptr;
}

}  // namespace kepler::model
