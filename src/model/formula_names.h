#pragma once
// Names of formulas and curve shapes in model files. Internal to the room.
#include <iterator>
#include <string_view>
#include <variant>

#include "model/predictor.h"

namespace kepler::model {

using Formula = decltype(Predictor::formula);

inline constexpr std::string_view kShapes[] = {"exponential", "logarithmic", "logistic"};           // as Curve::Shape
inline constexpr std::string_view kFormulas[] = {"linear",    "polynomial",      "curve", "trees",  // as the variant
                                                 "neighbors", "support_vectors", "blend"};
static_assert(std::size(kFormulas) == std::variant_size_v<Formula>);

}  // namespace kepler::model
