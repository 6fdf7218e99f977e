#include "attribution/distribute.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

namespace kepler::attribution {
namespace {

__extension__ using Wide = unsigned __int128;

}  // namespace

Energy Distributor::Distribute(Energy total, std::span<const uint64_t> weights, std::span<Energy> out) {
  assert(out.size() == weights.size() && total.microjoules() >= 0);
  Wide exact_sum = 0;
  for (const uint64_t weight : weights) exact_sum += weight;
  // The nanoseconds of one tick are far below 2^63. Larger weights lose their lowest bits, so that the sum fits.
  unsigned shift = 0;
  while (exact_sum >> shift > INT64_MAX) ++shift;
  auto sum = static_cast<uint64_t>(exact_sum);
  if (shift > 0) {
    sum = 0;
    for (const uint64_t weight : weights) sum += weight >> shift;
  }
  std::ranges::fill(out, Energy{});
  if (sum == 0 || total == Energy{}) return total;

  const auto whole = static_cast<uint64_t>(total.microjoules());
  uint64_t given = 0;
  remainders_.clear();
  for (size_t i = 0; i < weights.size(); ++i) {
    const uint64_t weight = weights[i] >> shift;
    if (weight == 0) continue;
    const Wide product = static_cast<Wide>(whole) * weight;
    uint64_t share = 0;
    uint64_t remainder = 0;
    if (product <= UINT64_MAX) {  // the normal case: a 64-bit division instead of a library call
      const auto narrow = static_cast<uint64_t>(product);
      share = narrow / sum;
      remainder = narrow % sum;
    } else {
      share = static_cast<uint64_t>(product / sum);
      remainder = static_cast<uint64_t>(product % sum);
    }
    given += share;
    out[i] = Energy::Microjoules(static_cast<int64_t>(share));
    if (remainder > 0) remainders_.push_back({remainder, static_cast<uint32_t>(i)});
  }

  // The leftover is the sum of the remainders divided by `sum`: less than their number, so each gets at most 1 µJ.
  const auto left = static_cast<std::ptrdiff_t>(whole - given);
  const auto larger = [](const Remainder& a, const Remainder& b) {
    return a.value != b.value ? a.value > b.value : a.index < b.index;
  };
  if (left > 0) std::nth_element(remainders_.begin(), remainders_.begin() + (left - 1), remainders_.end(), larger);
  for (std::ptrdiff_t i = 0; i < left; ++i) out[remainders_[static_cast<size_t>(i)].index] += Energy::Microjoules(1);
  return {};
}

}  // namespace kepler::attribution
