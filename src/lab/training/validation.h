#pragma once
// Folds: which rows are tested by a model that was fitted without them. Pure.
#include <cstdint>
#include <span>
#include <vector>

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

/// Whole groups (machines) are left out, at most `count` folds of nearly the same number of rows.
[[nodiscard]] std::vector<Fold> FoldsByGroup(std::span<const uint32_t> groups, size_t count);

}  // namespace kepler::lab::training
