#pragma once
// By what the active energy of a zone is split where a trained power model shall say it: what the model says that each
// feature adds to the node's power, shared by how much of that feature each workload had. Pure; collection thread only.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "attribution/weights.h"
#include "base/clock.h"
#include "model/power_model.h"
#include "snapshot/snapshot.h"

namespace kepler::attribution {

/// What is known of each workload, by the names that models give it (model/features.h); the last three only where
/// events are counted.
inline constexpr std::array<std::string_view, 4> kWorkloadFeatures = {"bpf_cpu_time_ms", "cpu_cycles",
                                                                      "cpu_instructions", "cache_miss"};
using WorkloadFeatures = std::array<double, kWorkloadFeatures.size()>;

/// What each of n members brings, by Shapley's value (A Value for n-Person Games, 1953): the mean, over every order in
/// which they may join, of how far the worth rises when it does. `worths`: of each of the 2^n sets, member i being in
/// those with bit i. The values add up to the worth of all less that of none.
[[nodiscard]] WorkloadFeatures ShapleyValues(std::span<const double> worths);

/// Workloads are never predicted one by one: models of a node are not additive, and say nothing of a row that uses a
/// thousandth of it. A linear model gives each workload its own terms; its idle power is unattributed. If the sum of
/// the terms is not positive or not finite, CPU time is the weight. Who has CPU time but no events (lost time,
/// residuals) is taken to have as many per nanosecond as the others on average.
class ModelWeights final : public Weights {
 public:
  /// `clock`: for the time that predictions take; must outlive this, as must `usage`.
  ModelWeights(const UsageList& usage, const Clock& clock) : Weights(usage), clock_(clock) {}

  void SetZones(std::span<const status::Zone> zones) override;
  /// By which model zones of this component are split from now on; null: by CPU time. `at`: of the model's components.
  /// It should need no other features than kWorkloadFeatures: others are 0.
  void SetModel(model::Component component, std::shared_ptr<const model::PowerModel> model, size_t at);
  /// Of all that the list holds, from scan to scan; before BeginTick(). 0: not known, and CPU time is the weight.
  void SetInterval(Nanoseconds interval) { interval_ = interval; }
  void BeginTick() override;
  [[nodiscard]] std::span<const uint64_t> Of(size_t zone, Energy active, bool learn) override;
  [[nodiscard]] snapshot::Method method(size_t zone) const override { return zones_[zone].method; }
  /// Its models are whoever set them to say.
  [[nodiscard]] status::EstimateStatus& status() { return status_; }

 private:
  struct Use {
    std::shared_ptr<const model::PowerModel> model;  // null: none
    size_t at = 0;
    std::vector<size_t> columns;   // of the row, those that count and are known here
    std::vector<size_t> features;  // which of kWorkloadFeatures each is
  };
  struct ZoneState {
    std::optional<model::Component> component;
    snapshot::Method method = snapshot::Method::kCpuTime;
  };
  [[nodiscard]] WorkloadFeatures ValuesOf(const Use& use, const WorkloadFeatures& rates);
  /// What a nanosecond and an event add to the zone's power, in any unit.
  [[nodiscard]] std::optional<WorkloadFeatures> Costs(const Use& use);
  [[nodiscard]] bool Weigh(const WorkloadFeatures& costs);

  const Clock& clock_;
  Nanoseconds interval_{0};
  std::vector<ZoneState> zones_;
  std::array<Use, model::kComponents> uses_;
  WorkloadFeatures total_{};  // of all that ran: nanoseconds, and events
  double counted_cpu_ = 0;    // nanoseconds of those with events
  std::vector<uint64_t> weights_;
  status::EstimateStatus status_;
};

}  // namespace kepler::attribution
