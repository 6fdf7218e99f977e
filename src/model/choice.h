#pragma once
// Which model a machine shall be estimated by: one whose features there are, made on this machine or one like it, with
// the lowest error that it states for such a machine. Pure.
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/machine.h"
#include "model/model_set.h"

namespace kepler::model {

/// Below it a machine is another one, and a model of it is used only where somebody named it. So is one that does not
/// say of which machine it is, and any where this machine's processor is not known.
inline constexpr double kMinSimilarity = 0.8;

/// What an estimate can be made from here.
struct Situation {
  MachineSpec machine;
  std::function<bool(std::string_view feature)> has;  // asked for canonical names of features that count
  /// Only what load adds is wanted: models of either output say it. Else one of all the power is better than one of a
  /// part of it, whatever error they state: those errors are of different things.
  bool only_load = false;
  std::vector<bool> too_slow{};  // by index of the set, false where it is shorter: those that are not to be used
};

struct Choice {
  size_t model = 0;       // in the set
  size_t component = 0;   // in its components
  double similarity = 0;  // of the machine that it was trained on, 1 for this very one
  /// What it says of itself for a machine like this one: `accuracy` on the machine that it was trained on, `unseen`
  /// elsewhere. Nothing where the file says nothing that applies.
  std::optional<Accuracy> expected;
};

/// The best of `models` for `wanted`: one that was named before others; then AbsPower before DynPower, unless only load
/// is wanted; then those that state an error that applies, by their MAPE (one of 0 %, of rows of nothing, states none),
/// then the others by similarity; what is equal by name, version (larger first) and source. Where
/// none fits the error says of each model why not: kNotFound if none has that part, kUnavailable if one cannot be used
/// here.
[[nodiscard]] Result<Choice> ChooseModel(const ModelSet& models, Component wanted, const Situation& here);

}  // namespace kepler::model
