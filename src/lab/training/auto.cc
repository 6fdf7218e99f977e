#include "lab/training/auto.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iterator>
#include <random>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "lab/training/candidates.h"
#include "lab/training/trainer.h"
#include "lab/training/validation.h"
#include "model/features.h"

namespace kepler::lab::training {
namespace {

constexpr size_t kBlocks = 5;
constexpr size_t kFewestRows = 10;
/// Maximum error of a candidate in the blend, as a multiple of the smallest error.
constexpr double kWithin = 1.25;
/// Exponent of the error in the weight of a candidate. A candidate with a 10 % larger error gets half the weight.
constexpr double kSteepness = 8;
constexpr double kMinWeight = 0.05;

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

/// The linear candidate needs more machines than features: else weights of features constant per machine are arbitrary.
bool IsTried(const Candidate& candidate, const Samples& samples, size_t machines, size_t max_neighbors) {
  const size_t rows = samples.labels.size();
  const bool plainest = candidate.name == FixedCandidates(rows).front().name;
  if (rows < kFewestRows) return plainest;
  if (plainest && machines > 1) return machines > samples.features.columns + 1;
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

/// Returns the mean absolute error on unseen rows; nothing if the candidate cannot be fitted.
std::optional<double> Score(const Candidate& candidate, const Samples& samples, std::span<const Fold> folds,
                            uint64_t seed) {
  double sum = 0;
  size_t rows = 0;
  for (const Fold& fold : folds) {
    const auto predictor = Fit(candidate, Subset(samples, fold.train), seed);
    if (!predictor) return std::nullopt;
    for (const size_t row : fold.test)
      sum += std::abs(std::max(0.0, model::Predict(*predictor, samples.features.row(row))) - samples.labels[row]);
    rows += fold.test.size();
  }
  const double mae = sum / static_cast<double>(rows);
  if (!std::isfinite(mae)) return std::nullopt;
  return mae;
}

struct Judged {
  Candidate candidate;
  std::optional<double> mae_watts;
};

double MaeOrInfinite(const Judged& judged) { return judged.mae_watts.value_or(HUGE_VAL); }

/// Adds the best random candidates. Returns the number of candidates that were tried, without duplicates.
size_t SearchMore(const AutoOptions& options, const std::function<std::optional<double>(const Candidate&)>& judge,
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
    const auto mae = judge(candidate);
    if (!mae) continue;
    best = std::min(best, *mae);
    found.push_back({std::move(candidate), mae});
  }
  std::ranges::sort(found, {}, MaeOrInfinite);
  if (found.size() > kMaxSearched) found.resize(kMaxSearched);
  std::ranges::move(found, std::back_inserter(judged));
  return names.size();
}

/// Sets the weights by score. A much larger error gives the weight 0. Without any score, the first candidate gets all.
void Weigh(std::vector<CandidateScore>& scores) {
  const auto mae = [](const CandidateScore& score) { return score.mae_watts.value_or(HUGE_VAL); };
  const double best = mae(*std::ranges::min_element(scores, {}, mae));
  if (!std::isfinite(best)) {
    scores.front().weight = 1;  // its fit returns the error
    return;
  }
  const auto share = [&](double least) {
    double sum = 0;
    for (const CandidateScore& score : scores) sum += score.weight;
    for (CandidateScore& score : scores) score.weight = score.weight < least * sum ? 0 : score.weight / sum;
  };
  for (CandidateScore& score : scores)
    score.weight = mae(score) > kWithin * best ? 0 : best == 0 ? 1 : std::pow(mae(score) / best, -kSteepness);
  share(0);
  share(kMinWeight);
  share(0);
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
  const auto judge = [&](const Candidate& candidate) -> std::optional<double> {
    if (!IsTried(candidate, samples, machines, options.max_neighbors)) return std::nullopt;
    return Score(candidate, seen_by(candidate), folds, options.seed);
  };
  std::vector<Judged> judged;
  for (const Candidate& candidate : FixedCandidates(rows)) judged.push_back({candidate, judge(candidate)});
  AutoFit fit;
  if (rows >= kFewestRows) fit.searched = SearchMore(options, judge, judged);
  fit.scores.reserve(judged.size());
  for (const Judged& each : judged) fit.scores.push_back({.name = each.candidate.name, .mae_watts = each.mae_watts});
  Weigh(fit.scores);
  model::Blend blend;
  for (size_t i = 0; i < judged.size(); ++i) {
    if (!(fit.scores[i].weight > 0)) continue;
    KEPLER_TRY(auto part, Fit(judged[i].candidate, seen_by(judged[i].candidate), options.seed));
    AddPart(blend, fit.scores[i].weight, std::move(part));
  }
  if (blend.parts.size() == 1)
    fit.predictor = std::move(blend.parts.front());
  else
    fit.predictor.formula = std::move(blend);
  return fit;
}

}  // namespace kepler::lab::training
