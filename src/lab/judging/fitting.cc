#include "lab/judging/fitting.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "base/text.h"
#include "lab/training/fits.h"
#include "model/features.h"

namespace kepler::lab::judging {
namespace {

constexpr size_t kFewestRows = 2;  // for training

model::Range RangeOf(std::span<const double> values) {
  const auto [min, max] = std::ranges::minmax(values);
  return {min, max};
}

/// Returns "auto(boosting, linear)": the parts of the blend, the largest first, as many as fit into a label.
std::string NameOf(std::vector<training::CandidateScore> scores) {
  constexpr size_t kRoom = kMaxLabelBytes - std::string_view("auto(, and 99 more)").size();
  std::erase_if(scores, [](const training::CandidateScore& score) { return !(score.weight > 0); });
  if (scores.empty()) return "auto";
  std::ranges::sort(scores, [](const auto& a, const auto& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.name < b.name;
  });
  std::string names = scores.front().name;
  size_t named = 1;
  while (named < scores.size() && names.size() + 2 + scores[named].name.size() <= kRoom)
    names += ", " + scores[named++].name;
  if (named < scores.size()) names += fmt::format(", and {} more", scores.size() - named);
  return fmt::format("auto({})", names);
}

/// Converts samples of whole machines to samples of one CPU. `rows`: indices in `all`.
void DivideByCores(const Measurements& all, std::span<const size_t> rows, training::Samples& samples) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const double cores = all.cores[rows[i]];
    samples.labels[i] /= cores;
    for (size_t column = 0; column < all.features.size(); ++column)
      if (model::GrowsWithCores(all.features[column]))
        samples.features.values[i * samples.features.columns + column] /= cores;
  }
}

/// Writes the name of the trainer to `figures`.
Result<model::Predictor> FitLabels(const training::Samples& samples, const Recipe& recipe,
                                   std::span<const std::string> features, Figures& figures) {
  const auto [min, max] = RangeOf(samples.labels);
  if (min == max) {
    figures.trainer = "constant";
    return model::Predictor{
        .limits = {}, .scale = {}, .formula = model::Linear{min, std::vector<double>(features.size(), 0)}};
  }
  if (recipe.trainer != nullptr) {
    figures.trainer = recipe.trainer->name;
    return recipe.trainer->fit(samples, recipe.options);
  }
  training::AutoOptions options{
      .features = features, .component = figures.target.component, .seed = recipe.options.seed};
  options.search = recipe.search;
  KEPLER_TRY(training::AutoFit fit, FitAuto(samples, options));
  figures.trainer = NameOf(fit.scores);
  figures.scores = std::move(fit.scores);
  figures.searched = fit.searched;
  return std::move(fit.predictor);
}

/// Removes the training rows whose group is tested, because a given fold may contain only a part of a group.
std::vector<size_t> TrainingRows(const training::Fold& fold, std::span<const uint32_t> groups) {
  if (groups.empty()) return fold.train;
  std::set<uint32_t> tested;
  for (const size_t row : fold.test) tested.insert(groups[row]);
  std::vector<size_t> rows;
  std::ranges::copy_if(fold.train, std::back_inserter(rows), [&](size_t row) { return !tested.contains(groups[row]); });
  return rows;
}

double MeanOf(std::span<const double> labels, std::span<const size_t> rows) {
  const double sum =
      std::accumulate(rows.begin(), rows.end(), 0.0, [&](double so_far, size_t row) { return so_far + labels[row]; });
  return sum / static_cast<double>(rows.size());
}

/// Errors of one target by row; only tested rows count.
struct Pooled {
  std::vector<double> predicted;
  std::vector<double> mean;
};

OutOfFold Judged(const Measurements& all, const std::vector<Pooled>& pooled, std::vector<size_t> rows) {
  OutOfFold result{.rows = std::move(rows), .predictions = {}, .errors = {}, .of_mean = {}};
  for (size_t i = 0; i < pooled.size(); ++i) {
    const std::vector<double> measured = Pick(all.labels[i], result.rows);
    result.predictions.push_back(Pick(pooled[i].predicted, result.rows));
    result.errors.push_back(training::Judge(result.predictions.back(), measured));
    result.of_mean.push_back(training::Judge(Pick(pooled[i].mean, result.rows), measured));
  }
  return result;
}

}  // namespace

std::vector<double> Pick(std::span<const double> values, std::span<const size_t> rows) {
  std::vector<double> picked;
  picked.reserve(rows.size());
  for (const size_t row : rows) picked.push_back(values[row]);
  return picked;
}

