#pragma once
// Weights: by what the active energy of a zone is split. One file per kind; a zone has one, or none where its energy is
// the node's alone. Pure; collection thread only.
#include <cstddef>
#include <cstdint>
#include <span>

#include "attribution/usage_list.h"
#include "base/units.h"
#include "snapshot/snapshot.h"

namespace kepler::attribution {

/// What weights that are no counts of their own add up to: fine enough for a microjoule in a megajoule, small enough
/// that a product with the energy of a usual tick still fits 64 bits, which Distribute() is fastest with.
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
  /// The weights of a zone, in the order of the list; their sum is far below 2^64. Valid until the next call. `active`
  /// is what gets split, `learn` says that it was used in the time in which the list was filled.
  [[nodiscard]] virtual std::span<const uint64_t> Of(size_t zone, Energy active, bool learn) = 0;
  /// What the latest weights of a zone were made of.
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
  Energy total{};   // used since the last tick
  Energy active{};  // of it, what is split by `weights`; 0 without them
  Power power{};    // means over the interval
  Power active_power{};
  bool fresh = false;  // the watts are known
  // Nothing new was to be read: the watts of the last charge go on, those of the workloads too, and total is 0.
  bool unchanged = false;
  Weights* weights = nullptr;  // null: the node's alone
};

/// `active`: of the energy. By the ratio policy the busy share of the machine, by the baseline policy ShareAbove() it.
[[nodiscard]] inline ZoneCharge SplitByRatio(Energy total, Power power, bool fresh, Ratio active, Weights& weights) {
  return {.total = total,
          .active = Fraction(total, active),
          .power = power,
          .active_power = Power::Watts(power.watts() * active.value()),
          .fresh = fresh,
          .weights = &weights};
}

}  // namespace kepler::attribution
