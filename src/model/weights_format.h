#pragma once
// Facts shared by the reader and the writer of weight files: the formula of each trainer, and the feature of a curve.
// Pure; internal to the room.
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
/// In files of Kepler 0.6, values of this trainer are multiplied by the scale. In all other files values are divided by
/// it.
inline constexpr std::string_view kMultiplying = "LinearRegressionTrainer";

/// Returns "SGDRegressorTrainer" for "SGDRegressorTrainer_3".
[[nodiscard]] std::string_view TrainerOf(std::string_view model_name);

/// Returns the feature on which the curves of Kepler 0.7 were fitted. Its trainers choose by feature group. In every
/// group this is the first available feature of a list, one list for memory and one for other components. Returns
/// nullptr if the feature is unknown.
[[nodiscard]] const std::string* CurveFeature(std::span<const std::string> features, Component component);

}  // namespace kepler::model
