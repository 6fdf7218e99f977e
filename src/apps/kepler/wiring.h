#pragma once
// Functions that make the parts of the agent from the configuration. Nothing registers itself.
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
#include "os/proc_stat.h"
#include "workload/kubernetes/informer.h"

namespace kepler::agent {

/// One reader of /proc/stat for all parts of a tick.
using SharedProcStat = std::shared_ptr<os::ProcStatReader>;

/// Objects that several parts of the agent share.
struct Shared {
  SharedProcStat proc_stat;
  std::shared_ptr<NodeEvents> events = std::make_shared<NodeEvents>();
  std::shared_ptr<model::ModelBoard> models = std::make_shared<model::ModelBoard>();  // the loaded power models
  model::MachineSpec machine{};                                                       // this machine
};

/// Returns the sources in cpu.preferredMeters, in the same order.
[[nodiscard]] std::vector<std::unique_ptr<energy::EnergySource>> MakeCpuSources(const Config& config,
                                                                                const Clock& clock,
                                                                                const SharedProcStat& proc_stat);
/// Returns the opened meters in the order of preference; the power model is last. If no meter measures the whole
/// machine, its power is estimated; energy::UseOf() decides when. meter.require disables all estimates.
[[nodiscard]] Result<std::unique_ptr<energy::MeterSet>> MakeMeters(const Config& config, const Clock& clock,
                                                                   const Shared& shared);
/// Returns the configured source of CPU time; by default BPF if it loads, else /proc. Error: BPF is required but fails.
[[nodiscard]] Result<std::unique_ptr<activity::ActivitySource>> MakeActivity(const Config& config, const Clock& clock,
                                                                             const SharedProcStat& proc_stat);
/// Null if the configuration does not enable the names of pods.
[[nodiscard]] std::unique_ptr<workload::kubernetes::Informer> MakeInformer(const Config& config, const Clock& clock);
[[nodiscard]] attribution::RetentionPolicy MakeRetention(const Config& config);
[[nodiscard]] pipeline::SeriesLimits MakeLimits(const Config& config);
[[nodiscard]] prometheus::RenderOptions MakeRenderOptions(const Config& config, const BuildInfo& build);
void ConfigureLog(const Config& config);

}  // namespace kepler::agent
