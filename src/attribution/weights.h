#pragma once
// Weights: the active energy of a zone is split in proportion to weights. There is one file for each kind. A zone whose
// energy belongs only to the node has no weights. Pure; collection thread only.
#include <cstddef>
#include <cstdint>
#include <span>

#include "attribution/usage_list.h"
#include "base/units.h"
#include "snapshot/snapshot.h"

namespace kepler::attribution {

/// Sum of computed weights. It is large enough to resolve a microjoule in a megajoule. It is small enough that the
/// product with the energy of a normal tick fits into 64 bits, for which Distribute() is fastest.
inline constexpr double kWeightSum = 0x1p40;

class Weights {
 public:
  /// `usage`: the workloads that share the energy; must outlive this.
  explicit Weights(const UsageList& usage) : usage_(usage) {}
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;
  virtual ~Weights() = default;

  [[nodiscard]] const UsageList& usage() const { return usage_; }
  /// As Ledger::SetZones().
  virtual void SetZones(std::span<const status::Zone> /*zones*/) {}
  /// Once per tick, when the list is complete and before the first Of().
  virtual void BeginTick() {}
  /// Returns the weights of a zone, in the order of the list. Their sum is far below 2^64. Valid until the next call.
  /// `active`: the energy to split. `learn`: true if that energy was used in the time that the list covers.
  [[nodiscard]] virtual std::span<const uint64_t> Of(size_t zone, Energy active, bool learn) = 0;
  /// Returns the method that computed the latest weights of a zone.
  [[nodiscard]] virtual snapshot::Method method(size_t zone) const = 0;

 private:
  const UsageList& usage_;
};

class CpuTimeWeights final : public Weights {
 public:
  using Weights::Weights;
  [[nodiscard]] std::span<const uint64_t> Of(size_t /*zone*/, Energy /*active*/, bool /*learn*/) override {
    return usage().time();
  }
  [[nodiscard]] snapshot::Method method(size_t /*zone*/) const override { return snapshot::Method::kCpuTime; }
};

struct ZoneCharge {
  Energy total{};   // since the previous tick
  Energy active{};  // part of `total` that is split by `weights`; 0 without weights
  Power power{};    // mean over the interval, as is active_power
  Power active_power{};
  bool fresh = false;  // the watts are known
  // There was no new reading: the node and the workloads keep the watts of the latest charge, and total is 0.
  bool unchanged = false;
  Weights* weights = nullptr;  // null: the energy belongs only to the node
};

/// `active`: active share of the energy. The ratio policy uses the usage ratio, the baseline policy ShareAbove().
[[nodiscard]] inline ZoneCharge SplitByRatio(Energy total, Power power, bool fresh, Ratio active, Weights& weights) {
  return {.total = total,
          .active = Fraction(total, active),
          .power = power,
          .active_power = Power::Watts(power.watts() * active.value()),
          .fresh = fresh,
          .weights = &weights};
}

}  // namespace kepler::attribution
