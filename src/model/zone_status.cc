#include "model/zone_status.h"

#include <fmt/format.h>

#include <string>

#include "base/text.h"
#include "model/features.h"

namespace kepler::model {

status::ZoneModel StatusOf(const PowerModel& model, const ComponentModel& of, std::string_view source,
                           std::string_view match, const std::optional<Accuracy>& expected, bool only_load) {
  const auto number = [&](double Accuracy::* member) {
    return expected ? fmt::format("{:.6g}", (*expected).*member) : std::string();
  };
  return {.zone = std::string(Name(of.component)),
          .name = LabelText(model.name),
          .trainer = LabelText(of.trainer),
          .features = std::string(GroupNameOf(model.features)),
          .machine = LabelText(model.machine ? model.machine->processor : ""),
          .source = LabelText(source),
          .match = std::string(match),
          .mae_watts = number(&Accuracy::mae_watts),
          .mape = number(&Accuracy::mape),
          .only_load = only_load};
}

}  // namespace kepler::model
