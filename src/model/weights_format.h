#pragma once
// What reader and writer of weight files have to agree on: which trainer means which formula, and of which feature a
// curve is. Pure; internal to the room.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "model/power_model.h"
#include "model/predictor.h"

namespace kepler::model {

struct CurveKind {
  std::string_view trainer;
  Curve::Shape shape;
  size_t weights;
};
inline constexpr CurveKind kCurves[] = {{"ExponentialRegressionTrainer", Curve::Shape::kExponential, 3},
                                        {"LogarithmicRegressionTrainer", Curve::Shape::kLogarithmic, 3},
                                        {"LogisticRegressionTrainer", Curve::Shape::kLogistic, 4}};
inline constexpr std::string_view kLinearTrainer = "SGDRegressorTrainer";
/// In files of Kepler 0.6 its scale is what values are multiplied by, and everywhere else what they are divided by.
inline constexpr std::string_view kMultiplying = "LinearRegressionTrainer";

/// "SGDRegressorTrainer" of "SGDRegressorTrainer_3".
[[nodiscard]] std::string_view TrainerOf(std::string_view model_name);

/// Which feature the curves of Kepler 0.7 were fitted on: its trainers go by the feature group, and in every group that
/// is the first of these that it has, for memory and for all else. nullptr where that is not known.
[[nodiscard]] const std::string* CurveFeature(std::span<const std::string> features, Component component);

}  // namespace kepler::model
