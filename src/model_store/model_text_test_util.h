#pragma once
// For tests: the text of a model.
#include <string>
#include <utility>

#include "model/model_json.h"

namespace kepler::model_store {

inline std::string ModelText(std::string name, uint32_t version = 1) {
  model::PowerModel power;
  power.name = std::move(name);
  power.version = version;
  power.features = {"cpu_cycles"};
  model::ComponentModel& component = power.components.emplace_back();
  component.trainer = "linear";
  component.predictor.formula = model::Linear{.bias = 10, .weights = {1e-8}};
  return model::WriteModelJson(power);
}

}  // namespace kepler::model_store
