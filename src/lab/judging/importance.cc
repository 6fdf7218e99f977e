#include "lab/judging/importance.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string_view>
#include <utility>

#include "lab/judging/fitting.h"
#include "lab/training/validation.h"

namespace kepler::lab::judging {
namespace {

constexpr int kShuffles = 3;  // whose mean is taken

std::vector<size_t> EvenlySpaced(std::span<const size_t> rows) {
  const size_t step = (rows.size() + kMaxImportanceRows - 1) / kMaxImportanceRows;
  std::vector<size_t> some;
  for (size_t i = 0; i < rows.size(); i += step) some.push_back(rows[i]);
  return some;
}

/// std::shuffle differs between libraries.
void Shuffle(std::vector<double>& values, std::mt19937_64& random) {
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random() % i]);
}

}  // namespace

std::vector<Importance> ImportanceOf(const model::PowerModel& model, const training::Matrix& all, const Target& target,
                                     std::span<const double> measured, std::span<const size_t> rows,
                                     std::span<const double> cores) {
  const std::vector<size_t> some = EvenlySpaced(rows);
  training::Matrix changed{.columns = all.columns, .values = {}};
  for (const size_t row : some) changed.values.insert(changed.values.end(), all.row(row).begin(), all.row(row).end());
  const std::vector<double> watts = Pick(measured, some);
  const std::vector<double> cores_of_some = cores.empty() ? std::vector<double>() : Pick(cores, some);
  std::vector<size_t> every(some.size());
  std::iota(every.begin(), every.end(), size_t{0});
  const auto error = [&] {
    return training::Judge(PredictRows(model, changed, {&target, 1}, every, cores_of_some).front(), watts).mae_watts;
  };
  const double usual = error();
  std::vector<Importance> result;
  std::mt19937_64 random(1);
  for (size_t column = 0; column < all.columns; ++column) {
    std::vector<double> values;
    values.reserve(every.size());
    for (const size_t row : every) values.push_back(changed.row(row)[column]);
    const auto put = [&](const std::vector<double>& given) {
      for (const size_t row : every) changed.values[row * changed.columns + column] = given[row];
    };
    double sum = 0;
    std::vector<double> shuffled = values;
    for (int i = 0; i < kShuffles; ++i) {
      Shuffle(shuffled, random);
      put(shuffled);
      sum += error() - usual;
    }
    put(values);
    result.push_back({.feature = model.features[column], .watts = sum / kShuffles});
  }
  std::ranges::sort(result, {},
                    [](const Importance& of) { return std::pair(-of.watts, std::string_view(of.feature)); });
  return result;
}

}  // namespace kepler::lab::judging
