#include "model/zone_status.h"

#include <fmt/format.h>

#include <string>

#include "base/text.h"
#include "model/choice.h"
#include "model/features.h"

namespace kepler::model {

StatedError ErrorOf(const ComponentModel& of, std::string_view match) {
  const auto states = [](const std::optional<Accuracy>& accuracy) {
    return accuracy && (accuracy->mae_watts > 0 || accuracy->mape > 0);
  };
  const bool same = match == Name(Match::kSameMachine);
  if (same && states(of.accuracy)) return {of.accuracy, match};
  if (states(of.unseen)) return {of.unseen, "other_machines"};
  if (states(of.accuracy)) return {of.accuracy, kTrainingMachine};
  return {};
}

status::ZoneModel StatusOf(const PowerModel& model, const ComponentModel& of, std::string_view source,
                           std::string_view match, bool only_load) {
  const auto [stated, basis] = ErrorOf(of, match);
  status::ZoneModel status{.zone = std::string(Name(of.component)),
                           .name = LabelText(model.name),
                           .trainer = LabelText(of.trainer),
                           .features = std::string(GroupNameOf(model.features)),
                           .machine = LabelText(model.machine ? model.machine->processor : ""),
                           .source = LabelText(source),
                           .match = std::string(match),
                           .mae_watts = {},
                           .mape = {},
                           .basis = std::string(basis),
                           .only_load = only_load};
  if (!stated) return status;
  const auto text = [](double error) { return error > 0 ? fmt::format("{:.6g}", error) : std::string(); };
  status.mae_watts = text(stated->mae_watts);
  status.mape = text(stated->mape);
  status.error_watts = stated->mae_watts;
  status.error_ratio = stated->mape / 100;
  return status;
}

}  // namespace kepler::model
