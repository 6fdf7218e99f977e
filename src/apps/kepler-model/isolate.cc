// kepler-model isolate.
#include "apps/kepler-model/isolate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "json/document.h"
#include "lab/dataset/extract.h"
#include "lab/dataset/isolation.h"
#include "lab/files/files.h"
#include "lab/files/model_file.h"
#include "lab/judging/data.h"
#include "lab/judging/inputs.h"
#include "model/power_model.h"

namespace kepler::lab::tool {
namespace {

/// Columns of the table that get other values, by their place, and those that go.
struct Changes {
  std::map<size_t, std::vector<double>> columns{};
  std::map<size_t, std::string> names{};
  std::vector<size_t> left_out{};
};

Result<std::vector<dataset::NumberColumn>> ReadWattsColumns(const judging::DataFile& data) {
  std::vector<dataset::NumberColumn> columns;
  const auto names = data.table.names();
  for (size_t i = 0; i < names.size(); ++i) {
    if (dataset::WattsOf(names[i]).empty()) continue;
    if (dataset::IsDynamic(names[i]))
      return Fail(ErrorKind::kInvalid,
                  fmt::format("{}: column '{}' is without idle power already; use the table before isolate", data.path,
                              names[i]));
    KEPLER_TRY(std::vector<double> values, judging::ReadGappy(data, i));
    columns.push_back({.name = names[i], .values = std::move(values)});
  }
  if (columns.empty())
    return Fail(ErrorKind::kInvalid, fmt::format("{}: no column of watts (package_power, dram_watts)", data.path));
  return columns;
}

/// Some rows below 0 W become 0; with many the table itself is wrong.
Status CheckPower(const judging::DataFile& data, std::span<const dataset::NumberColumn> columns) {
  std::vector<judging::WattsColumn> watts;
  for (const dataset::NumberColumn& column : columns) watts.push_back({column.name, column.values});
  KEPLER_TRY(const auto rows, judging::RowsOfPower(data, watts));
  if (const size_t below = data.table.rows() - rows.size(); below > 0)
    Note(fmt::format("{}: {} of {} rows have power below 0 W", data.path, below, data.table.rows()));
  return {};
}

Result<size_t> LoadColumn(const Isolating& config, const judging::DataFile& data) {
  if (!config.load.empty()) return judging::FindColumn(data, config.load);
  for (const std::string_view name : {"bpf_cpu_time_ms", "cpu_instructions", "cpu_cycles"}) {
    KEPLER_TRY(const auto found, files::InFile(data.path, data.table.Find(name)));
    if (found) return *found;
  }
  return Fail(ErrorKind::kInvalid, fmt::format("{}: no column of load; set --load", data.path));
}

Result<dataset::Isolated> ByMinimum(const Isolating& config, const judging::DataFile& data,
                                    std::vector<dataset::NumberColumn> watts) {
  KEPLER_TRY(const size_t place, LoadColumn(config, data));
  dataset::NumberColumn load{.name = data.table.names()[place]};
  KEPLER_TRY(load.values, judging::ReadGappy(data, place));
  std::vector<std::string_view> nodes(data.table.rows());
  if (const std::string column = judging::MachineColumn(data); !column.empty()) {
    KEPLER_TRY(const size_t machine, judging::FindColumn(data, column));
    nodes = data.table.Texts(machine);
  }
  return dataset::TakeOffIdle(std::move(watts),
                              {.load = load, .nodes = nodes, .share = config.share, .percentile = config.percentile});
}

Result<dataset::IdleProfile> ParseProfile(std::string_view text) {
  KEPLER_TRY(const json::Value document, json::Parse(text));
  const json::Cursor root(document);
  KEPLER_TRY(const auto* const members, root.Members());
  dataset::IdleProfile idle;
  for (const auto& [name, value] : *members) {
    KEPLER_TRY(const double watts, root.At(value).Number());
    if (watts < 0) return root.At(value).Refuse("idle watts cannot be negative");
    idle[name] = watts;
  }
  return idle;
}

Result<dataset::IdleProfile> ReadProfile(const std::string& path) {
  constexpr size_t kMaxProfile = size_t{1} << 20;
  KEPLER_TRY(const std::string text, files::ReadBounded(path, kMaxProfile));
  return files::InFile(path, ParseProfile(text));
}

Result<dataset::Isolated> ByProfile(const Isolating& config, std::vector<dataset::NumberColumn> watts) {
  if (!config.profile.empty()) {
    KEPLER_TRY(const dataset::IdleProfile profile, ReadProfile(config.profile));
    return dataset::TakeOffProfile(std::move(watts), profile, config.profile);
  }
  KEPLER_TRY(const judging::DataFile table, judging::ReadData(config.idle));
  KEPLER_TRY(const auto idle, ReadWattsColumns(table));
  return dataset::TakeOffProfile(std::move(watts), dataset::ProfileOf(idle), config.idle);
}

std::vector<model::Estimate> EstimateRows(const model::PowerModel& model, const judging::Inputs& inputs) {
  std::vector<model::Estimate> estimates;
  estimates.reserve(inputs.features.rows());
  for (size_t row = 0; row < inputs.features.rows(); ++row)
    estimates.push_back(
        model::EstimateRow(model, inputs.features.row(row), inputs.cores.empty() ? 1 : inputs.cores[row]));
  return estimates;
}

/// Of each background_FEATURE there is a FEATURE, or not: then it only goes.
Status LoseBackground(const judging::DataFile& data, Changes& changes) {
  const auto names = data.table.names();
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i].starts_with(dataset::kBackgroundPrefix)) continue;
    changes.left_out.push_back(i);
    const auto whole = data.table.Find(std::string_view(names[i]).substr(dataset::kBackgroundPrefix.size()));
    if (!whole || !*whole) continue;
    KEPLER_TRY(const std::vector<double> background, judging::ReadGappy(data, i));
    KEPLER_TRY(std::vector<double> feature, judging::ReadGappy(data, **whole));
    dataset::TakeOffBackground(feature, background);
    changes.columns[**whole] = std::move(feature);
  }
  return {};
}

