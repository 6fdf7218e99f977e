#pragma once
// Chooses the model for a machine. Its features must be available, and it must be trained on this machine or a similar
// one. Among such models, the one with the lowest stated error is chosen. Pure.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/machine.h"
#include "model/model_set.h"

namespace kepler::model {

/// Minimum similarity. A machine below it is a different machine, and its models are used only if they are named
/// explicitly. The same rule applies to a model without a machine, and to every model if this machine's processor is
/// unknown. A guest sees only a part of its host, so for guests only the processors are compared (CheckProcessor).
inline constexpr double kMinSimilarity = 0.8;

/// Inputs that are available on this machine.
struct Situation {
  MachineSpec machine;
  std::function<bool(std::string_view feature)> has;  // called with the canonical names of features with an effect
  /// Only dynamic power is needed, which models of both outputs can give. Otherwise a model of total power is preferred
  /// to a model of dynamic power, whatever their stated errors: the two errors measure different things.
  bool only_load = false;
  std::vector<bool> too_slow{};  // by index in the set; missing entries are false: models that must not be used
};

/// Why a model may be used here.
enum class Match : uint8_t {
  kSameMachine,    // trained on this machine, or on one with equal attributes
  kSimilar,        // kMinSimilarity
  kSameProcessor,  // this machine is a guest, and the model is for its processor
  kScalesPerCore,  // a model per core (Per::kCore) of this processor, trained on a machine of another size
  kNamed,          // only because the user named the file
};
[[nodiscard]] std::string_view Name(Match match);  // "same_machine"

struct Choice {
  size_t model = 0;      // index in the set
  size_t component = 0;  // index in the model's components
  Match match = Match::kNamed;
  double similarity = 0;  // similarity of the training machine; 1 for this machine
  /// Error that the model states for a machine like this one, as in ErrorOf(). Empty if the file states no error, or
  /// only the error of a training machine that is not this machine.
  std::optional<Accuracy> expected;
};

/// Returns the best of `models` for `wanted`, in this order:
/// * a model that was named explicitly;
/// * AbsPower before DynPower, unless only dynamic power is needed;
/// * models with an applicable MAPE, by MAPE;
/// * other models, by similarity;
/// * name, version (larger first) and source.
/// If no model fits, the error gives the reason for each model. kNotFound: no model has the component. kUnavailable: a
/// model has the component but cannot be used here.
[[nodiscard]] Result<Choice> ChooseModel(const ModelSet& models, Component wanted, const Situation& here);

}  // namespace kepler::model
