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

class Weights {
 public:
  /// `usage`: over whom it is split; must outlive this.
  explicit Weights(const UsageList& usage) : usage_(usage) {}
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;
  virtual ~Weights() = default;

  [[nodiscard]] const UsageList& usage() const { return usage_; }
  /// As Ledger::SetZones().
  virtual void SetZones(std::span<const snapshot::Zone> /*zones*/) {}
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

}  // namespace kepler::attribution
