#include "apps/kepler-model/train_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "lab/judging/folds.h"
#include "lab/judging/inputs.h"
#include "model/features.h"

namespace kepler::lab::tool {
namespace {

/// Whether more than a tenth of the rows are earlier than the row before. Recordings may be put together in any order.
bool IsShuffled(const judging::DataFile& data, std::span<const size_t> rows) {
  constexpr size_t kFewRows = 10;
  const auto column = data.table.Find("timestamp");
  if (!column || !*column) return false;
  const auto times = data.table.Numbers(**column);
  if (!times) return false;
  size_t earlier = 0;
  for (size_t i = 1; i < rows.size(); ++i) earlier += (*times)[rows[i]] < (*times)[rows[i - 1]] ? 1U : 0U;
  return earlier > rows.size() / kFewRows;
}

/// Other columns of a table may be of any kind, such as a temperature.
bool IsCounter(std::string_view feature) {
  return model::GrowsWithCores(feature) && std::ranges::any_of(model::FeatureGroups(), [&](const auto& group) {
           return std::ranges::find(group.features, feature) != group.features.end();
         });
}

}  // namespace

Status CheckFeatures(const Training& config, std::string_view group, const judging::Measurements& all) {
  std::vector<std::string_view> kept = {config.folds, group};
  for (const judging::Target& target : all.targets) kept.push_back(target.column);
  for (const std::string& feature : all.features)
    if (std::ranges::find(kept, feature) != kept.end())
      return Fail(ErrorKind::kInvalid,
                  fmt::format("column '{}' cannot be a feature: it is a target, the folds or the group", feature));
  return {};
}

Status CheckLabels(const judging::DataFile& data, const judging::Measurements& all, std::span<const size_t> rows) {
  for (size_t i = 0; i < all.targets.size(); ++i) {
    const auto [min, max] = std::ranges::minmax(judging::Pick(all.labels[i], rows));
    if (min != max) continue;
    if (min != 0)
      return Fail(ErrorKind::kMalformed, fmt::format("{}: column '{}' is {} in every row, so nothing can be learned; "
                                                     "measure under different loads",
                                                     data.path, all.targets[i].column, min));
    Note(fmt::format("{}: column '{}' is 0 in every row; its model predicts 0", data.path, all.targets[i].column));
  }
  return {};
}

std::string ColumnOfMachines(const judging::DataFile& data) {
  std::string column = judging::MachineColumn(data);
  return !column.empty() && judging::ReadGroups(data, column) ? column : std::string();
}

void NoteMixedMachines(const Training& config, const judging::DataFile& data) {
  if (config.folds.empty() || !config.group.empty()) return;
  const std::string column = ColumnOfMachines(data);
  if (column.empty()) return;
  Note(
      fmt::format("{}: rows of one machine may train and test the same model, so errors on other machines are larger; "
                  "add --group={}",
                  data.path, column));
}

void NoteRowOrder(const judging::DataFile& data, const judging::Measurements& all, std::span<const size_t> rows) {
  if (IsShuffled(data, rows))
    Note(
        fmt::format("{}: rows are not in order of time, so models are tested at times between those of training rows, "
                    "and errors are too small; sort the rows by timestamp, or use --folds",
                    data.path));
  for (size_t i = 0; i < all.targets.size(); ++i)
    if (training::IsSorted(judging::Pick(all.labels[i], rows)))
      Note(
          fmt::format("{}: rows are sorted by '{}', so blocks of consecutive rows give errors for loads that training "
                      "has not seen; sort the rows by time, or use --folds",
                      data.path, all.targets[i].column));
}

void NoteNegativeFeatures(const judging::DataFile& data, const judging::Measurements& all,
                          std::span<const size_t> rows) {
  for (size_t column = 0; column < all.features.size(); ++column) {
    if (!IsCounter(all.features[column])) continue;
    const auto is_negative = [&](size_t row) { return all.rows.row(row)[column] < 0; };
    const auto first = std::ranges::find_if(rows, is_negative);
    if (first == rows.end()) continue;
    Note(
        fmt::format("{}: column '{}' is below 0 in {} of {} rows (the first: line {}), which is impossible; remove "
                    "these rows",
                    data.path, all.features[column], std::ranges::count_if(rows, is_negative), rows.size(),
                    data.table.LineOf(*first)));
  }
}

void NoteConstantFeatures(const judging::DataFile& data, const judging::Measurements& all) {
  for (size_t column = 0; column < all.features.size(); ++column) {
    const double first = all.rows.row(0)[column];
    size_t row = 1;
    while (row < all.rows.rows() && all.rows.row(row)[column] == first) ++row;
    if (row == all.rows.rows())
      Note(fmt::format("{}: column '{}' is {} in every row and has no effect", data.path, all.features[column], first));
  }
}

}  // namespace kepler::lab::tool
