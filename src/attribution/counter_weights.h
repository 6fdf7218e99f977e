#pragma once
// CounterWeights: splits the active energy of a zone by performance counters. The energy of memory is split by cache
// misses. The energy of other zones is split by a mix of cycles and instructions, which is fitted to the energy of the
// zone. Pure; collection thread only.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attribution/weights.h"
#include "base/units.h"
#include "snapshot/snapshot.h"

namespace kepler::attribution {

/// Cost of a cycle and of an instruction in one zone: least squares through the origin over all ticks. The weight of a
/// tick decreases with its age. A cost is never negative.
class MixFit {
 public:
  struct Mix {
    double per_cycle = 0;
    double per_instruction = 0;
  };
  static constexpr uint32_t kEnoughTicks = 10;
  static constexpr double kMemory = 0.98;  // factor on the weight of older ticks, per tick

  /// Adds the events and the energy of a tick. Ignores negative and non-finite values.
  void Learn(double cycles, double instructions, double energy);
  /// Empty before enough ticks, and if instructions per cycle hardly vary: the two costs then cannot be separated.
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

/// A user with CPU time but without events (lost time, residuals) gets the average weight per nanosecond of the others.
/// If no user has events for the zone, CPU time is the weight.
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
  double cpu_sum_ = 0;      // of all users
  double counted_cpu_ = 0;  // of users with events
  double cycles_ = 0;
  double instructions_ = 0;
  std::vector<uint64_t> weights_;
};

}  // namespace kepler::attribution
