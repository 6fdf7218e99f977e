#include "lab/judging/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text.h"
#include "json/document.h"
#include "model/machine_json.h"

namespace kepler::lab::judging {
namespace {

using json::Quote;

std::string CandidatesJson(std::span<const training::CandidateScore> scores) {
  std::string items;
  for (const training::CandidateScore& score : scores)
    items += fmt::format(R"({}{{"name":{},"mae":{},"weight":{}}})", items.empty() ? "" : ",", Quote(score.name),
                         score.mae_watts ? fmt::format("{}", *score.mae_watts) : "null", score.weight);
  return items;
}

std::string ComponentJson(const Figures& figures) {
  std::string out = fmt::format(R"({}:{{"target":{},"trainer":{},{})", Quote(model::Name(figures.target.component)),
                                Quote(figures.target.column), Quote(figures.trainer), ErrorMembers(figures.errors));
  if (figures.of_mean) out += fmt::format(R"(,"predicting_the_mean":{{{}}})", ErrorMembers(*figures.of_mean));
  if (!figures.scores.empty())
    out += fmt::format(R"(,"searched":{},"candidates":[{}])", figures.searched, CandidatesJson(figures.scores));
  return out + "}";
}

constexpr std::string_view kLimits = R"(
## Do not use it for

* **Other machines.** Power depends on the processor, its firmware and settings, memory, disks, fans and power supply.
  The errors above hold for other machines only if whole machines were left out of training (`--group`).
* **Features outside the training range above.** There the error is unknown: trees repeat their last value, and lines
  continue. `kepler-model evaluate` counts such rows.
* **Features with another meaning.** Each feature must have the meaning of training: of the whole node, with the same
  events and the same unit of time.
* **Machines with a meter.** Read the meter. The errors above are means; single rows have larger errors.
* **Processes.** The model predicts the power of the node, not the shares of its processes.
)";

/// So that Markdown shows it as it is, in a table too. Words like cpu_cycles need no help.
std::string Plain(std::string_view given) {
  const std::string text = EscapeControls(SanitizeUtf8(given, std::string::npos));
  const auto is_word = [&text](size_t i) {
    return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i]));
  };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool within = text[i] == '_' && i > 0 && is_word(i - 1) && is_word(i + 1);
    if (!within && std::string_view("\\`*_{}[]<>#|!~&").contains(text[i])) out += '\\';
    out += text[i];
  }
  return out;
}

/// In a fence that is longer than any in the text.
std::string Code(std::string_view given) {
  const std::string text = EscapeControls(SanitizeUtf8(given, std::string::npos));
  std::string fence = "`";
  while (text.contains(fence)) fence += '`';
  const std::string_view blank = fence.size() > 1 ? " " : "";
  return fmt::format("{}{}{}{}{}", fence, blank, text, blank, fence);
}

std::string_view WattsMean(const model::PowerModel& model) {
  return model.output == model::OutputType::kAbsPower
             ? "Its watts are all power of a component, including idle power.\n\n"
             : "Its watts are the power that load adds, without idle power.\n\n";
}

std::string_view UnitMeans(const model::PowerModel& model) {
  return model.per == model::Per::kMachine ? ""
                                           : "It is a model of one logical CPU. Counters are divided by the CPUs of "
                                             "the machine, and watts are multiplied "
                                             "by them. Ranges below are per CPU; errors are of whole machines.\n\n";
}

/// As it was asked for, and what came of it.
std::string SearchedFor(const Card& card) {
  const Choices& choices = card.choices;
  std::string out;
  if (choices.search > 0) out += fmt::format("* `--search`: {}\n", choices.search);
  if (choices.budget.count() > 0) out += fmt::format("* `--budget`: {}\n", FormatDuration(choices.budget));
  if (choices.good_enough_watts > 0) out += fmt::format("* `--good-enough`: {} W\n", choices.good_enough_watts);
  if (out.empty()) return out;
  for (const Figures& of : card.figures)
    out += fmt::format("* {}: tried at random for the model of all rows: {}\n", model::Name(of.target.component),
                       of.searched);
  return out;
}

