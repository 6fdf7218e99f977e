#include "lab/training/auto.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "lab/training/blend_weights.h"
#include "lab/training/candidates.h"
#include "lab/training/trainer.h"
#include "lab/training/validation.h"
#include "model/features.h"

namespace kepler::lab::training {
namespace {

constexpr size_t kBlocks = 5;
constexpr size_t kFewestRows = 10;
/// Machines that the linear candidate needs for each of its weights. With fewer, the weights of features that are
/// constant per machine follow the noise, and another machine can be far off.
constexpr size_t kMachinesPerWeight = 2;

bool IsCounted(std::string_view feature) {
  return feature == "cpu_cycles" || feature == "cpu_instructions" || feature == "cache_miss" ||
         feature.ends_with("_irq");
}

/// The columns that flexible candidates use. The power of a CPU follows from its cycles and instructions. If these are
/// known, only candidates that cannot overfit use time and other proxies. The power of memory follows from no single
/// counter. A small table cannot show which columns represent work, so all candidates use all columns.
std::vector<bool> ColumnsForFree(const AutoOptions& options, size_t rows, size_t columns) {
  std::vector<bool> seen(columns, true);
  const bool processor = options.component != model::Component::kDram;
  const bool counted = std::ranges::count(options.features, "cpu_cycles") > 0 &&
                       std::ranges::count(options.features, "cpu_instructions") > 0;
  if (!processor || !counted || rows <= kSmallTable) return seen;
  std::transform(options.features.begin(), options.features.end(), seen.begin(), IsCounted);
  return seen;
}

/// Sets the other columns to 0, so that the fit cannot use them and the predictor ignores their values.
Samples Hide(Samples samples, const std::vector<bool>& seen) {
  const size_t columns = samples.features.columns;
  for (size_t i = 0; i < samples.features.values.size(); ++i)
    if (!seen[i % columns]) samples.features.values[i] = 0;
  return samples;
}

Result<model::Predictor> Fit(const Candidate& candidate, const Samples& samples, uint64_t seed) {
  const Trainer* trainer = FindTrainer(candidate.trainer);
  if (trainer == nullptr) return Fail(ErrorKind::kUnavailable, "unknown trainer " + std::string(candidate.trainer));
  return trainer->fit(samples, {.parameters = candidate.parameters, .seed = seed});
}

bool IsTried(const Candidate& candidate, const Samples& samples, size_t machines, size_t max_neighbors) {
  const size_t rows = samples.labels.size();
  const bool plainest = candidate.name == FixedCandidates(rows).front().name;
  if (rows < kFewestRows) return plainest;
  if (plainest && machines > 1) return machines > kMachinesPerWeight * (samples.features.columns + 1);
  return rows <= max_neighbors || candidate.trainer != "knn";
}

size_t MachinesOf(const Samples& samples) {
  return std::set<uint32_t>(samples.groups.begin(), samples.groups.end()).size();
}

/// Folds for the comparison of candidates. Several machines: whole machines. One machine: blocks, which show the error
/// for unseen loads. A small table also has interleaved parts, because its few blocks are not representative. A table
/// that is sorted by load has only such parts, because each block would be one load.
std::vector<Fold> InnerFolds(const Samples& samples) {
  const size_t rows = samples.labels.size();
  if (MachinesOf(samples) > 1) return FoldsByGroup(samples.groups, kBlocks);
  if (IsSorted(samples.labels)) return InterleavedParts(rows, kBlocks);
  std::vector<Fold> folds = ContiguousBlocks(rows, kBlocks);
  if (rows <= kSmallTable) std::ranges::move(InterleavedParts(rows, kBlocks), std::back_inserter(folds));
  return folds;
}

/// Returns the errors on unseen rows; nothing if the candidate cannot be fitted.
std::optional<Tested> Score(const Candidate& candidate, const Samples& samples, std::span<const Fold> folds,
                            uint64_t seed) {
  struct Sum {
    double off = 0;
    double measured = 0;
    double rows = 0;
  };
  Sum all;
  std::map<uint32_t, Sum> machines;
  for (const Fold& fold : folds) {
    const auto predictor = Fit(candidate, Subset(samples, fold.train), seed);
    if (!predictor) return std::nullopt;
    for (const size_t row : fold.test) {
      const double watts = std::max(0.0, model::Predict(*predictor, samples.features.row(row)));
      for (Sum* const sum : {&all, &machines[samples.groups.empty() ? 0 : samples.groups[row]]}) {
        sum->off += std::abs(watts - samples.labels[row]);
        sum->measured += samples.labels[row];
        ++sum->rows;
      }
    }
  }
  Tested tested{.mae_watts = all.off / all.rows};
  if (!std::isfinite(tested.mae_watts)) return std::nullopt;
  for (const auto& [machine, sum] : machines)
    tested.by_machine.push_back(sum.off / std::max(sum.measured, kMinWattsOfMape * sum.rows));
  return tested;
}

struct Judged {
  Candidate candidate;
  std::optional<Tested> tested;
};

double MaeOrInfinite(const Judged& judged) { return judged.tested ? judged.tested->mae_watts : HUGE_VAL; }

/// Adds the best random candidates. Returns the number of candidates that were tried, without duplicates.
size_t SearchMore(const AutoOptions& options, const std::function<std::optional<Tested>(const Candidate&)>& judge,
                  std::vector<Judged>& judged) {
  using std::chrono::steady_clock;
  const Search& search = options.search;
  const steady_clock::time_point start = steady_clock::now();
  std::mt19937_64 random(options.seed);
  std::vector<Judged> found;
  std::set<std::string, std::less<>> names;
  double best = MaeOrInfinite(*std::ranges::min_element(judged, {}, MaeOrInfinite));
  for (size_t i = 0; i < search.candidates && best > search.good_enough_watts; ++i) {
    if (search.budget.count() > 0 && !names.empty() && steady_clock::now() - start >= search.budget) break;
    Candidate candidate = DrawCandidate(random);
    if (!names.insert(candidate.name).second) continue;
    auto tested = judge(candidate);
    if (!tested) continue;
    best = std::min(best, tested->mae_watts);
    found.push_back({std::move(candidate), std::move(tested)});
  }
  std::ranges::sort(found, {}, MaeOrInfinite);
  if (found.size() > kMaxSearched) found.resize(kMaxSearched);
  std::ranges::move(found, std::back_inserter(judged));
  return names.size();
}

/// A blend does not contain blends: the parts of an inner blend are added one by one.
void AddPart(model::Blend& blend, double weight, model::Predictor part) {
  if (auto* inner = std::get_if<model::Blend>(&part.formula)) {
    for (size_t i = 0; i < inner->parts.size(); ++i) {
      blend.weights.push_back(weight * inner->weights[i]);
      blend.parts.push_back(std::move(inner->parts[i]));
    }
    return;
  }
  blend.weights.push_back(weight);
  blend.parts.push_back(std::move(part));
}

}  // namespace

Result<AutoFit> FitAuto(const Samples& samples, const AutoOptions& options) {
  const size_t rows = samples.labels.size();
  const Samples hidden = Hide(samples, ColumnsForFree(options, rows, samples.features.columns));
  const auto seen_by = [&](const Candidate& candidate) -> const Samples& { return candidate.free ? hidden : samples; };
  const auto folds = InnerFolds(samples);
  const size_t machines = MachinesOf(samples);
  const auto judge = [&](const Candidate& candidate) -> std::optional<Tested> {
    if (!IsTried(candidate, samples, machines, options.max_neighbors)) return std::nullopt;
    return Score(candidate, seen_by(candidate), folds, options.seed);
  };
  std::vector<Judged> judged;
  for (const Candidate& candidate : FixedCandidates(rows)) judged.push_back({candidate, judge(candidate)});
  AutoFit fit;
  if (rows >= kFewestRows) fit.searched = SearchMore(options, judge, judged);
  std::vector<std::optional<Tested>> tested;
  tested.reserve(judged.size());
  for (const Judged& each : judged) tested.push_back(each.tested);
  const std::vector<double> weights = WeightsInBlend(tested);
  model::Blend blend;
  for (size_t i = 0; i < judged.size(); ++i) {
    const auto& [candidate, result] = judged[i];
    fit.scores.push_back({.name = candidate.name,
                          .mae_watts = result ? std::optional(result->mae_watts) : std::nullopt,
                          .weight = weights[i]});
    if (!(weights[i] > 0)) continue;
    KEPLER_TRY(auto part, Fit(candidate, seen_by(candidate), options.seed));
    AddPart(blend, weights[i], std::move(part));
  }
  if (blend.parts.size() == 1)
    fit.predictor = std::move(blend.parts.front());
  else
    fit.predictor.formula = std::move(blend);
  return fit;
}

}  // namespace kepler::lab::training