Result<Fit> FitModel(const Measurements& all, const Recipe& recipe, std::span<const size_t> rows) {
  Fit fit;
  fit.model.output = recipe.output;
  fit.model.per = recipe.per;
  fit.model.features = all.features;
  training::Samples whole{.features = all.rows, .labels = {}, .groups = all.groups};
  for (size_t i = 0; i < all.targets.size(); ++i) {
    whole.labels = all.labels[i];
    training::Samples samples = training::Subset(whole, rows);
    if (recipe.per == model::Per::kCore) DivideByCores(all, rows, samples);
    if (i == 0) fit.model.domain = training::RangesOf(samples.features);
    const Target& target = all.targets[i];
    Figures& figures = fit.figures.emplace_back(target);
    auto fitted = FitLabels(samples, recipe, all.features, figures);
    if (!fitted)
      return Fail(fitted.error().kind, fmt::format("column '{}': {}", target.column, fitted.error().message));
    fit.model.components.push_back({.component = target.component,
                                    .trainer = figures.trainer,
                                    .predictor = *std::move(fitted),
                                    .label = RangeOf(samples.labels),
                                    .accuracy = {},
                                    .unseen = {}});
  }
  KEPLER_CHECK_OK(model::Check(fit.model));
  return fit;
}

std::vector<std::vector<double>> PredictRows(const model::PowerModel& model, const training::Matrix& all,
                                             std::span<const Target> targets, std::span<const size_t> rows,
                                             std::span<const double> cores) {
  std::vector<std::vector<double>> predictions(targets.size());
  for (const size_t row : rows) {
    const model::Estimate estimate = model::EstimateRow(model, all.row(row), cores.empty() ? 1 : cores[row]);
    for (size_t i = 0; i < targets.size(); ++i)
      predictions[i].push_back(estimate.watts[static_cast<size_t>(targets[i].component)]);
  }
  return predictions;
}

Result<std::vector<MachineErrors>> ErrorsByMachine(const DataFile& data, std::string_view column,
                                                   const Measurements& all, const OutOfFold& judged) {
  KEPLER_TRY(const size_t index, FindColumn(data, column));
  const auto names = data.table.Texts(index);
  std::vector<std::vector<size_t>> places(std::ranges::max(all.groups) + size_t{1});  // of tested rows, by group
  for (size_t i = 0; i < judged.rows.size(); ++i) places[all.groups[judged.rows[i]]].push_back(i);
  std::vector<MachineErrors> machines;
  for (const std::vector<size_t>& tested : places) {
    if (tested.empty()) continue;
    MachineErrors& machine = machines.emplace_back(std::string(names[judged.rows[tested.front()]]));
    for (size_t target = 0; target < all.targets.size(); ++target)
      machine.errors.push_back(training::Judge(Pick(judged.predictions[target], tested),
                                               Pick(Pick(all.labels[target], judged.rows), tested)));
  }
  return machines;
}

Result<OutOfFold> PredictOutOfFold(const Measurements& all, const Recipe& recipe, std::span<const training::Fold> folds,
                                   const std::function<void(size_t fold)>& report) {
  const std::vector<double> nothing(all.rows.rows(), 0);
  std::vector<Pooled> pooled(all.targets.size(), {nothing, nothing});
  std::vector<size_t> tested;
  for (size_t fold = 0; fold < folds.size(); ++fold) {
    report(fold);
    const std::vector<size_t> train = TrainingRows(folds[fold], all.groups);
    if (train.size() < kFewestRows)
      return Fail(ErrorKind::kInvalid, fmt::format("fold {} of {} leaves {} rows to train on; at least {} are needed",
                                                   fold + 1, folds.size(), train.size(), kFewestRows));
    const std::vector<size_t>& test = folds[fold].test;
    KEPLER_TRY(const Fit fit, FitModel(all, recipe, train));
    const auto predictions = PredictRows(fit.model, all.rows, all.targets, test, all.cores);
    for (size_t i = 0; i < pooled.size(); ++i) {
      const double mean = MeanOf(all.labels[i], train);
      for (size_t k = 0; k < test.size(); ++k) {
        pooled[i].predicted[test[k]] = predictions[i][k];
        pooled[i].mean[test[k]] = mean;
      }
    }
    tested.insert(tested.end(), test.begin(), test.end());
  }
  std::ranges::sort(tested);
  return Judged(all, pooled, std::move(tested));
}

}  // namespace kepler::lab::judging
