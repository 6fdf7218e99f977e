#pragma once
// The trainer named "auto": several trainers, judged on blocks of the samples that their fits have not seen, and the
// blend of those that did well. Deterministic, blocking; what is to be tested later is never looked at.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/power_model.h"
#include "training/samples.h"

namespace kepler::training {

struct AutoOptions {
  std::span<const std::string> features;  // canonical names of the columns: what physics says of them is used
  model::Component component = model::Component::kPackage;
  uint64_t seed = 0;
};

/// One candidate and how it did on the blocks.
struct CandidateScore {
  std::string name;  // "monotone(depth=3)"
  double mae_watts = 0;
  double weight = 0;  // in the blend
};

struct AutoFit {
  model::Predictor predictor;
  std::vector<CandidateScore> scores;
};

/// Fits everything twice: on the blocks to judge, then all samples for those that are in the blend. Fewer than 10 rows:
/// linear.
[[nodiscard]] Result<AutoFit> FitAuto(const Samples& samples, const AutoOptions& options);

}  // namespace kepler::training
