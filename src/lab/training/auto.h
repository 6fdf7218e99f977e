#pragma once
// The trainer named "auto": several trainers, judged on blocks of the samples that their fits have not seen, and the
// blend of those that did well. Deterministic except with a budget of time; blocking. Rows that are tested
// later are never read.
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

/// No more rows than that are kept as neighbours: each prediction looks at all of them.
inline constexpr size_t kMaxAutoNeighbors = 20'000;

/// Hyper-parameters that are tried at random, in addition to the fixed candidates.
struct Search {
  size_t candidates = 0;         // maximum number
  double good_enough_watts = 0;  // ends once the best MAE on the blocks is that or less
  /// From when the fixed candidates are judged; one is tried in any case. 0: no end. With one the model depends on how
  /// fast the machine is.
  std::chrono::nanoseconds budget{0};
};
/// Maximum number of them in the blend: of hundreds that were judged on the same blocks the best ones
/// are the luckiest, and each makes predictions slower.
inline constexpr size_t kMaxSearched = 3;

struct AutoOptions {
  std::span<const std::string> features{};  // canonical names of the columns: what physics says of them is used
  model::Component component = model::Component::kPackage;
  uint64_t seed = 0;
  size_t max_neighbors = kMaxAutoNeighbors;
  Search search{};
};

/// One candidate and how it did on the blocks.
struct CandidateScore {
  std::string name;                 // "monotone(depth=3)"
  std::optional<double> mae_watts;  // none where it cannot be fitted to these samples
  double weight = 0;                // in the blend
};

struct AutoFit {
  model::Predictor predictor;
  std::vector<CandidateScore> scores;
  size_t searched = 0;  // how many were tried at random; the best of them are in `scores`
};

/// Judges each candidate on five contiguous blocks of the samples, each predicted by a fit of the others. Up to 1000
/// samples are also judged on five interleaved parts, sorted samples on such parts only. Several machines are left out
/// one after another instead. Then fits the candidates of the blend to all samples. Fewer than 10 rows: linear, and no
/// search. More than `max_neighbors`: knn is not tried.
[[nodiscard]] Result<AutoFit> FitAuto(const Samples& samples, const AutoOptions& options);

}  // namespace kepler::lab::training
