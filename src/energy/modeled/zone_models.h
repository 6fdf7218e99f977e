#pragma once
// ZoneModels: by which model each zone is estimated, and what they say together. Trained models from a board where one
// fits, the shipped one elsewhere. Collection thread only.
#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "energy/modeled/node_rates.h"
#include "model/cpu_power.h"
#include "model/machine.h"
#include "model/model_set.h"
#include "model/power_model.h"
#include "model/timed_choice.h"
#include "status/estimate_status.h"

namespace kepler::energy::modeled {

/// Where models come from, and which may be used here.
struct ModelSettings {
  std::shared_ptr<const model::ModelBoard> board;  // null: the shipped model only
  model::MachineSpec machine;                      // this one
  model::CpuPower cpu;                             // its row of the shipped table
  /// Of a machine that it shares with others nobody knows what is its own of what that needs idle: only what its load
  /// adds is estimated. A model of DynPower says no more than that anywhere.
  bool only_load = false;
  std::function<Nanoseconds()> cpu_time = ThreadCpuTime;  // by which a model's speed is judged
};

class ZoneModels {
 public:
  /// One prediction must not hold up a tick: a model that takes more CPU time is not used. 20 µs is usual.
  static constexpr Nanoseconds kSlowest = std::chrono::milliseconds(1);
  /// Intervals. Rates of counted events are known after two scans: before that a model of them is not refused.
  static constexpr uint32_t kSettled = 2;

  ZoneModels(std::vector<model::Component> wanted, ModelSettings settings, const Clock& clock);

  /// Chooses anew where there is another set, other features or another number of processors; else costs next to
  /// nothing. What changes is logged; that no trained model is used, kSettled intervals later.
  void Follow(RateSet known, uint32_t cpus);
  /// Watts of each component that has(), in physical order. Allocates nothing, except for a log line.
  [[nodiscard]] std::array<double, model::kComponents> Watts(const NodeInterval& interval);
  [[nodiscard]] bool has(model::Component component) const { return of_[Index(component)] != nullptr; }
  /// Whether its watts are only what load adds.
  [[nodiscard]] bool only_load(model::Component component) const { return of_[Index(component)]->only_load; }
  /// Another number, another model, or the same of other processors.
  [[nodiscard]] uint32_t generation(model::Component component) const { return generations_[Index(component)]; }
  /// What to say about the zone in the log.
  [[nodiscard]] std::string Note(model::Component component) const;
  void CountClamped() { ++status_.clamped; }
  [[nodiscard]] const status::EstimateStatus& status() const { return status_; }

 private:
  /// A model in use, for one zone or more.
  struct Use {
    const model::PowerModel* model = nullptr;
    std::shared_ptr<const model::KnownModel> trained;  // whose it is; null for the shipped one
    std::vector<uint8_t> columns;                      // of each feature: index of its rate, or kNoRate
    std::vector<double> fill;                          // of each feature: for one that is not known, and does not count
    bool only_load = false;
    model::Estimate idle;  // where it is taken off
  };
  static constexpr uint8_t kNoRate = kRates;
  [[nodiscard]] static size_t Index(model::Component component) { return static_cast<size_t>(component); }

  /// What a zone is estimated by.
  struct Estimator {
    std::shared_ptr<const model::KnownModel> trained;
    uint32_t shipped_cpus = 0;  // of the shipped one, else 0
    bool operator==(const Estimator&) const = default;
  };

  void ChooseAll();
  void Choose(model::Component component, model::Situation& here);
  void UseShipped(model::Component component);
  void CountGenerations();
  void SayWhatIsRefused();
  [[nodiscard]] Use& UseOf(const model::PowerModel& model);
  [[nodiscard]] model::Situation Here() const;
  void Raise(model::Component whole, std::initializer_list<model::Component> parts,
             std::array<double, model::kComponents>& watts);
  [[nodiscard]] model::Estimate Estimate(const Use& use, const NodeInterval& interval);

  const std::vector<model::Component> wanted_;
  const ModelSettings settings_;
  const Clock& clock_;
  std::shared_ptr<const model::ModelSet> latest_;  // of the board
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
