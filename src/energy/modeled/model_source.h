#pragma once
// ModelSource: estimates energy with power models (model/power_model.h) from the features of the node. The path of each
// zone is "model", which marks an estimate.
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
  std::shared_ptr<os::ProcStatReader> proc_stat;    // never null
  std::shared_ptr<const NodeEvents> events;         // null: events are not counted
  std::shared_ptr<const model::ModelBoard> models;  // null: the shipped model only
  model::MachineSpec machine;                       // this machine
  bool only_load = false;                           // as in ModelSettings, as is cpu_time
  std::function<Nanoseconds()> cpu_time = ThreadCpuTime;
};

/// For the domain kCpu the zones are package and dram, and also core and uncore if a model has them. For kPlatform the
/// only zone is platform. Readings are counters that start at 0 µJ, not power. The energy between two readings is the
/// power for the rates of that interval, multiplied by the time in which the machine was powered. A zone that no model
/// has any more stays, without watts.
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
  /// Only a source of kPlatform uses the limit.
  void UseAtLeast(const MeasuredParts& parts) override;
  /// Returns true if a model has a zone that no model had before.
  [[nodiscard]] bool HasChanged() override { return HasNewZone(); }

 private:
  /// Energy of one zone.
  struct Counter {
    uint64_t microjoules = 0;
    double carry_uj = 0;  // fraction of a microjoule that is not counted yet, in [0, 1)
    bool listed = false;  // Discover() has returned the zone
  };
  /// Measured energy of a part of the machine, as a lower limit for the platform.
  struct Floor {
    MeasuredPart measured;  // since the last integration
    int64_t surplus_uj =
        0;  // platform minus all parts since this part was last complete: a late reading may contain it
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
  std::vector<model::Component> zones_;  // zones of the last Discover()
  std::array<Counter, model::kComponents> counters_;
  /// Number of good readings that give a Meter no energy: those of Open() and of the first Sample().
  static constexpr int kBaselines = 2;
  int baselines_ = 0;  // so far
  std::array<Floor, std::tuple_size_v<MeasuredParts>> floors_;
};

}  // namespace kepler::energy::modeled
