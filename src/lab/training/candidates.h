#pragma once
// Candidates that "auto" tries: a fixed list, then random hyper-parameters. Private to training. Pure.
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace kepler::lab::training {

struct Candidate {
  std::string name;  // "monotone(depth=3)"
  std::string_view trainer;
  std::map<std::string, double, std::less<>> parameters;
  /// The model can have any shape. Such a model may depend on a feature that only correlates with power in the training
  /// rows, so its errors are large for loads that training has not seen.
  bool free = true;
};

/// Maximum number of rows of a small table.
inline constexpr size_t kSmallTable = 1000;

/// Returns the candidates for a table of `rows` rows. Small tables need less regularisation. The first candidate needs
/// the fewest rows.
[[nodiscard]] std::span<const Candidate> FixedCandidates(size_t rows);

/// Returns a random trainer with random hyper-parameters in bounds that suit tables of power. Values have two digits,
/// so the name of the candidate contains them exactly.
[[nodiscard]] Candidate DrawCandidate(std::mt19937_64& random);

}  // namespace kepler::lab::training
