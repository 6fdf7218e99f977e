#pragma once
// An estimate in place of meters: power models (model/power_model.h) fed with what the node does. The path of each zone
// is "model", so that nobody takes it for a measurement.
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/node_events.h"
#include "energy/estimate_source.h"
#include "energy/modeled/node_rates.h"
#include "energy/modeled/zone_models.h"
#include "os/proc_stat.h"

namespace kepler::energy::modeled {

struct ModelSourceOptions {
  std::string procfs;                               // for what the processor is
  std::shared_ptr<os::ProcStatReader> proc_stat;    // never null
  std::shared_ptr<const NodeEvents> events;         // null: nobody counts any
  std::shared_ptr<const model::ModelBoard> models;  // null: the shipped model only
  model::MachineSpec machine;                       // this one, for the choice of a model
  bool only_load = false;                           // ModelSettings, as is the clock that judges a model's speed
  std::function<Nanoseconds()> cpu_time = ThreadCpuTime;
};

/// Of the processors and their memory: zones package and dram, and core and uncore where a model has them; or of the
/// whole machine: zone platform. Answers as counters that start at 0 µJ, not as power sensors, so that their energy is
/// that of what the node did in every interval, whenever it is read: watts of the rates between two readings × the time
/// in which the machine drew power. A zone that no model says anything of any more stays, without watts.
class ModelSource final : public EstimateSource {
 public:
  /// `domain`: kCpu or kPlatform. `clock` must outlive the source.
  ModelSource(const ModelSourceOptions& options, status::Domain domain, const Clock& clock);

  [[nodiscard]] std::string_view Name() const override { return "model"; }
  [[nodiscard]] status::Domain domain() const override { return domain_; }
  [[nodiscard]] bool only_load() const override { return only_load_; }
  [[nodiscard]] const status::EstimateStatus& estimate() const override { return models_.status(); }
  /// Fails only if <procfs>/stat cannot be read. The notes say which models are used.
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  void Read(std::vector<DomainReading>& out) override;
  /// Only the source of platform is no less than that: parts of the processors may be measured by their like alone.
  void UseAtLeast(const MeasuredParts& parts) override;
  /// True where a model has a part that none had before.
  [[nodiscard]] bool HasChanged() override { return HasNewZone(); }

 private:
  /// One zone's energy.
  struct Counter {
    uint64_t microjoules = 0;
    double carry_uj = 0;  // the part of a microjoule not yet in there, in [0, 1)
    bool listed = false;  // it was found once, so it stays
  };
  /// What is measured of a part of the machine, as the floor of the whole.
  struct Floor {
    MeasuredPart measured;   // since the last integration
    int64_t surplus_uj = 0;  // of the whole over all parts since this one was last complete: a late reading has it
  };
  void Integrate(const NodeInterval& interval);
  void Add(model::Component component, double joules);
  [[nodiscard]] int64_t FloorMicrojoules() const;
  void Settle(int64_t whole_uj);
  [[nodiscard]] bool HasNewZone() const;

  const status::Domain domain_;
  const bool only_load_;
  std::shared_ptr<os::ProcStatReader> proc_stat_;
  NodeRates rates_;
  ZoneModels models_;
  std::vector<model::Component> zones_;  // of the last Discover()
  std::array<Counter, model::kComponents> counters_;
  /// Number of good readings that give a Meter no energy: those of Open() and of the first Sample().
  static constexpr int kBaselines = 2;
  int baselines_ = 0;  // until now
  std::array<Floor, std::tuple_size_v<MeasuredParts>> floors_;
};

}  // namespace kepler::energy::modeled
