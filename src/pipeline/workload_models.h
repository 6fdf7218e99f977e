#pragma once
// WorkloadModels: chooses the trained models by which workloads share the energy of each zone (attribution.weights:
// model). Collection thread only.
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attribution/model_weights.h"
#include "base/clock.h"
#include "model/machine.h"
#include "model/model_set.h"
#include "model/timed_choice.h"
#include "snapshot/snapshot.h"

namespace kepler::pipeline {

/// Source of models, and facts for their choice.
struct WorkloadModelSettings {
  std::shared_ptr<const model::ModelBoard> board = std::make_shared<const model::ModelBoard>();
  model::MachineSpec machine{};  // this machine
  std::function<Nanoseconds()> cpu_time = ThreadCpuTime;
};

/// Only dynamic power is needed, so a DynPower model is as good as an AbsPower model. Models with a feature that is
/// known only for the node (software interrupts) are not used. The shipped model is not used either, because it would
/// give the same result as CPU time. A zone without a model is split by CPU time.
class WorkloadModels {
 public:
  /// Maximum CPU time of a prediction for all zones of a model. It is lower than in energy/modeled, because there are
  /// up to 16 predictions per zone and tick.
  static constexpr Nanoseconds kSlowest = std::chrono::microseconds(100);

  /// `weights` gets the models, and must outlive the object.
  WorkloadModels(WorkloadModelSettings settings, attribution::ModelWeights& weights);

  /// The zones of meters. The user of `weights` sets the zones there.
  void SetZones(std::span<const status::Zone> zones);
  /// Once per tick before its energy is split. Chooses anew where there is another set, or where events begin or cease
  /// to be counted. `interval`: as ModelWeights::SetInterval().
  void BeginTick(bool counts_events, Nanoseconds interval);
  [[nodiscard]] status::EstimateStatus status() const;

 private:
  void ChooseAll();
  void Choose(model::Component component, model::Situation& here);

  const WorkloadModelSettings settings_;
  attribution::ModelWeights& weights_;
  model::TimedChoice choice_;
  std::vector<model::Component> wanted_;
  std::shared_ptr<const model::ModelSet> latest_;  // null before the first choice
  bool counts_events_ = false;
  std::vector<status::ZoneModel> described_;
  std::shared_ptr<const std::vector<status::ZoneModel>> models_;
  std::array<std::string, model::kComponents> refused_;  // why none is used, as it was logged last
};

}  // namespace kepler::pipeline
