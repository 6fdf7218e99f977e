#include "lab/judging/folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "lab/files/files.h"

namespace kepler::lab::judging {
namespace {

constexpr size_t kBlocks = 5;
/// More groups are left out several at a time.
constexpr size_t kMaxGroupFolds = 64;

/// Leaves out what is not in `rows`.
Status KeepUsable(const DataFile& data, std::span<const size_t> rows, std::vector<training::Fold>& folds) {
  std::vector<bool> usable(data.table.rows());
  for (const size_t row : rows) usable[row] = true;
  const auto unusable = [&usable](size_t row) { return !usable[row]; };
  for (training::Fold& fold : folds) {
    std::erase_if(fold.train, unusable);
    std::erase_if(fold.test, unusable);
  }
  std::erase_if(folds, [](const training::Fold& fold) { return fold.test.empty(); });
  if (!folds.empty()) return {};
  return files::InFile(data.path, {ErrorKind::kMalformed, "no row to test: all have power below 0 W"});
}

std::string DescriptionOf(size_t folds, const FoldColumns& columns, std::span<const uint32_t> groups,
                          std::span<const size_t> rows) {
  if (columns.folds.empty() && groups.empty()) return fmt::format("out of fold: {} blocks of consecutive rows", folds);
  if (columns.folds.empty()) {
    std::set<uint32_t> usable;
    for (const size_t row : rows) usable.insert(groups[row]);
    return fmt::format("out of fold: {} values of column {} in {} folds, each predicted by a model of the others",
                       usable.size(), columns.group, folds);
  }
  return fmt::format("out of fold: {} by column {}{}", folds, columns.folds,
                     groups.empty() ? std::string() : fmt::format(", no {} on both sides", columns.group));
}

}  // namespace

Result<std::vector<training::Fold>> ReadFolds(const DataFile& data, std::string_view column) {
  KEPLER_TRY(const std::vector<double> numbers, ReadNumbers(data, column));
  constexpr double kMaxLabel = 1'000'000;
  constexpr size_t kMaxFolds = 1000;
  std::vector<int64_t> labels;
  for (size_t row = 0; row < numbers.size(); ++row) {
    const double number = numbers[row];
    if (number != std::floor(number) || number < -1 || number >= kMaxLabel)
      return files::InFile(
          data.path, {ErrorKind::kMalformed,
                      fmt::format("line {}, column '{}': {} is not a fold; a fold is a whole number from 0, or -1 "
                                  "for training only",
                                  data.table.LineOf(row), column, number)});
    labels.push_back(static_cast<int64_t>(number));
  }
  std::set<int64_t> different(labels.begin(), labels.end());
  different.erase(-1);
  if (different.size() > kMaxFolds)
    return files::InFile(
        data.path, {ErrorKind::kInvalid,
                    fmt::format("column '{}' has more than {} folds, and each fold needs a fit", column, kMaxFolds)});
  std::vector<training::Fold> folds = training::FoldsByLabel(labels);
  if (folds.empty())
    return files::InFile(data.path,
                         {ErrorKind::kMalformed,
                          fmt::format("column '{}' has no row to test, because every value is -1; set rows to test "
                                      "to 0",
                                      column)});
  return folds;
}

Result<std::vector<uint32_t>> ReadGroups(const DataFile& data, std::string_view column) {
  KEPLER_TRY(const size_t index, FindColumn(data, column));
  std::map<std::string_view, uint32_t> numbers;
  std::vector<uint32_t> groups;
  for (const std::string_view text : data.table.Texts(index))
    groups.push_back(numbers.try_emplace(text, static_cast<uint32_t>(numbers.size())).first->second);
  if (numbers.size() < 2)
    return files::InFile(
        data.path, {ErrorKind::kInvalid, fmt::format("column '{}' has a single value, so no machine can be left out; "
                                                     "train without --group",
                                                     column)});
  return groups;
}

Result<FoldPlan> PlanFolds(const DataFile& data, const FoldColumns& columns, std::span<const uint32_t> groups,
                           std::span<const size_t> rows) {
  FoldPlan plan;
  if (!columns.folds.empty()) {
    KEPLER_TRY(plan.folds, ReadFolds(data, columns.folds));
  } else if (!groups.empty()) {
    plan.folds = training::FoldsByGroup(groups, kMaxGroupFolds);
  } else {
    plan.folds = training::ContiguousBlocks(data.table.rows(), kBlocks);
  }
  KEPLER_CHECK_OK(KeepUsable(data, rows, plan.folds));
  plan.description = DescriptionOf(plan.folds.size(), columns, groups, rows);
  return plan;
}

}  // namespace kepler::lab::judging
