#pragma once
// What "auto" tries: a fixed list, and beyond it hyper-parameters that are drawn at random. Private to training. Pure.
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
  /// Any shape that the samples have. Such a candidate takes a proxy of work for work, and is far off where it does
  /// not, as with loads that training has not seen.
  bool free = true;
};

/// A table of more rows is not small.
inline constexpr size_t kSmallTable = 1000;

/// For a table of `rows` rows: what is regularised enough for a large one is too stiff for a small one. The first is
/// the plainest: it can be fitted to the fewest rows.
[[nodiscard]] std::span<const Candidate> FixedCandidates(size_t rows);

/// One more: a trainer, and each of its hyper-parameters within bounds that make sense for tables of power. Numbers
/// have two digits, so that its name says all of it.
[[nodiscard]] Candidate DrawCandidate(std::mt19937_64& random);

}  // namespace kepler::lab::training
