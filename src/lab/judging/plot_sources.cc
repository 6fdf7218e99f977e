#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "base/text.h"
#include "lab/judging/fitting.h"
#include "lab/judging/plot_page.h"

namespace kepler::lab::judging {
namespace {

/// Where each row of the table is, by its name.
Result<std::unordered_map<std::string_view, size_t>> IndexRows(const DataFile& data,
                                                               const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, size_t> index;
  index.reserve(names.size());
  for (size_t row = 0; row < names.size(); ++row)
    if (!index.emplace(names[row], row).second)
      return Fail(ErrorKind::kMalformed,
                  fmt::format("{}: line {}: row '{}' appears twice, so predictions cannot be matched; predict with a "
                              "model instead",
                              data.path, data.table.LineOf(row), EscapeControls(names[row])));
  return index;
}

Result<std::vector<double>> WattsOf(const DataFile& predictions, const Target& target) {
  const auto single = predictions.table.Find("prediction");
  if (single && *single) return ReadWatts(predictions, "prediction");
  return ReadWatts(predictions, model::Name(target.component));
}

Status MatchPredictions(const DataFile& data, const Target& target, Source& source) {
  KEPLER_TRY(const DataFile predictions, ReadData(source.path));
  KEPLER_TRY(const size_t column, FindColumn(predictions, "row"));
  KEPLER_TRY(const std::vector<double> watts, WattsOf(predictions, target));
  const std::vector<std::string> names = RowNames(data);
  KEPLER_TRY(const auto index, IndexRows(data, names));
  const auto rows = predictions.table.Texts(column);
  source.watts.assign(names.size(), std::numeric_limits<double>::quiet_NaN());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto found = index.find(rows[i]);
    const std::string where =
        fmt::format("{}: line {}: row '{}'", source.path, predictions.table.LineOf(i), EscapeControls(rows[i]));
    if (found == index.end())
      return Fail(ErrorKind::kInvalid,
                  fmt::format("{} is not in {}; check whether these are its predictions", where, data.path));
    double& place = source.watts[found->second];
    if (place == place) return Fail(ErrorKind::kMalformed, where + " appears twice");
    place = watts[i];
  }
  return {};
}

}  // namespace

Source SourceOf(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {.name = std::string(text), .path = std::string(text), .watts = {}};
  return {.name = std::string(text.substr(0, equals)), .path = std::string(text.substr(equals + 1)), .watts = {}};
}

std::vector<double> TimesOf(const judging::DataFile& data, bool& is_time) {
  std::vector<double> when(data.table.rows());
  for (size_t row = 0; row < when.size(); ++row) when[row] = static_cast<double>(row);
  const auto column = data.table.Find("timestamp");
  if (!column || !*column) return when;
  auto seconds = data.table.Numbers(**column);
  is_time = seconds && std::ranges::is_sorted(*seconds) && seconds->back() > seconds->front();
  if (!is_time) return when;
  const double first = seconds->front();
  for (double& second : *seconds) second = (second - first) / 60;
  return *std::move(seconds);
}

Status ReadSource(const DataFile& data, const Target& target, const Machines& machines, Source& source) {
  return source.path.ends_with(".csv") ? MatchPredictions(data, target, source)
                                       : PredictSource(data, target, machines, source);
}

Status PredictSource(const DataFile& data, const Target& target, const Machines& machines, Source& source) {
  KEPLER_TRY(const model::PowerModel model, ReadModelFor(source.path, machines, {}, target.component));
  if (const auto found = FindComponent(source.path, model, target); !found) return std::unexpected(found.error());
  KEPLER_TRY(const Inputs inputs, ReadInputs(data, model.features, model.per, machines));
  source.watts = PredictRows(model, inputs.features, {&target, 1}, AllRows(data), inputs.cores).front();
  return {};
}

}  // namespace kepler::lab::judging
