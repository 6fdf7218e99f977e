#pragma once
// The trainers by name, each a library's where there is one. Deterministic: the same samples, options and seed give the
// same predictor. Blocking, single-threaded, re-entrant.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "lab/training/samples.h"
#include "model/predictor.h"

namespace kepler::lab::training {

/// Hyper-parameters by name; what is absent has the trainer's default, what it does not know is kInvalid.
struct TrainerOptions {
  std::map<std::string, double, std::less<>> parameters;
  uint64_t seed = 0;
};

struct Trainer {
  std::string_view name;           // "gradient-boosting"
  std::string_view upstream_name;  // "GradientBoostingRegressorTrainer", or empty
  std::string_view description;    // one line, for --help
  Result<model::Predictor> (*fit)(const Samples& samples, const TrainerOptions& options);
};

/// All of them, in the order of --help.
[[nodiscard]] std::span<const Trainer> Trainers();

/// By either name, or nullptr.
[[nodiscard]] const Trainer* FindTrainer(std::string_view name);

/// Keeps up to 64 MiB of freed memory in the process, for the next fit. For programs that fit many models: glibc
/// returns the memory after each fit, and page faults were 12 % of the time of svr. Process-wide; thread-safe.
void KeepMemoryForFits();

/// Checks the parameters before any row is read. kInvalid, with the parameter, for a name that the trainer does not
/// know and for a value out of its bounds.
[[nodiscard]] Status CheckParameters(const Trainer& trainer, const TrainerOptions& options);

/// Its hyper-parameters and their defaults: "C=1, epsilon=0.2, gamma=0"; "none".
[[nodiscard]] std::string ParametersOf(const Trainer& trainer);

}  // namespace kepler::lab::training