std::string TrainedOn(const Card& card) {
  std::string out =
      fmt::format("## Trained on\n\n* file: {}, {} rows\n* SHA-256: `{}`\n", Code(card.data), card.rows, card.sha256);
  for (const Figures& of : card.figures)
    out += fmt::format("* {}: column {}\n", model::Name(of.target.component), Code(of.target.column));
  if (!card.group.empty()) out += fmt::format("* machines: column {}\n", Code(card.group));
  if (const auto& machine = card.model.machine)
    out += fmt::format("* machine: {}\n", Code(model::WriteMachineJson(*machine)));
  for (const std::string& setting : card.set) out += fmt::format("* `--set`: {}\n", Code(setting));
  return out + fmt::format("* seed: {}\n", card.choices.seed) + SearchedFor(card) + "\n";
}

std::string AccuracyRows(std::span<const Figures> figures) {
  std::string out =
      "| Component | Trainer | Rows | MAE, W | MAPE, % | R² | MAE of the mean, W |\n|---|---|---|---|---|---|---|\n";
  for (const Figures& of : figures)
    out += fmt::format("| {} | {} | {} | {:.3f} | {} | {:.4f} | {} |\n", model::Name(of.target.component),
                       Plain(of.trainer), of.errors.rows, of.errors.mae_watts, MapeText(of.errors), of.errors.r2,
                       of.of_mean ? fmt::format("{:.3f}", of.of_mean->mae_watts) : "");
  return out;
}

/// Errors on each machine, by models that have not seen it.
std::string MachineRows(const Card& card) {
  if (card.machines.empty()) return {};
  std::string out = fmt::format(
      "\nEach machine by a model of the others:\n\n| {} | Component | Rows | MAE, W | MAPE, % |\n"
      "|---|---|---|---|---|\n",
      Plain(card.group));
  for (const MachineErrors& machine : card.machines)
    for (size_t i = 0; i < machine.errors.size(); ++i)
      out += fmt::format("| {} | {} | {} | {:.3f} | {} |\n", Plain(machine.name),
                         model::Name(card.figures[i].target.component), machine.errors[i].rows,
                         machine.errors[i].mae_watts, MapeText(machine.errors[i]));
  return out;
}

}  // namespace

std::string ErrorMembers(const training::Errors& errors) {
  return fmt::format(R"("n":{},"mae":{},"mape":{},"mape_rows":{},"r2":{})", errors.rows, errors.mae_watts,
                     errors.mape_rows > 0 ? fmt::format("{}", errors.mape) : "null", errors.mape_rows, errors.r2);
}

std::string MapeText(const training::Errors& errors) {
  if (errors.mape_rows == 0) return "-";
  if (errors.mape_rows == errors.rows) return fmt::format("{:.2f}", errors.mape);
  return fmt::format("{:.2f} ({} rows)", errors.mape, errors.mape_rows);
}

std::string FiguresJson(std::string_view head, std::span<const Figures> figures) {
  std::string out = fmt::format("{{{}", head);
  if (figures.size() == 1) out += ErrorMembers(figures.front().errors) + ",";
  out += R"("components":{)";
  for (size_t i = 0; i < figures.size(); ++i) out += (i == 0 ? "" : ",") + ComponentJson(figures[i]);
  return out + "}}\n";
}

std::string MachinesJson(std::span<const MachineErrors> machines) {
  if (machines.empty()) return {};
  std::string items;
  for (const MachineErrors& machine : machines) {
    std::string errors;
    for (const training::Errors& of : machine.errors)
      errors += fmt::format("{}{{{}}}", errors.empty() ? "" : ",", ErrorMembers(of));
    items += fmt::format(R"({}{{"name":{},"errors":[{}]}})", items.empty() ? "" : ",", Quote(machine.name), errors);
  }
  return fmt::format(R"("machines":[{}],)", items);
}

