#pragma once
// Distributor: the only code that splits energy. It uses the largest remainder method (Hamilton). The parts add up to
// the total exactly, and each part differs from its true share by less than 1 µJ. Pure.
#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"

namespace kepler::attribution {

class Distributor {
 public:
  /// Splits `total` (>= 0) over `weights` into `out` (same size). Returns the energy that was not given out: 0, or
  /// `total` if every weight is 0. Ties go to the lower index. Keeps its buffers between calls.
  Energy Distribute(Energy total, std::span<const uint64_t> weights, std::span<Energy> out);

 private:
  struct Remainder {
    uint64_t value;
    uint32_t index;
  };
  std::vector<Remainder> remainders_;
};

}  // namespace kepler::attribution
