#pragma once
// Fits models to a table and predicts each of its rows by one that has not seen it. No I/O.
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/judging/data.h"
#include "lab/training/auto.h"
#include "lab/training/samples.h"
#include "lab/training/trainer.h"
#include "lab/training/validation.h"
#include "model/power_model.h"

namespace kepler::lab::judging {

/// What a model is fitted to.
struct Measurements {
  std::vector<std::string> features;  // canonical
  training::Matrix rows;
  std::vector<Target> targets;
  std::vector<std::vector<double>> labels;  // of each target, one a row
  std::vector<uint32_t> groups;             // none, or one a row
  std::vector<double> cores{};              // logical CPUs of each row's machine; only for models per core
};

/// How it is fitted.
struct Recipe {
  const training::Trainer* trainer = nullptr;  // none: auto
  training::TrainerOptions options;
  model::OutputType output = model::OutputType::kAbsPower;
  model::Per per = model::Per::kMachine;
  training::Search search{};  // auto's, in each fit
};

/// What is reported of one component.
struct Figures {
  Target target;
  std::string trainer{};
  training::Errors errors{};
  std::optional<training::Errors> of_mean{};       // of predicting the mean of the training rows
  std::vector<training::CandidateScore> scores{};  // what auto has weighed up; empty for other trainers
  size_t searched = 0;                             // how many it tried at random
};

struct Fit {
  model::PowerModel model;       // its components in the order of the targets
  std::vector<Figures> figures;  // of each target, without errors
};

/// The values of these rows.
[[nodiscard]] std::vector<double> Pick(std::span<const double> values, std::span<const size_t> rows);

/// A model of `rows` (indices) and nothing else. Labels that are all the same give a constant.
[[nodiscard]] Result<Fit> FitModel(const Measurements& all, const Recipe& recipe, std::span<const size_t> rows);

/// What `model` says for `rows`, of each target. `cores`: as in Measurements.
[[nodiscard]] std::vector<std::vector<double>> PredictRows(const model::PowerModel& model, const training::Matrix& all,
                                                           std::span<const Target> targets,
                                                           std::span<const size_t> rows, std::span<const double> cores);

struct OutOfFold {
  std::vector<size_t> rows;                      // that were tested, ascending
  std::vector<std::vector<double>> predictions;  // of each target
  std::vector<training::Errors> errors;          // of each target
  std::vector<training::Errors> of_mean;         // of predicting the mean of the rows that trained
};

/// Errors on the rows of one machine, by models of the others.
struct MachineErrors {
  std::string name;
  std::vector<training::Errors> errors;  // of each target
};
/// Returns the errors on each machine in `column`, in the order of their first rows.
[[nodiscard]] Result<std::vector<MachineErrors>> ErrorsByMachine(const DataFile& data, std::string_view column,
                                                                 const Measurements& all, const OutOfFold& judged);

/// Every row of a fold's test, predicted by a model of its training rows; where there are groups, of those whose group
/// is not tested. `report` is called before each fold.
[[nodiscard]] Result<OutOfFold> PredictOutOfFold(const Measurements& all, const Recipe& recipe,
                                                 std::span<const training::Fold> folds,
                                                 const std::function<void(size_t fold)>& report);

}  // namespace kepler::lab::judging
