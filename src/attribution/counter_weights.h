#pragma once
// By what the active energy of a zone is split where performance counters count: memory by the misses of the last-level
// cache, every other zone by a mix of cycles and instructions that is fitted to what the zone used. Pure; collection
// thread only.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attribution/weights.h"
#include "base/units.h"
#include "snapshot/snapshot.h"

namespace kepler::attribution {

/// The cost of a cycle and of an instruction in one zone: least squares through the origin over the ticks so far, older
/// ones counting less and less. Neither cost is ever negative.
class MixFit {
 public:
  struct Mix {
    double per_cycle = 0;
    double per_instruction = 0;
  };
  static constexpr uint32_t kEnoughTicks = 10;
  static constexpr double kMemory = 0.98;  // what a tick still counts for in the next one: a minute or three

  /// What was counted in a tick, and what the zone used meanwhile. Ignores what is negative or not finite.
  void Learn(double cycles, double instructions, double energy);
  /// Nothing before enough ticks, and where they cannot tell the two apart: instructions per cycle hardly differed.
  [[nodiscard]] std::optional<Mix> Solve() const;

 private:
  uint32_t ticks_ = 0;
  // Sums of products: c cycles, i instructions, e energy.
  double cc_ = 0;
  double ci_ = 0;
  double ii_ = 0;
  double ce_ = 0;
  double ie_ = 0;
};

/// Who has CPU time but no event (lost time, residuals) weighs as much per nanosecond as the others do on average;
/// where nobody has an event that matters to the zone, CPU time is the weight.
class CounterWeights final : public Weights {
 public:
  using Weights::Weights;
  void SetZones(std::span<const status::Zone> zones) override;
  void BeginTick() override;
  [[nodiscard]] std::span<const uint64_t> Of(size_t zone, Energy active, bool learn) override;
  [[nodiscard]] snapshot::Method method(size_t zone) const override { return zones_[zone].method; }

 private:
  struct ZoneState {
    bool memory = false;
    snapshot::Method method = snapshot::Method::kCpuTime;
    MixFit fit;
  };
  template <class Raw>
  [[nodiscard]] bool Weigh(const Raw& raw);

  std::vector<ZoneState> zones_;
  double cpu_sum_ = 0;      // of all
  double counted_cpu_ = 0;  // of those with events
  double cycles_ = 0;
  double instructions_ = 0;
  std::vector<uint64_t> weights_;
};

}  // namespace kepler::attribution
