#pragma once
// What all trainers have in common: hyper-parameters, scaling, and what is checked before and after a fit. Pure.
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/training/samples.h"
#include "lab/training/trainer.h"
#include "model/predictor.h"

namespace kepler::lab::training {

/// A hyper-parameter that a trainer knows.
struct Parameter {
  std::string_view name;  // "alpha"
  double fallback;
  double min;
  double max;
  bool whole = false;
};

/// One value for each of `known`, in their order. A name that is none of theirs and a value that is out of bounds are
/// kInvalid.
[[nodiscard]] Result<std::vector<double>> ReadParameters(const TrainerOptions& options,
                                                         std::span<const Parameter> known);

/// What every trainer needs: 1 to model::kMaxFeatures columns, at least one row, a label for each, all finite, and no
/// label beyond a terawatt (whose squares would leave the range of numbers); else kInvalid.
[[nodiscard]] Status CheckSamples(const Samples& samples);

/// The largest |value| of each column, by which MaxAbs scaling divides.
[[nodiscard]] std::vector<double> MaxAbsScale(const Matrix& matrix);

/// The range of each column.
[[nodiscard]] std::vector<model::Range> RangesOf(const Matrix& matrix);

/// Each column divided by its scale, as Predict() does it: 0 where that is 0.
[[nodiscard]] Matrix Scaled(Matrix matrix, std::span<const double> scale);

/// The predictor as it is where model::Check() passes it; else the numbers of the fit left the range: kInvalid.
[[nodiscard]] Result<model::Predictor> Checked(model::Predictor predictor, const Samples& samples);

}  // namespace kepler::lab::training
