#pragma once
// Folds: which rows are tested by a model that was fitted without them, and how far its predictions are off. Pure.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/power_model.h"

namespace kepler::lab::training {

/// Rows by index, each ascending.
struct Fold {
  std::vector<size_t> train;
  std::vector<size_t> test;
};

/// One fold for each label >= 0, ascending: its rows are the test, all others (the negative ones too) train.
[[nodiscard]] std::vector<Fold> FoldsByLabel(std::span<const int64_t> labels);

/// `count` contiguous blocks of nearly the same size; fewer where there are fewer rows. Neighbours in time are alike: a
/// test on rows between those that were trained on flatters.
[[nodiscard]] std::vector<Fold> ContiguousBlocks(size_t rows, size_t count);

/// `count` folds of short runs of rows, in turns: each fold has rows of every part of the table.
[[nodiscard]] std::vector<Fold> InterleavedParts(size_t rows, size_t count);

/// Whether the values ascend or descend from the first row to the last, apart from noise (rank correlation of 0.9 or
/// more). Rows with sorted watts are not in order of time.
[[nodiscard]] bool IsSorted(std::span<const double> values);

/// Whole groups (machines) are left out, at most `count` folds of nearly the same number of rows.
[[nodiscard]] std::vector<Fold> FoldsByGroup(std::span<const uint32_t> groups, size_t count);

/// What is below that is no reading of a meter, and a percentage of it says nothing.
inline constexpr double kMinWattsOfMape = 1e-3;

struct Errors : model::Accuracy {
  size_t mape_rows = 0;  // that the MAPE is over
};

/// MAE; MAPE over rows with 1 mW or more; R², which is 0 where the labels vary by less than a microwatt. Both of the
/// same size. Finite for predictions up to model::kMaxWatts and labels up to kMaxWatts.
[[nodiscard]] Errors Judge(std::span<const double> predicted, std::span<const double> measured);

}  // namespace kepler::lab::training
