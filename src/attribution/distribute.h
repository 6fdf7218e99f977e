#pragma once
// Distribute: the one function that splits energy. Largest remainder (Hamilton's method), so the parts add up to the
// whole exactly and no part is more than 1 µJ from its true share. Pure.
#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"

namespace kepler::attribution {

class Distributor {
 public:
  /// Splits `total` (>= 0) over `weights` into `out` (same size). Returns what could not be given: 0, or the whole when
  /// every weight is 0. Ties go to the lower index. Keeps its scratch memory between calls.
  Energy Distribute(Energy total, std::span<const uint64_t> weights, std::span<Energy> out);

 private:
  struct Remainder {
    uint64_t value;
    uint32_t index;
  };
  std::vector<Remainder> remainders_;
};

}  // namespace kepler::attribution
