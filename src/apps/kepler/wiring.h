#pragma once
// The explicit list of what is built from the configuration. Nothing registers itself.
#include <memory>

#include "activity/activity_source.h"
#include "apps/kepler/config.h"
#include "attribution/accounts.h"
#include "base/build_info.h"
#include "base/clock.h"
#include "base/node_events.h"
#include "base/result.h"
#include "energy/meter_set.h"
#include "export/prometheus/render_page.h"
#include "model/machine.h"
#include "model/model_set.h"
#include "model_store/model_store.h"
#include "os/proc_stat.h"
#include "workload/kubernetes/informer.h"

namespace kepler::agent {

/// One reader for all that a tick needs of /proc/stat.
using SharedProcStat = std::shared_ptr<os::ProcStatReader>;

/// What several parts look at.
struct Shared {
  SharedProcStat proc_stat;
  std::shared_ptr<NodeEvents> events = std::make_shared<NodeEvents>();
  std::shared_ptr<model::ModelBoard> models = std::make_shared<model::ModelBoard>();  // who finds models sets them
  model::MachineSpec machine{};                                                       // this one
};

/// The sources of cpu.preferredMeters, in that order.
[[nodiscard]] std::vector<std::unique_ptr<energy::EnergySource>> MakeCpuSources(const Config& config,
                                                                                const Clock& clock,
                                                                                const SharedProcStat& proc_stat);
/// The meters in order of preference, the power model last; opened. If no meter measures the whole machine, it is
/// estimated; energy::UseOf() decides when. meter.require forbids every estimate.
[[nodiscard]] Result<std::unique_ptr<energy::MeterSet>> MakeMeters(const Config& config, const Clock& clock,
                                                                   const Shared& shared);
/// BPF where it works, unless the configuration says otherwise; an error if it must be BPF and cannot.
[[nodiscard]] Result<std::unique_ptr<activity::ActivitySource>> MakeActivity(const Config& config, const Clock& clock,
                                                                             const SharedProcStat& proc_stat);
/// What finds the power models that model.server chooses for this `machine`, and that model.sources, else MODEL_CONFIG
/// (model_config.h), else the system's directory name. Null where that is nothing, and where meter.require forbids
/// every estimate and no model splits energy; an error without the key that models must be signed by.
[[nodiscard]] Result<std::unique_ptr<model_store::ModelStore>> MakeModelStore(const Config& config,
                                                                              std::shared_ptr<const Clock> clock,
                                                                              std::shared_ptr<model::ModelBoard> board,
                                                                              const model::MachineSpec& machine);
/// Null where pods are not to be named.
[[nodiscard]] std::unique_ptr<workload::kubernetes::Informer> MakeInformer(const Config& config, const Clock& clock);
[[nodiscard]] attribution::RetentionPolicy MakeRetention(const Config& config);
[[nodiscard]] pipeline::SeriesLimits MakeLimits(const Config& config);
[[nodiscard]] prometheus::RenderOptions MakeRenderOptions(const Config& config, const BuildInfo& build);
void ConfigureLog(const Config& config);

}  // namespace kepler::agent
