// kepler-model validate.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "apps/kepler-model/evaluate.h"
#include "json/document.h"
#include "lab/judging/limits.h"
#include "lab/judging/report.h"
#include "model/choice.h"
#include "model/zone_status.h"

namespace kepler::lab::tool {
namespace {

using settings::kAt;
using settings::Key;

struct Validation {
  Evaluation of;
  judging::Limits limits;
  double tolerance = 1.5;
  bool json = false;
};

constexpr Key kValidateKeys[] = {
    Key("model", "model",
        "Model directory or file; also a weight file or XGBoost JSON; default: the model in the agent",
        kAt<&Validation::of, &Evaluation::model>, {.is_path = true, .required = true, .argument = true}),
    Key("data", "data", "CSV file with features and measured watts; -: standard input",
        kAt<&Validation::of, &Evaluation::data>, {.is_path = true, .required = true, .argument = true}),
    Key("maxMae", "max-mae", "Maximum MAE of a component in watts; 0: no limit",
        kAt<&Validation::limits, &judging::Limits::mae_watts>, {.min = 0}),
    Key("maxMape", "max-mape", "Maximum MAPE of a component in percent; 0: no limit",
        kAt<&Validation::limits, &judging::Limits::mape>, {.min = 0}),
    Key("tolerance", "tolerance", "Maximum MAE as a multiple of the MAE that the model states; 0: no limit",
        kAt<&Validation::tolerance>, {.min = 0}),
    Key("target", "target", "Columns of measured watts, as in evaluate", kAt<&Validation::of, &Evaluation::target>),
    Key("component", "component", "Component of each target, if its name does not contain it",
        kAt<&Validation::of, &Evaluation::component>),
    Key("features", "features", "Feature names of an XGBoost file without names, in the order of training",
        kAt<&Validation::of, &Evaluation::features>),
    Key("machine", "machine",
        "Machine, for attributes that the table lacks: JSON file of one machine or of several by name, or "
        "KEY=VALUE,...",
        kAt<&Validation::of, &Evaluation::machine>, {.is_path = true}),
    Key("json", "json", "Print the result as JSON", kAt<&Validation::json>),
};
constexpr settings::TableOf<Validation> kValidateTable(kValidateKeys);

constexpr std::string_view kAboutValidate =
    R"(Checks the error of a model on measurements against limits and against the error that the model states.

One line per component. Exit code 0: every component is within its limits; 1: one is not, or an error. Use data that did not
train the model.

Examples:
  kepler-model validate model another-day.csv
  kepler-model validate model another-day.csv --max-mape=10 --tolerance=0)";

struct Verdict {
  judging::Figures figures;
  std::optional<model::Accuracy> stated{};
  std::vector<std::string> exceeded{};
};

/// Whether the model states an MAE, and its multiple is a limit.
bool IsCompared(const Validation& config, const Verdict& verdict) {
  return verdict.stated && verdict.stated->mae_watts > 0 && config.tolerance > 0;
}

Verdict JudgeComponent(const Validation& config, const model::PowerModel& model, const judging::Figures& figures) {
  Verdict verdict{.figures = figures};
  const auto component =
      std::ranges::find(model.components, figures.target.component, &model::ComponentModel::component);
  if (component != model.components.end())
    verdict.stated = model::ErrorOf(*component, model::Name(model::Match::kSameMachine)).accuracy;
  verdict.exceeded = judging::Exceeded(config.limits, figures.errors);
  if (!IsCompared(config, verdict)) return verdict;
  // Simulated power may be predicted exactly, apart from rounding.
  const double limit = std::max(config.tolerance * verdict.stated->mae_watts, training::kMinWattsOfMape);
  if (figures.errors.mae_watts > limit)
    verdict.exceeded.push_back(
        fmt::format("MAE is above {:.3f} W, {:g} times the stated MAE", limit, config.tolerance));
  return verdict;
}

std::string LineOf(const Verdict& verdict) {
  const training::Errors& errors = verdict.figures.errors;
  std::string line =
      fmt::format("{}: MAE {:.3f} W, MAPE {} %, {} rows; ", model::Name(verdict.figures.target.component),
                  errors.mae_watts, judging::MapeText(errors), errors.rows);
  line += verdict.stated ? fmt::format("stated: MAE {:.3f} W, MAPE {} %: ", verdict.stated->mae_watts,
                                       verdict.stated->mape > 0 ? fmt::format("{:.2f}", verdict.stated->mape) : "-")
                         : std::string("no stated error: ");
  return line + (verdict.exceeded.empty() ? "ok\n" : fmt::format("FAILED: {}\n", fmt::join(verdict.exceeded, ", ")));
}

std::string JsonOf(const Verdict& verdict) {
  return fmt::format(R"("{}":{{{},"stated_mae":{},"stated_mape":{},"valid":{},"exceeded":{}}})",
                     model::Name(verdict.figures.target.component), judging::ErrorMembers(verdict.figures.errors),
                     verdict.stated ? fmt::format("{}", verdict.stated->mae_watts) : "null",
                     verdict.stated && verdict.stated->mape > 0 ? fmt::format("{}", verdict.stated->mape) : "null",
                     verdict.exceeded.empty(), json::QuoteList(verdict.exceeded));
}

Status Validate(const Validation& config) {
  KEPLER_TRY(const Evaluated judged, EvaluateModel(config.of));
  std::string lines;
  std::vector<std::string> members;
  std::vector<std::string_view> failed;
  for (const judging::Figures& figures : judged.figures) {
    const Verdict verdict = JudgeComponent(config, judged.model, figures);
    if (!IsCompared(config, verdict) && !judging::HasLimit(config.limits))
      return Fail(
          ErrorKind::kInvalid,
          fmt::format("{}: nothing to compare the error of {} with: the model states no MAE, or --tolerance is 0; "
                      "set --max-mae or --max-mape",
                      config.of.model, model::Name(figures.target.component)));
    lines += LineOf(verdict);
    members.push_back(JsonOf(verdict));
    if (!verdict.exceeded.empty()) failed.push_back(model::Name(figures.target.component));
  }
  if (!judged.model.domain.empty())
    lines += fmt::format("{} of {} rows are outside the training range of the model\n", judged.outside, judged.rows);
  KEPLER_CHECK_OK(PrintResult(config.json
                                  ? fmt::format("{{\"valid\":{},\"outside_domain\":{},\"components\":{{{}}}}}\n",
                                                failed.empty(), judged.outside, fmt::join(members, ","))
                                  : lines));
  if (failed.empty()) return {};
  return Fail(ErrorKind::kInvalid, fmt::format("{}: the error of {} on {} is too large", config.of.model,
                                               fmt::join(failed, ", "), config.of.data));
}

}  // namespace

int RunValidate(std::span<const char* const> arguments) {
  return RunCommand<Validation>("validate", kAboutValidate, arguments, kValidateTable, Validate);
}

}  // namespace kepler::lab::tool