std::string MachinesLine(std::string_view column, std::span<const MachineErrors> machines) {
  std::vector<const MachineErrors*> sorted;
  for (const MachineErrors& machine : machines)
    if (machine.errors.front().mape_rows > 0) sorted.push_back(&machine);
  if (sorted.empty()) return {};
  const auto mape = [](const MachineErrors* machine) { return machine->errors.front().mape; };
  std::ranges::sort(sorted, {},
                    [&](const MachineErrors* of) { return std::pair(mape(of), std::string_view(of->name)); });
  const auto named = [&](const MachineErrors* machine) {
    return fmt::format("{:.2f} % ({})", mape(machine), EscapeControls(machine->name));
  };
  const double median = (mape(sorted[(sorted.size() - 1) / 2]) + mape(sorted[sorted.size() / 2])) / 2;
  const size_t without = machines.size() - sorted.size();
  return fmt::format("MAPE by {}: median {:.2f} %, from {} to {}{}; the card lists all {}\n", column, median,
                     named(sorted.front()), named(sorted.back()),
                     without == 0 ? "" : fmt::format("; {} without a MAPE", without), machines.size());
}

std::string ChoicesJson(const Choices& choices) {
  return fmt::format(R"("seed":{},"search":{},"budget":{},"good_enough":{},)", choices.seed, choices.search,
                     Quote(FormatDuration(choices.budget)), choices.good_enough_watts);
}

std::string FiguresTable(std::span<const Figures> figures) {
  const bool has_mean = !figures.empty() && figures.front().of_mean.has_value();
  std::string out = fmt::format("{:10} {:>8} {:>9} {:>8} {:>8}", "COMPONENT", "ROWS", "MAE ( W )", "MAPE %", "R2");
  out += has_mean ? "  MAE OF THE MEAN ( W )  TRAINER\n" : "  TRAINER\n";
  for (const Figures& of : figures) {
    out += fmt::format("{:10} {:8} {:9.3f} {:>8} {:8.4f}", model::Name(of.target.component), of.errors.rows,
                       of.errors.mae_watts, MapeText(of.errors), of.errors.r2);
    if (has_mean) out += fmt::format("  {:21.3f}", of.of_mean->mae_watts);
    out += fmt::format("  {}\n", EscapeControls(of.trainer));
  }
  return out;
}

std::string ImportCard(const Origin& origin) {
  const model::PowerModel& model = origin.model;
  std::string out = fmt::format("# {}\n\nA power model of a node ({}), imported from {}.\n\n", Plain(model.name),
                                model::Name(model.output), Plain(origin.kind));
  out += std::string(WattsMean(model)) +
         fmt::format("* file: {}\n* SHA-256: `{}`\n\n", Code(origin.source), origin.sha256);
  out += "## Features\n\n";
  for (const std::string& feature : model.features) out += fmt::format("* {}\n", Plain(feature));
  out += "\n## Components\n\n";
  for (const model::ComponentModel& component : model.components)
    out += fmt::format("* {}: {}\n", model::Name(component.component), Plain(component.trainer));
  out += "\n## Errors\n\n";
  out += origin.stated.empty()
             ? "The file states no errors.\n"
             : fmt::format("The file states: {}. It does not name the tested rows.\n", Plain(origin.stated));
  out += "Use `kepler-model evaluate` for errors on your own measurements.\n";
  return out + std::string(kLimits);
}

std::string RenamedCard(std::string_view card, std::string_view name, std::string_view new_name) {
  return fmt::format("# {}\n\nImported by this name. Its original card, which follows, has the name {}.\n\n{}",
                     Plain(new_name), Plain(name), card);
}

std::string ModelCard(const Card& card) {
  const model::PowerModel& model = card.model;
  std::string out = fmt::format("# {}\n\nA power model of a node ({}), trained by kepler-model {}.\n\n",
                                Plain(model.name), model::Name(model.output), card.version);
  out += std::string(WattsMean(model)) + std::string(UnitMeans(model));
  out += TrainedOn(card);
  out += "## Features\n\nThe training range is the minimum and maximum of each feature in training.\n\n";
  out += "| Feature | From | To |\n|---|---|---|\n";
  for (size_t i = 0; i < model.features.size(); ++i)
    out += fmt::format("| {} | {} | {} |\n", Plain(model.features[i]), model.domain[i].min, model.domain[i].max);
  out += "\n## Errors\n\n" + AccuracyRows(card.figures);
  out += fmt::format("\nJudged {}. The last column is the error of predicting the mean of the training rows.\n",
                     Plain(card.judged));
  return out + MachineRows(card) + std::string(kLimits);
}

}  // namespace kepler::lab::judging
