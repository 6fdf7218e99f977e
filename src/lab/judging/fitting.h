#pragma once
// Fits models to a table, and predicts each row by a model that was fitted without it. No I/O.
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

/// The data to which a model is fitted.
struct Measurements {
  std::vector<std::string> features;  // canonical
  training::Matrix rows;
  std::vector<Target> targets;
  std::vector<std::vector<double>> labels;  // per target: one per row
  std::vector<uint32_t> groups;             // empty, or one per row
  std::vector<double> cores{};              // logical CPUs of each row's machine; only for models per core
};

/// The way to fit a model.
struct Recipe {
  const training::Trainer* trainer = nullptr;  // null: auto
  training::TrainerOptions options;
  model::OutputType output = model::OutputType::kAbsPower;
  model::Per per = model::Per::kMachine;
  training::Search search{};  // of auto, in each fit
};

/// The report on one component.
struct Figures {
  Target target;
  std::string trainer{};
  training::Errors errors{};
  std::optional<training::Errors> of_mean{};       // errors if the prediction is the mean of the training rows
  std::vector<training::CandidateScore> scores{};  // candidates of auto; empty for other trainers
  size_t searched = 0;                             // number of candidates that auto tried at random
};

struct Fit {
  model::PowerModel model;       // its components in the order of the targets
  std::vector<Figures> figures;  // of each target, without errors
};

/// Returns the values of these rows.
[[nodiscard]] std::vector<double> Pick(std::span<const double> values, std::span<const size_t> rows);

/// Fits a model to `rows` (indices) only. If all labels are equal, the model is a constant.
[[nodiscard]] Result<Fit> FitModel(const Measurements& all, const Recipe& recipe, std::span<const size_t> rows);

/// Returns the predictions of `model` for `rows`, per target. `cores`: as in Measurements.
[[nodiscard]] std::vector<std::vector<double>> PredictRows(const model::PowerModel& model, const training::Matrix& all,
                                                           std::span<const Target> targets,
                                                           std::span<const size_t> rows, std::span<const double> cores);

struct OutOfFold {
  std::vector<size_t> rows;                      // tested rows, ascending
  std::vector<std::vector<double>> predictions;  // per target
  std::vector<training::Errors> errors;          // per target
  std::vector<training::Errors> of_mean;         // errors if the prediction is the mean of the training rows
};

/// Errors on the rows of one machine, by models of the others.
struct MachineErrors {
  std::string name;
  std::vector<training::Errors> errors;  // per target
};
/// Returns the errors on each machine in `column`, in the order of their first rows.
[[nodiscard]] Result<std::vector<MachineErrors>> ErrorsByMachine(const DataFile& data, std::string_view column,
                                                                 const Measurements& all, const OutOfFold& judged);

/// Predicts the test rows of each fold by a model of its training rows. If there are groups, training rows of a tested
/// group are left out. Calls `report` before each fold.
[[nodiscard]] Result<OutOfFold> PredictOutOfFold(const Measurements& all, const Recipe& recipe,
                                                 std::span<const training::Fold> folds,
                                                 const std::function<void(size_t fold)>& report);

}  // namespace kepler::lab::judging
