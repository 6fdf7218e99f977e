#pragma once
// By what the active energy of a zone is split where performance counters count: memory by the misses of the last-level
// cache, every other zone by a mix of cycles and instructions that is fitted to what the zone used. Pure; collection
// thread only.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/hardware_events.h"
#include "base/units.h"
#include "snapshot/snapshot.h"

namespace kepler::attribution {

/// What the configuration asks for.
enum class Weights : uint8_t { kCpuTime, kCounters };

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

class CounterWeights {
 public:
  /// As Ledger::SetZones().
  void SetZones(std::span<const snapshot::Zone> zones);

  /// One tick: for each who ran, the nanoseconds (> 0) and what was counted meanwhile. Both must stay until the last
  /// Of() of the tick.
  void BeginTick(std::span<const uint64_t> cpu, std::span<const HardwareEvents> events);
  /// The weights of a zone, in the order of BeginTick(); their sum is far below 2^64. Valid until the next call.
  /// Who has CPU time but no event (lost time, residuals) weighs as much per nanosecond as the others do on average;
  /// where nobody has an event that matters to the zone, CPU time is the weight. `active` is what gets split, `learn`
  /// says that it was used in the time in which the events were counted.
  [[nodiscard]] std::span<const uint64_t> Of(size_t zone, Energy active, bool learn);
  /// What the latest weights of a zone were made of.
  [[nodiscard]] snapshot::Method method(size_t zone) const { return zones_[zone].method; }

 private:
  struct ZoneState {
    bool memory = false;
    snapshot::Method method = snapshot::Method::kCpuTime;
    MixFit fit;
  };
  template <class Raw>
  [[nodiscard]] bool Weigh(const Raw& raw);

  std::vector<ZoneState> zones_;
  std::span<const uint64_t> cpu_;
  std::span<const HardwareEvents> events_;
  double cpu_sum_ = 0;      // of all
  double counted_cpu_ = 0;  // of those with events
  double cycles_ = 0;
  double instructions_ = 0;
  std::vector<uint64_t> weights_;
};

}  // namespace kepler::attribution
