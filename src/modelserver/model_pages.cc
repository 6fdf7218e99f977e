#include "modelserver/model_pages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/html.h"
#include "base/percent.h"
#include "modelserver/card_sections.h"
#include "modelserver/model_list.h"

namespace kepler::modelserver {
namespace {

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>{}</title><style>
:root{{color-scheme:light dark}}
body{{font:16px/1.5 system-ui,sans-serif;margin:1rem auto;max-width:70rem;padding:0 1rem}}
.wide{{overflow-x:auto}} table{{border-collapse:collapse;width:100%}}
th,td{{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #8885;vertical-align:top}}
.charts{{display:flex;flex-wrap:wrap;gap:1rem}} .charts div{{flex:1 1 20rem;max-width:40rem}}
.charts svg{{width:100%;height:auto;display:block}}
.n{{text-align:right;font-variant-numeric:tabular-nums}} td.n{{white-space:nowrap}}
code,td a,h1{{overflow-wrap:anywhere}} td:first-child a{{display:block;min-width:8rem}}
@media (prefers-color-scheme:dark){{.charts svg{{filter:invert(1) hue-rotate(180deg)}}}}
@media (max-width:40rem){{.more{{display:none}} th,td{{padding:.3rem .4rem .3rem 0}} td{{overflow-wrap:anywhere}} td:first-child a{{min-width:40vw}}}}
</style></head><body>
)";

/// The largest error of a component. A published archive may state the MAPE of its memory as that of the model.
std::string LargestError(const Stated& stated, std::string_view of_model) {
  const auto whole = stated.find(of_model);
  std::optional<double> largest;
  for (const auto& [key, number] : stated)
    if (key.ends_with(fmt::format("_{}", of_model))) largest = std::max(largest.value_or(number), number);
  if (!largest && whole != stated.end()) largest = whole->second;
  return largest ? fmt::format("{:.2f}", *largest) : "";
}

std::string MachineText(const StoredModel& model) {
  if (!model.machine()) return "not stated";
  const model::MachineSpec& machine = *model.machine();
  return fmt::format("{}, {} CPU{}, {} socket{}, {} GiB", EscapeName(machine.processor), machine.cores,
                     machine.cores == 1 ? "" : "s", machine.chips, machine.chips == 1 ? "" : "s", machine.memory_gib);
}

std::string SourceText(const StoredModel& model) {
  if (!model.source.empty()) return EscapeHtml(model.source);
  std::string text;
  for (const model::ComponentModel& of : model.judged_archive->model.components)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", model::Name(of.component));
  return text;
}

std::string Row(const StoredModel& model) {
  return fmt::format(
      "<tr><td><a href=\"{}\">{}</a></td><td>{}</td><td class=\"more\">{}</td><td class=\"more\">{}</td>"
      "<td class=\"more\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
      CardPath(model), EscapeName(model.name), MachineText(model), SourceText(model), model::Name(model.output),
      EscapeHtml(model.group), LargestError(model.stated, "mae"), LargestError(model.stated, "mape"));
}

/// Lines of a card: a name and a value that is HTML.
std::string Line(std::string_view name, std::string_view html) {
  return fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", name, html);
}

std::string Errors(const model::PowerModel& model) {
  const bool has_unseen =
      std::ranges::any_of(model.components, [](const model::ComponentModel& of) { return of.unseen.has_value(); });
  std::string table =
      R"(<div class="wide"><table><thead><tr><th>Component</th><th>Trainer</th><th class="n">MAE (W)</th>)"
      R"(<th class="n">MAPE (%)</th>)";
  if (has_unseen)
    table += R"(<th class="n">MAE on other machines (W)</th><th class="n">MAPE on other machines (%)</th>)";
  table += "</tr></thead><tbody>\n";
  const auto cells = [](const std::optional<model::Accuracy>& accuracy) {
    if (!accuracy) return std::string("<td></td><td></td>");
    return fmt::format(R"(<td class="n">{:.2f}</td><td class="n">{}</td>)", accuracy->mae_watts,
                       accuracy->mape > 0 ? fmt::format("{:.2f}", accuracy->mape) : "-");
  };
  for (const model::ComponentModel& of : model.components)
    table += fmt::format("<tr><td>{}</td><td>{}</td>{}{}</tr>\n", model::Name(of.component), EscapeHtml(of.trainer),
                         cells(of.accuracy), has_unseen ? cells(of.unseen) : std::string());
  return table + "</tbody></table></div>\n";
}

std::string FileLines(const StoredModel& model) {
  std::string lines;
  for (const auto* const file : {&model.own, &model.signature, &model.archive, &model.weights})
    if (*file) {
      const std::string path = PathOf(model, **file);
      lines += fmt::format("<a href=\"{}\">{}</a><br><code>sha256 {}</code><br>", EscapeHtml(path), EscapeName(path),
                           (*file)->sha256);
    }
  return lines;
}

}  // namespace

std::string CardPath(const StoredModel& model) {
  return "/models/" + PercentEncode(model.own ? model.name : model.id, "/");
}

std::string WriteListPage(const ModelIndex& index) {
  std::vector<const StoredModel*> models;
  models.reserve(index.models.size());
  for (const StoredModel& model : index.models) models.push_back(&model);
  const auto order = [](const StoredModel* model) {
    const auto mae = model->stated.find("mae");
    return std::tuple(model->machine() ? model->machine()->processor : "", model->group, mae == model->stated.end(),
                      mae == model->stated.end() ? 0 : mae->second, std::string_view(model->id));
  };
  std::ranges::sort(models, {}, order);
  std::string page = fmt::format(kHead, "Power models");
  page += fmt::format("<h1>Power models</h1>\n<p>{} models. <a href=\"/models\">As JSON</a></p>\n", models.size());
  page +=
      "<div class=\"wide\"><table><thead><tr><th>Model</th><th>Machine</th><th class=\"more\">Source</th>"
      "<th class=\"more\">Output</th><th class=\"more\">Features</th><th class=\"n\">MAE (W)</th><th class=\"n\">MAPE "
      "(%)</th></tr></thead><tbody>\n";
  for (const StoredModel* const model : models) page += Row(*model);
  page += "</tbody></table></div>\n";
  if (!index.skipped.empty()) page += "<h2>Files that cannot be read</h2>\n<ul>\n";
  for (const SkippedFile& file : index.skipped)
    page += fmt::format("<li><code>{}</code>: {}</li>\n", EscapeHtml(file.relative), EscapeHtml(file.reason));
  return page + (index.skipped.empty() ? "" : "</ul>\n") + "</body></html>\n";
}

std::string WriteCardPage(const StoredModel& model, const CardDetails& details) {
  const model::PowerModel& power = (model.judged_archive ? model.judged_archive : model.judged_weights)->model;
  std::string page = fmt::format(kHead, EscapeHtml(model.name));
  page += fmt::format("<p><a href=\"/\">All models</a></p>\n<h1>{}</h1>\n<table><tbody>\n", EscapeName(model.name));
  page += Line("Pipeline", EscapeName(model.pipeline));
  if (model.own) page += Line("Version", fmt::format("{}", power.version));
  page += Line("Machine", MachineText(model));
  page += Line("Source", SourceText(model));
  page += Line("Output", model::Name(model.output));
  page += Line("Features", EscapeHtml(fmt::format("{}: {}", model.group, fmt::join(model.features, ", "))));
  page += Line("Signed", model.signature ? "yes" : "no");
  page += Line("Weights for old clients", model.judged_weights ? "yes" : "no");
  page += Line("Files", FileLines(model)) + "</tbody></table>\n";
  page += "<h2>Stated errors</h2>\n" + Errors(power);
  if (details.model != nullptr) page += TestedSection(*details.model);
  return page + DecisionSection(details.decisions) + "</body></html>\n";
}

}  // namespace kepler::modelserver