/// The background is the same all the time: the mean of a table.
Result<dataset::Isolated> ByTable(const Isolating& config, const judging::DataFile& data,
                                  const model::PowerModel& model, std::vector<dataset::NumberColumn> watts,
                                  Changes& changes) {
  KEPLER_TRY(const judging::DataFile table, judging::ReadData(config.background));
  KEPLER_TRY(const judging::Inputs inputs, judging::ReadInputs(table, model.features, model.per, {}));
  const training::Matrix& features = inputs.features;
  const auto rows = static_cast<double>(features.rows());
  model::Estimate mean;
  for (const model::Estimate& estimate : EstimateRows(model, inputs))
    for (size_t i = 0; i < model::kComponents; ++i) mean.watts[i] += estimate.watts[i] / rows;
  for (size_t i = 0; i < model.features.size(); ++i) {
    const auto found = data.table.Find(model.features[i]);
    if (!found || !*found || model::IsAttribute(model.features[i])) continue;
    double background = 0;
    for (size_t row = 0; row < features.rows(); ++row) background += features.row(row)[i] / rows;
    KEPLER_TRY(std::vector<double> feature, judging::ReadGappy(data, **found));
    dataset::TakeOffBackground(feature, {&background, 1});
    changes.columns[**found] = std::move(feature);
  }
  return dataset::TakeOffEstimates(std::move(watts), model, {&mean, 1}, config.background);
}

Result<dataset::Isolated> ByBackground(const Isolating& config, const judging::DataFile& data,
                                       std::vector<dataset::NumberColumn> watts, Changes& changes) {
  KEPLER_TRY(const model::PowerModel model, files::ReadModel(config.model, {}));
  if (model.output != model::OutputType::kAbsPower)
    return Fail(ErrorKind::kInvalid, fmt::format("{}: it predicts only the power that load adds; use a model of all "
                                                 "power (train --power=AbsPower)",
                                                 config.model));
  if (!config.background.empty()) return ByTable(config, data, model, std::move(watts), changes);
  std::vector<std::string> columns;
  columns.reserve(model.features.size());
  for (const std::string& feature : model.features)
    columns.push_back(model::IsAttribute(feature) ? feature : std::string(dataset::kBackgroundPrefix) + feature);
  KEPLER_TRY(const judging::Inputs inputs, judging::ReadInputs(data, columns, model.per, {}));
  KEPLER_CHECK_OK(LoseBackground(data, changes));
  return dataset::TakeOffEstimates(std::move(watts), model, EstimateRows(model, inputs), "background columns");
}

