#pragma once
// Selects the rows that test a model fitted without them, and describes the choice for reports. No I/O.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/judging/data.h"
#include "lab/training/validation.h"

namespace kepler::lab::judging {

/// Returns one fold for each number from 0 in the column, at most 1000. Its rows are tested. -1 means training only.
[[nodiscard]] Result<std::vector<training::Fold>> ReadFolds(const DataFile& data, std::string_view column);
/// Returns the group of each row. Equal texts are one group. Groups are numbered in the order of their first rows.
[[nodiscard]] Result<std::vector<uint32_t>> ReadGroups(const DataFile& data, std::string_view column);

/// Names of columns, or empty.
struct FoldColumns {
  std::string folds;  // the fold of each row
  std::string group;  // the machine of each row
};

struct FoldPlan {
  std::vector<training::Fold> folds;  // of usable rows
  std::string description;            // "out of fold: ..."
};

/// Folds by a column, else by groups (at most 64), else five blocks of rows. `groups`: of the column `group`; `rows`:
/// the usable ones. kMalformed if no row to test is left.
[[nodiscard]] Result<FoldPlan> PlanFolds(const DataFile& data, const FoldColumns& columns,
                                         std::span<const uint32_t> groups, std::span<const size_t> rows);

}  // namespace kepler::lab::judging
