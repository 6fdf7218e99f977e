#include "lab/judging/data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "lab/dataset/extract.h"
#include "lab/dataset/isolation.h"
#include "lab/files/files.h"
#include "model/features.h"
#include "model/sha256.h"

namespace kepler::lab::judging {
namespace {

std::unexpected<Error> NotThere(const DataFile& data, std::string_view name) {
  const auto names = data.table.names();
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string_view nearest = NearestName(name, known);
  constexpr size_t kMaxListed = 1000;
  return files::InFile(data.path, {ErrorKind::kInvalid,
                                   fmt::format("no column '{}'; {} columns: {}", name,
                                               nearest.empty() ? "its" : fmt::format("did you mean {}? Its", nearest),
                                               SanitizeUtf8(fmt::format("{}", fmt::join(names, ", ")), kMaxListed))});
}

std::string ComponentNames() {
  std::vector<std::string_view> names;
  names.reserve(model::kComponents);
  for (size_t i = 0; i < model::kComponents; ++i) names.push_back(model::Name(static_cast<model::Component>(i)));
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<model::Component> ComponentOfColumn(std::string_view column) {
  const std::string_view watts = dataset::WattsOf(column);
  const std::string_view stem = watts.empty() ? column : watts;
  if (const auto component = model::ComponentOf(stem)) return *component;
  return Fail(ErrorKind::kInvalid, fmt::format("the name of column '{}' contains no component ({}); set --component",
                                               column, ComponentNames()));
}

/// `has` says which features there are.
Result<std::vector<std::string>> ResolveWhere(std::span<const std::string> given,
                                              const std::function<bool(std::string_view)>& has) {
  std::vector<std::string> features;
  for (const std::string& name : given) {
    if (model::FindFeatureGroup(name) == nullptr) {
      features.emplace_back(model::CanonicalFeature(name));
      continue;
    }
    KEPLER_TRY(const auto group, model::ResolveGroup(name, has));
    features.insert(features.end(), group.begin(), group.end());
  }
  for (size_t i = 0; i < features.size(); ++i)
    if (std::find(features.begin(), features.begin() + static_cast<std::ptrdiff_t>(i), features[i]) !=
        features.begin() + static_cast<std::ptrdiff_t>(i))
      return Fail(ErrorKind::kInvalid, fmt::format("feature '{}' appears twice", features[i]));
  if (features.empty()) return Fail(ErrorKind::kInvalid, "has no column");
  if (features.size() > model::kMaxFeatures)
    return Fail(ErrorKind::kInvalid,
                fmt::format("it has {} features; the maximum is {}", features.size(), model::kMaxFeatures));
  return features;
}

}  // namespace

Result<DataFile> ReadData(const std::string& path) {
  KEPLER_TRY(std::string text, files::ReadBounded(path, files::kMaxDataBytes));
  DataFile data{.path = path == "-" ? "standard input" : path, .sha256 = model::Sha256(text), .table = {}};
  KEPLER_TRY(data.table, files::InFile(data.path, training::Table::ReadCsv(std::move(text))));
  return data;
}

std::vector<std::string> SplitItems(std::span<const std::string> given) {
  std::vector<std::string> items;
  for (const std::string& text : given) {
    Splitter splitter(text, ',');
    while (const auto item = splitter.Next())
      if (const std::string_view name = Trim(*item); !name.empty()) items.emplace_back(name);
  }
  return items;
}

Result<std::vector<Target>> ResolveTargets(std::span<const std::string> columns,
                                           std::span<const std::string> components) {
  if (columns.empty()) return Fail(ErrorKind::kInvalid, "has no column");
  if (!components.empty() && components.size() != columns.size())
    return Fail(ErrorKind::kInvalid, fmt::format("{} columns and {} components; set one component per column",
                                                 columns.size(), components.size()));
  std::vector<Target> targets;
  for (size_t i = 0; i < columns.size(); ++i) {
    Target target{.column = columns[i]};
    if (components.empty()) {
      KEPLER_TRY(target.component, ComponentOfColumn(columns[i]));
    } else {
      const auto component = model::ComponentOf(components[i]);
      if (!component)
        return Fail(ErrorKind::kInvalid,
                    fmt::format("'{}' is not a component; components are {}", components[i], ComponentNames()));
      target.component = *component;
    }
    if (std::ranges::find(targets, target.component, &Target::component) != targets.end())
      return Fail(ErrorKind::kInvalid, fmt::format("component {} appears twice; use one column per component",
                                                   model::Name(target.component)));
    targets.push_back(std::move(target));
  }
  return targets;
}

Result<Target> ResolveTarget(const std::string& column, const std::string& component) {
  KEPLER_TRY(auto targets, ResolveTargets({&column, 1}, {&component, component.empty() ? 0U : 1U}));
  return std::move(targets.front());
}

std::string FindTarget(const DataFile& data, const std::string& column) {
  if (FindColumn(data, column) || dataset::WattsOf(column).empty()) return column;
  std::string dynamic = dataset::DynamicName(column);
  return FindColumn(data, dynamic) ? dynamic : column;
}

Result<const model::ComponentModel*> FindComponent(const std::string& path, const model::PowerModel& model,
                                                   const Target& target) {
  const auto found = std::ranges::find(model.components, target.component, &model::ComponentModel::component);
  if (found != model.components.end()) return &*found;
  return Fail(ErrorKind::kInvalid, fmt::format("{}: the model has no component {} for column '{}'", path,
                                               model::Name(target.component), target.column));
}

Result<std::vector<std::string>> ResolveFeatures(std::span<const std::string> given) {
  return ResolveWhere(given, [](std::string_view) { return true; });
}

Result<std::vector<std::string>> GivenFeatures(std::span<const std::string> flag) {
  return flag.empty() ? std::vector<std::string>() : ResolveFeatures(SplitItems(flag));
}

Result<std::vector<std::string>> ResolveFeaturesOf(const DataFile& data, std::span<const std::string> given) {
  const auto has = [&data](std::string_view name) {
    const auto column = data.table.Find(name);
    return !column || column->has_value();  // two columns of one feature are an error when it is read
  };
  return files::InFile(data.path, ResolveWhere(given, has));
}

Result<size_t> FindColumn(const DataFile& data, std::string_view name) {
  KEPLER_TRY(const auto column, files::InFile(data.path, data.table.Find(name)));
  if (!column) return NotThere(data, name);
  return *column;
}

Result<std::vector<double>> ReadNumbers(const DataFile& data, std::string_view column) {
  KEPLER_TRY(const size_t index, FindColumn(data, column));
  return files::InFile(data.path, data.table.Numbers(index));
}

Result<std::vector<double>> ReadGappy(const DataFile& data, size_t column) {
  return files::InFile(data.path, data.table.NumbersAndGaps(column));
}

Result<std::vector<double>> ReadWatts(const DataFile& data, std::string_view column) {
  KEPLER_TRY(std::vector<double> watts, ReadNumbers(data, column));
  for (size_t row = 0; row < watts.size(); ++row)
    if (std::abs(watts[row]) > training::kMaxWatts)
      return files::InFile(data.path, {ErrorKind::kMalformed, fmt::format("line {}, column '{}': {} W is impossible",
                                                                          data.table.LineOf(row), column, watts[row])});
  return watts;
}

Result<std::vector<size_t>> RowsOfPower(const DataFile& data, std::span<const WattsColumn> columns) {
  constexpr double kMaxNegative = 0.1;  // of the rows
  std::vector<size_t> rows;
  std::string first;
  for (size_t row = 0; row < data.table.rows(); ++row) {
    const auto below = std::ranges::find_if(columns, [row](const WattsColumn& watts) { return watts.values[row] < 0; });
    if (below == columns.end())
      rows.push_back(row);
    else if (first.empty())
      first = fmt::format("line {}, column '{}': {} W", data.table.LineOf(row), below->column, below->values[row]);
  }
  const size_t negative = data.table.rows() - rows.size();
  if (static_cast<double>(negative) <= kMaxNegative * static_cast<double>(data.table.rows())) return rows;
  return files::InFile(data.path, {ErrorKind::kMalformed,
                                   fmt::format("power is below 0 W in {} of {} rows (the first: {}), which no meter "
                                               "measures; correct or remove these rows",
                                               negative, data.table.rows(), first)});
}

std::vector<size_t> AllRows(const DataFile& data) {
  std::vector<size_t> rows(data.table.rows());
  std::iota(rows.begin(), rows.end(), size_t{0});
  return rows;
}

std::vector<std::string> RowNames(const DataFile& data) {
  std::vector<std::string> names;
  const auto names_of_file = data.table.names();
  const auto column = std::ranges::find(names_of_file, "row");
  if (column != names_of_file.end()) {
    const auto texts = data.table.Texts(static_cast<size_t>(column - names_of_file.begin()));
    names.assign(texts.begin(), texts.end());
  } else {
    for (size_t row = 0; row < data.table.rows(); ++row) names.push_back(fmt::format("{}", row));
  }
  return names;
}

std::string PredictionsCsv(std::span<const std::string> names, std::span<const size_t> rows,
                           std::span<const Target> targets, std::span<const std::vector<double>> predictions,
                           std::string_view suffix) {
  std::string out = "row";
  const bool is_only = targets.size() == 1 && suffix.empty();
  for (const Target& target : targets)
    out += fmt::format(",{}{}", is_only ? "prediction" : model::Name(target.component), suffix);
  out += '\n';
  for (size_t i = 0; i < rows.size(); ++i) {
    out += dataset::CsvCell(names[rows[i]]);
    for (const std::vector<double>& watts : predictions) out += fmt::format(",{}", watts[i]);
    out += '\n';
  }
  return out;
}

}  // namespace kepler::lab::judging