Result<dataset::Isolated> Isolate(const Isolating& config, const judging::DataFile& data, Changes& changes) {
  KEPLER_TRY(std::vector<dataset::NumberColumn> watts, ReadWattsColumns(data));
  KEPLER_CHECK_OK(CheckPower(data, watts));
  switch (config.method) {
    case Method::kMinIdle:
      return ByMinimum(config, data, std::move(watts));
    case Method::kProfile:
      return ByProfile(config, std::move(watts));
    case Method::kBackground:
      return ByBackground(config, data, std::move(watts), changes);
    case Method::kNone:
      break;
  }
  return dataset::Isolated{.watts = std::move(watts)};
}

std::string TableText(const judging::DataFile& data, const Changes& changes) {
  std::vector<size_t> columns(data.table.names().size());
  std::iota(columns.begin(), columns.end(), size_t{0});
  std::erase_if(columns, [&](size_t i) { return std::ranges::find(changes.left_out, i) != changes.left_out.end(); });
  std::vector<std::vector<std::string_view>> texts(data.table.names().size());
  for (const size_t i : columns)
    if (!changes.columns.contains(i)) texts[i] = data.table.Texts(i);
  std::string out;
  for (const size_t i : columns) {
    const auto renamed = changes.names.find(i);
    out += (out.empty() ? "" : ",") +
           dataset::CsvCell(renamed == changes.names.end() ? data.table.names()[i] : renamed->second);
  }
  out += '\n';
  for (size_t row = 0; row < data.table.rows(); ++row) {
    for (const size_t i : columns) {
      if (i != columns.front()) out += ',';
      const auto changed = changes.columns.find(i);
      if (changed == changes.columns.end())
        out += dataset::CsvCell(texts[i][row]);
      else if (!std::isnan(changed->second[row]))
        fmt::format_to(std::back_inserter(out), "{}", changed->second[row]);
    }
    out += '\n';
  }
  return out;
}

/// package_power and package_watts would become the same column.
Status CheckNames(const judging::DataFile& data, const Changes& changes) {
  for (const auto& [i, name] : changes.names)
    for (const auto& [other, same] : changes.names)
      if (i < other && name == same)
        return Fail(ErrorKind::kInvalid, fmt::format("{}: columns '{}' and '{}' are of the same component; remove one",
                                                     data.path, data.table.names()[i], data.table.names()[other]));
  return {};
}

Status IsolateTable(const Isolating& config) {
  KEPLER_CHECK_OK(
      files::CheckOutput(config.output, {config.input, config.profile, config.idle, config.background, config.model}));
  KEPLER_TRY(const judging::DataFile data, judging::ReadData(config.input));
  Changes changes;
  KEPLER_TRY(dataset::Isolated isolated, Isolate(config, data, changes));
  for (dataset::NumberColumn& column : isolated.watts) {
    if (column.is_dynamic && std::ranges::none_of(column.values, [](double watts) { return watts > 0; }))
      isolated.notes.push_back(
          fmt::format("{}: no power is left, so no model can be trained on it; more than idle power "
                      "was subtracted, or the table has no load",
                      column.name));
    KEPLER_TRY(const size_t place, judging::FindColumn(data, column.name));
    changes.columns[place] = std::move(column.values);
    if (column.is_dynamic) changes.names[place] = dataset::DynamicName(column.name);
  }
  KEPLER_CHECK_OK(CheckNames(data, changes));
  KEPLER_CHECK_OK(files::WriteFile(config.output, TableText(data, changes)));
  if (config.json) {
    return PrintResult(fmt::format(R"({{"rows":{},"method":"{}","changed_rows":{},"clamped_to_0":{},"taken_off":{}}})"
                                   "\n",
                                   data.table.rows(), kMethods[static_cast<size_t>(config.method)], isolated.rows,
                                   isolated.clamped, json::QuoteList(isolated.notes)));
  }
  for (const std::string& note : isolated.notes) Note(note);
  Note(fmt::format("{} of {} rows changed; {} negative values set to 0", isolated.rows, data.table.rows(),
                   isolated.clamped));
  return {};
}

}  // namespace

int RunIsolate(std::span<const char* const> arguments) {
  return RunCommand<Isolating>("isolate", kAboutIsolate, arguments, kIsolateTable, IsolateTable, CheckIsolating);
}

}  // namespace kepler::lab::tool
