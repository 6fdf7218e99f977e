#pragma once
// What is wrong or unusual with the table of train and pipeline. Notes go to stderr.
#include <cstddef>
#include <span>
#include <string_view>

#include "apps/kepler-model/train.h"
#include "base/result.h"
#include "lab/judging/data.h"
#include "lab/judging/fitting.h"

namespace kepler::lab::tool {

/// kInvalid if a feature is also a target, the column of folds, or `group`: its model would read its answer.
[[nodiscard]] Status CheckFeatures(const Training& config, std::string_view group, const judging::Measurements& all);

/// kMalformed if the watts of a component are the same in every row, except 0 W, which an unmetered component has.
[[nodiscard]] Status CheckLabels(const judging::DataFile& data, const judging::Measurements& all,
                                 std::span<const size_t> rows);

/// Returns the table's column of machines if it has several of them, else "".
[[nodiscard]] std::string ColumnOfMachines(const judging::DataFile& data);

/// Notes folds that may test a machine with models of its own rows. To be called once for a table.
void NoteMixedMachines(const Training& config, const judging::DataFile& data);

/// Notes rows that are not in order of time: rows sorted by load, whose blocks each have one load, and rows whose
/// timestamps are shuffled. For errors on blocks of consecutive rows.
void NoteRowOrder(const judging::DataFile& data, const judging::Measurements& all, std::span<const size_t> rows);

/// Notes counters below 0, with the line of the first.
void NoteNegativeFeatures(const judging::DataFile& data, const judging::Measurements& all,
                          std::span<const size_t> rows);

/// Notes features without effect. One of several features may be constant on this machine.
void NoteConstantFeatures(const judging::DataFile& data, const judging::Measurements& all);

}  // namespace kepler::lab::tool
