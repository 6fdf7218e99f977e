#pragma once
// ZoneModels: chooses a model for each zone and predicts the power of all zones. A zone uses a trained model from the
// board if one fits, otherwise the shipped model. Collection thread only.
#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "energy/modeled/node_rates.h"
#include "model/machine.h"
#include "model/model_set.h"
#include "model/power_model.h"
#include "model/timed_choice.h"
#include "status/estimate_status.h"

namespace kepler::energy::modeled {

/// Source of models, and facts for their choice.
struct ModelSettings {
  std::shared_ptr<const model::ModelBoard> board;  // null: the shipped model only
  model::MachineSpec machine;                      // this machine
  /// Estimate only dynamic power. A guest shares its host with others, so its share of the idle power is unknown. A
  /// DynPower model always estimates only dynamic power.
  bool only_load = false;
  std::function<Nanoseconds()> cpu_time = ThreadCpuTime;  // measures the speed of models
};

class ZoneModels {
 public:
  /// Maximum CPU time of a prediction, so that it does not delay a tick. A slower model is not used. 20 µs is normal.
  static constexpr Nanoseconds kSlowest = std::chrono::milliseconds(1);
  /// Number of intervals after which a missing trained model is logged: rates of events are known after two scans.
  static constexpr uint32_t kSettled = 2;

  ZoneModels(std::vector<model::Component> wanted, ModelSettings settings, const Clock& clock);

  /// Chooses models again if the set, the features or the number of processors has changed. Otherwise the call is
  /// cheap. Changes are logged. A missing trained model is logged kSettled intervals later.
  void Follow(RateSet known, uint32_t cpus);
  /// Watts of each component that has(), in physical order. Allocates nothing, except for a log line.
  [[nodiscard]] std::array<double, model::kComponents> Watts(const NodeInterval& interval);
  [[nodiscard]] bool has(model::Component component) const { return of_[Index(component)] != nullptr; }
  /// Returns true if the watts are dynamic power only.
  [[nodiscard]] bool only_load(model::Component component) const { return of_[Index(component)]->only_load; }
  /// Changes with the model, and with the number of processors if the watts depend on it.
  [[nodiscard]] uint32_t generation(model::Component component) const { return generations_[Index(component)]; }
  /// Returns a note about the zone for the log.
  [[nodiscard]] std::string Note(model::Component component) const;
  void CountClamped() { ++status_.clamped; }
  [[nodiscard]] const status::EstimateStatus& status() const { return status_; }

 private:
  /// A model in use for at least one zone.
  struct Use {
    const model::PowerModel* model = nullptr;
    std::shared_ptr<const model::KnownModel> trained;  // owner of `model`; null for the shipped model
    std::vector<uint8_t> columns;                      // for each feature: index of its rate, or kNoRate
    std::vector<double> fill;  // for each feature: attribute of this machine, or value if the rate is unknown
    bool only_load = false;
    bool scales = false;   // the watts depend on the number of CPUs
    model::Estimate idle;  // idle power to subtract
  };
  static constexpr uint8_t kNoRate = kRates;
  [[nodiscard]] static size_t Index(model::Component component) { return static_cast<size_t>(component); }

  /// The model that estimates a zone.
  struct Estimator {
    std::shared_ptr<const model::KnownModel> trained;
    uint32_t cpus = 0;  // 0 if the watts do not depend on it
    bool operator==(const Estimator&) const = default;
  };

  void ChooseAll();
  void Choose(model::Component component, model::Situation& here);
  void UseShipped(model::Component component);
  [[nodiscard]] double ShippedWatts(model::Component component, double load) const;  // load: 0 to 1
  void CountGenerations();
  void SayWhatIsRefused();
  [[nodiscard]] Use& UseOf(const model::PowerModel& model);
  /// Returns the share of the model's idle power that belongs to this machine: its share of the CPUs of its host.
  [[nodiscard]] double IdleShare(const model::PowerModel& model) const;
  /// Returns an attribute of this machine, with the present number of CPUs as `cores`.
  [[nodiscard]] std::optional<double> AttributeHere(std::string_view feature) const;
  [[nodiscard]] model::Situation Here() const;
  void Raise(model::Component whole, std::initializer_list<model::Component> parts,
             std::array<double, model::kComponents>& watts);
  [[nodiscard]] model::Estimate Estimate(const Use& use, const NodeInterval& interval);

  const std::vector<model::Component> wanted_;
  const ModelSettings settings_;
  const Clock& clock_;
  std::shared_ptr<const model::ModelSet> latest_;  // latest set of the board
  model::TimedChoice choice_;
  RateSet known_;
  uint32_t cpus_ = 0;
  model::PowerModel shipped_;
  std::vector<std::unique_ptr<Use>> uses_;
  std::array<const Use*, model::kComponents> of_{};
  std::array<Estimator, model::kComponents> estimators_;
  std::array<uint32_t, model::kComponents> generations_{};
  std::array<kepler::Error, model::kComponents> refused_;  // why no trained model is used; no message where one is
  std::array<std::string, model::kComponents> said_;       // of refused_, as it was logged last
  uint32_t intervals_ = 0;                                 // since the last choice
  std::vector<status::ZoneModel> described_;
  status::EstimateStatus status_;
};

}  // namespace kepler::energy::modeled
