#include "lab/training/validation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

namespace kepler::lab::training {
namespace {

constexpr double kMinVariance = 1e-12;  // W²

/// `part_of` says for each row in which test it is; rows of no part (negative) only train.
std::vector<Fold> FoldsOf(std::span<const int64_t> part_of, std::span<const int64_t> parts) {
  std::vector<Fold> folds;
  for (const int64_t part : parts) {
    Fold& fold = folds.emplace_back();
    for (size_t row = 0; row < part_of.size(); ++row) (part_of[row] == part ? fold.test : fold.train).push_back(row);
  }
  return folds;
}

/// From 0; equal values have the mean of their ranks.
std::vector<double> RanksOf(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [values](size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end - 1) / 2;
    begin = end;
  }
  return ranks;
}

}  // namespace

std::vector<Fold> FoldsByLabel(std::span<const int64_t> labels) {
  std::vector<int64_t> parts(labels.begin(), labels.end());
  std::ranges::sort(parts);
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  std::erase_if(parts, [](int64_t part) { return part < 0; });
  return FoldsOf(labels, parts);
}

std::vector<Fold> ContiguousBlocks(size_t rows, size_t count) {
  std::vector<int64_t> labels(rows);
  for (size_t row = 0; row < rows; ++row) labels[row] = static_cast<int64_t>(row * count / rows);
  return FoldsByLabel(labels);
}

std::vector<Fold> InterleavedParts(size_t rows, size_t count) {
  constexpr size_t kRunsPerFold = 5;
  const size_t run = std::max<size_t>(1, rows / (count * kRunsPerFold));
  std::vector<int64_t> labels(rows);
  for (size_t row = 0; row < rows; ++row) labels[row] = static_cast<int64_t>(row / run % count);
  return FoldsByLabel(labels);
}

bool IsSorted(std::span<const double> values) {
  constexpr double kCloseToOrder = 0.9;
  const std::vector<double> ranks = RanksOf(values);
  const double mean = (static_cast<double>(values.size()) - 1) / 2;
  double product = 0;
  double of_ranks = 0;
  double of_rows = 0;
  for (size_t row = 0; row < ranks.size(); ++row) {
    const double from_middle = static_cast<double>(row) - mean;
    product += from_middle * (ranks[row] - mean);
    of_ranks += (ranks[row] - mean) * (ranks[row] - mean);
    of_rows += from_middle * from_middle;
  }
  return of_ranks > 0 && std::abs(product) >= kCloseToOrder * std::sqrt(of_ranks * of_rows);
}

std::vector<Fold> FoldsByGroup(std::span<const uint32_t> groups, size_t count) {
  std::map<uint32_t, size_t> sizes;
  for (const uint32_t group : groups) ++sizes[group];
  // The largest first, each into the fold that has least: the usual greedy rule.
  std::vector<std::pair<size_t, uint32_t>> by_size;
  by_size.reserve(sizes.size());
  for (const auto& [group, size] : sizes) by_size.emplace_back(size, group);
  std::ranges::sort(by_size, std::greater{});
  std::vector<size_t> rows(std::min(count, sizes.size()));
  std::map<uint32_t, int64_t> fold_of;
  for (const auto& [size, group] : by_size) {
    const auto least = std::ranges::min_element(rows);
    fold_of[group] = least - rows.begin();
    *least += size;
  }
  std::vector<int64_t> labels;
  for (const uint32_t group : groups) labels.push_back(fold_of[group]);
  return FoldsByLabel(labels);
}

Errors Judge(std::span<const double> predicted, std::span<const double> measured) {
  Errors errors;
  errors.rows = measured.size();
  if (measured.empty()) return errors;
  const auto rows = static_cast<double>(measured.size());
  const double mean = std::accumulate(measured.begin(), measured.end(), 0.0) / rows;
  double absolute = 0;
  double relative = 0;
  double residual = 0;
  double total = 0;
  for (size_t i = 0; i < measured.size(); ++i) {
    const double error = predicted[i] - measured[i];
    absolute += std::abs(error);
    residual += error * error;
    total += (measured[i] - mean) * (measured[i] - mean);
    if (measured[i] < kMinWattsOfMape) continue;
    relative += std::abs(error) / measured[i];
    ++errors.mape_rows;
  }
  errors.mae_watts = absolute / rows;
  if (errors.mape_rows > 0) errors.mape = 100 * relative / static_cast<double>(errors.mape_rows);
  // The mean of equal labels may differ from them in the last bit.
  if (total > rows * std::max(1e-20 * mean * mean, kMinVariance)) errors.r2 = 1 - residual / total;
  return errors;
}

}  // namespace kepler::lab::training
