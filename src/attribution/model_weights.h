#pragma once
// ModelWeights: splits the active energy of a zone by a trained power model. The model determines the power that each
// feature adds to the node. Workloads share that power in proportion to their amount of the feature. Pure; collection
// thread only.
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

/// Features that are known for each workload, with their names in models (model/features.h). The last three are known
/// only if events are counted.
inline constexpr std::array<std::string_view, 4> kWorkloadFeatures = {"bpf_cpu_time_ms", "cpu_cycles",
                                                                      "cpu_instructions", "cache_miss"};
using WorkloadFeatures = std::array<double, kWorkloadFeatures.size()>;

/// Returns the Shapley value of each of n members (A Value for n-Person Games, 1953). The value is the increase of the
/// worth when the member joins, as a mean over all orders of joining. `worths`: worth of each of the 2^n sets; member i
/// is in the sets with bit i. The sum of the values is the worth of all members minus the worth of the empty set.
[[nodiscard]] WorkloadFeatures ShapleyValues(std::span<const double> worths);

/// Workloads are never predicted one by one: models of a node are not additive, and say nothing of a row that uses a
/// thousandth of it. A linear model gives each workload its own terms; its idle power is unattributed. If the sum of
/// the terms is not positive or not finite, CPU time is the weight. A row with CPU time but without events (lost time,
/// a residual) gets the mean number of events per nanosecond of the other rows.
class ModelWeights final : public Weights {
 public:
  /// `clock`: measures the time of predictions. `clock` and `usage` must outlive the object.
  ModelWeights(const UsageList& usage, const Clock& clock) : Weights(usage), clock_(clock) {}

  void SetZones(std::span<const status::Zone> zones) override;
  /// By which model zones of this component are split from now on; null: by CPU time. `at`: of the model's components.
  /// It should need no other features than kWorkloadFeatures and attributes of `machine`, which is this one: others are
  /// 0.
  void SetModel(model::Component component, std::shared_ptr<const model::PowerModel> model, size_t at,
                const model::MachineSpec& machine);
  /// Sets the time between scans that the list covers. Call before BeginTick(). 0: unknown, CPU time is the weight.
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
    std::vector<size_t> columns;   // columns of the row that count and are known here
    std::vector<size_t> features;  // index in kWorkloadFeatures of each column
    std::vector<double> at_rest;   // row without load: attributes of the machine, other features are 0
    double units = 1;              // by which rates are divided: CPUs for a model per core
  };
  struct ZoneState {
    std::optional<model::Component> component;
    snapshot::Method method = snapshot::Method::kCpuTime;
  };
  [[nodiscard]] WorkloadFeatures ValuesOf(const Use& use, const WorkloadFeatures& rates);
  /// Returns the power that a nanosecond and an event add to the zone, in an arbitrary unit.
  [[nodiscard]] std::optional<WorkloadFeatures> Costs(const Use& use);
  [[nodiscard]] bool Weigh(const WorkloadFeatures& costs);

  const Clock& clock_;
  Nanoseconds interval_{0};
  std::vector<ZoneState> zones_;
  std::array<Use, model::kComponents> uses_;
  WorkloadFeatures total_{};  // of all users: nanoseconds and events
  double counted_cpu_ = 0;    // nanoseconds of users with events
  std::vector<uint64_t> weights_;
  status::EstimateStatus status_;
};

}  // namespace kepler::attribution
