#include "modelserver/estimator/estimate_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "base/text.h"
#include "json/document.h"
#include "model/choice.h"
#include "model/features.h"
#include "modelserver/archive_summary.h"
#include "modelserver/own_archive.h"

namespace kepler::modelserver::estimator {
namespace {

constexpr size_t kMaxReasonBytes = 1000;

/// Column of a feature in the request; nothing if it is missing.
std::optional<size_t> ColumnOf(const EstimateRequest& request, std::string_view feature) {
  const auto found = std::ranges::find(request.features, feature);
  if (found == request.features.end()) return std::nullopt;
  return static_cast<size_t>(found - request.features.begin());
}

bool IsOfTrainer(const model::PowerModel& model, std::string_view trainer) {
  return model.name.contains(trainer) || std::ranges::any_of(model.components, [&](const model::ComponentModel& of) {
           return of.trainer.contains(trainer);
         });
}

Result<model::ModelSet> Candidates(const EstimateRequest& request, const model::ModelSet& models) {
  model::ModelSet some;
  std::string_view reason = models.empty() ? "no model is loaded" : "no model has this output_type";
  for (const auto& known : models) {
    if (known->model.output != request.output) continue;
    if (!IsOfTrainer(known->model, request.trainer_name)) {
      reason = "no model is of this trainer";
    } else if (!request.filter.empty() && !Passes(request.filter, StatedErrors(known->model))) {
      reason = "no model passes the filter";
    } else {
      some.push_back(known);
    }
  }
  if (some.empty()) return Fail(ErrorKind::kNotFound, fmt::format("cannot find model: {}", reason));
  return some;
}

Result<const model::KnownModel*> Choose(const EstimateRequest& request, const model::ModelSet& some,
                                        const model::MachineSpec& machine) {
  const auto has = [&](std::string_view feature) {
    return ColumnOf(request, feature) || model::AttributeOf(machine, feature);
  };
  model::Situation here{.machine = machine, .has = has};
  here.only_load = true;  // all candidates have the same output
  KEPLER_TRY(const model::Choice choice, model::ChooseModel(some, MainComponent(request.source), here));
  return some[choice.model].get();
}

struct Watts {
  std::vector<model::Component> components;
  std::vector<std::vector<double>> rows;  // by component, then by row
};

Watts Predict(const EstimateRequest& request, const model::PowerModel& model, const model::MachineSpec& machine) {
  Watts watts;
  for (const model::ComponentModel& of : model.components)
    if (IsOfSource(of.component, request.source)) watts.components.push_back(of.component);
  watts.rows.resize(watts.components.size());
  std::vector<std::optional<size_t>> columns;
  std::vector<double> row;  // attributes stay, columns are replaced
  for (const std::string& feature : model.features) {
    columns.push_back(ColumnOf(request, feature));
    row.push_back(model::AttributeOf(machine, feature).value_or(0));
  }
  for (const std::vector<double>& values : request.rows) {
    for (size_t i = 0; i < columns.size(); ++i)
      if (columns[i]) row[i] = values[*columns[i]];
    const model::Estimate estimate = model::EstimateRow(model, row, std::max<double>(machine.cores, 1));
    for (size_t i = 0; i < watts.components.size(); ++i)
      watts.rows[i].push_back(estimate.watts[static_cast<size_t>(watts.components[i])]);
  }
  return watts;
}

double CoreRatio(const model::PowerModel& model, const model::MachineSpec& machine) {
  const bool is_known = model.machine && model.machine->cores > 0 && machine.cores > 0;
  if (!is_known || model.per == model::Per::kCore) return 1;
  return static_cast<double>(machine.cores) / model.machine->cores;
}

std::string Write(const Watts& watts, double core_ratio, int digits) {
  std::string out = R"({"powers":{)";
  for (size_t i = 0; i < watts.components.size(); ++i) {
    out += fmt::format(R"({}"{}":[)", i == 0 ? "" : ",", model::Name(watts.components[i]));
    for (size_t row = 0; row < watts.rows[i].size(); ++row)
      fmt::format_to(std::back_inserter(out), "{}{:.{}g}", row == 0 ? "" : ",", watts.rows[i][row], digits);
    out += "]";
  }
  return out + fmt::format(R"(}},"msg":"","core_ratio":{:.6g}}})", core_ratio);
}

}  // namespace

std::string Answer(const EstimateRequest& request, const model::ModelSet& models, const model::MachineSpec& machine) {
  const auto some = Candidates(request, models);
  if (!some) return Refusal(some.error());
  const auto chosen = Choose(request, *some, machine);
  if (!chosen) return Refusal(chosen.error());
  const model::PowerModel& model = (*chosen)->model;
  const Watts watts = Predict(request, model, machine);
  std::string answer;
  for (const int digits : {10, 7, 5}) {
    answer = Write(watts, CoreRatio(model, machine), digits);
    if (answer.size() <= kOldClientBytes) break;
  }
  return answer;
}

std::string Refusal(const Error& error) {
  return fmt::format(R"({{"powers":{{}},"msg":{},"core_ratio":1}})",
                     json::Quote(SanitizeUtf8(EscapeControls(error.message), kMaxReasonBytes)));
}

}  // namespace kepler::modelserver::estimator
