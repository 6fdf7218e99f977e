#pragma once
// Errors of a model on a table of measurements, for evaluate, validate and import.
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/judging/data.h"
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
  size_t outside = 0;              // rows outside the training range of the model
  std::vector<std::string> notes;  // what was left out, and why
};

/// Reads the model and the table, and prints the notes.
[[nodiscard]] Result<Evaluated> EvaluateModel(const Evaluation& config);

/// The same of a model and a table in memory, on the rows that `is_tested` selects; the caller prints the notes.
/// `config.data` and `config.features` are not used.
[[nodiscard]] Result<Evaluated> EvaluateRows(const Evaluation& config, model::PowerModel model,
                                             const judging::DataFile& data,
                                             const std::function<bool(size_t row)>& is_tested);

}  // namespace kepler::lab::tool
