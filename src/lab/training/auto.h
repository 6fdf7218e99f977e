#pragma once
// The trainer "auto" tests several trainers on blocks of samples that their fits have not seen, and blends the best of
// them. It never reads the rows that test the result later.
// Deterministic, except with a time budget. Blocking.
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/training/samples.h"
#include "model/power_model.h"

namespace kepler::lab::training {

/// Maximum number of rows for the trainer knn, because each of its predictions reads all rows.
inline constexpr size_t kMaxAutoNeighbors = 20'000;

/// Hyper-parameters that are tried at random, in addition to the fixed candidates.
struct Search {
  size_t candidates = 0;         // maximum number
  double good_enough_watts = 0;  // the search ends when the best MAE on the blocks is at most this
  /// Time limit of the search after the fixed candidates were judged; at least one candidate is tried. 0: no limit.
  /// With a limit, the model depends on the speed of the machine.
  std::chrono::nanoseconds budget{0};
};
/// Maximum number of random candidates in the blend. If hundreds are judged on the same blocks, the best ones are
/// partly lucky, and each part makes predictions slower.
inline constexpr size_t kMaxSearched = 3;

struct AutoOptions {
  std::span<const std::string> features{};  // canonical names of the columns; auto uses their physical meaning
  model::Component component = model::Component::kPackage;
  uint64_t seed = 0;
  size_t max_neighbors = kMaxAutoNeighbors;
  Search search{};
};

/// One candidate and its error on the blocks.
struct CandidateScore {
  std::string name;                 // "monotone(depth=3)"
  std::optional<double> mae_watts;  // nothing: it cannot be fitted to these samples
  double weight = 0;                // in the blend
};

struct AutoFit {
  model::Predictor predictor;
  std::vector<CandidateScore> scores;
  size_t searched = 0;  // number of candidates that were tried at random; the best of them are in `scores`
};

/// Tests each candidate on five contiguous blocks, each predicted by a fit of the others. Up to 1000 samples are also
/// tested on five interleaved parts, and sorted samples only on such parts. Several machines are left out in turn
/// instead. Then fits the blend to all samples; WeightsInBlend() weighs its parts. Fewer than 10 rows: linear, and no
/// search. More than `max_neighbors` rows: knn is not tried.
[[nodiscard]] Result<AutoFit> FitAuto(const Samples& samples, const AutoOptions& options);

}  // namespace kepler::lab::training
