#pragma once
// WorkloadModels: by which trained models workloads share the energy of each zone, where somebody wants models to say
// that. Collection thread only.
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

/// Where models come from, and which may be used here.
struct WorkloadModelSettings {
  std::shared_ptr<const model::ModelBoard> board = std::make_shared<const model::ModelBoard>();
  model::MachineSpec machine{};  // this one
  std::function<Nanoseconds()> cpu_time = ThreadCpuTime;
};

/// A model of what load adds says all that is asked, so DynPower is as good as AbsPower. Models that need a feature
/// which is known of the node only (software interrupts) are out, and there is no shipped one: it would say the same as
/// CPU time, which a zone without a model is split by.
class WorkloadModels {
 public:
  /// Of a model with all of its zones: it is asked for up to 16 rows a zone and tick, so it must be faster than one
  /// that is asked once.
  static constexpr Nanoseconds kSlowest = std::chrono::microseconds(100);

  /// `weights`, which gets the models, must outlive this.
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
  std::shared_ptr<const model::ModelSet> latest_;  // null: nothing was chosen yet
  bool counts_events_ = false;
  std::vector<status::ZoneModel> described_;
  std::shared_ptr<const std::vector<status::ZoneModel>> models_;
  std::array<std::string, model::kComponents> refused_;  // why none is used, as it was logged last
};

}  // namespace kepler::pipeline
