#pragma once
// What evaluate and validate have in common: the errors of a model on a table of measurements.
#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/judging/fitting.h"
#include "model/power_model.h"

namespace kepler::lab::tool {

struct Evaluation {
  std::string model;
  std::string data;
  std::vector<std::string> features;
  std::vector<std::string> target;
  std::vector<std::string> component;
  std::string machine;
};

struct Evaluated {
  model::PowerModel model;
  std::vector<judging::Figures> figures;  // of each component that the table measures
  size_t rows = 0;
  size_t outside = 0;  // rows outside the training range of the model
};

[[nodiscard]] Result<Evaluated> EvaluateModel(const Evaluation& config);

}  // namespace kepler::lab::tool
