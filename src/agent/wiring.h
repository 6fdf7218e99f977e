#pragma once
// The explicit list of what is built from the configuration. Nothing registers itself.
#include <memory>
#include <vector>

#include "activity/activity_source.h"
#include "attribution/accounts.h"
#include "base/build_info.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "config/config.h"
#include "energy/meter_set.h"
#include "export/prometheus/render.h"
#include "pipeline/node_tick.h"
#include "pipeline/schedule.h"
#include "snapshot/snapshot.h"

namespace kepler::agent {

/// The meters in order of preference, the power model last unless meter.require forbids it; opened.
[[nodiscard]] Result<std::unique_ptr<energy::MeterSet>> MakeMeters(const config::Config& config, const Clock& clock);
/// BPF where it works, unless the configuration says otherwise; an error if it must be BPF and cannot.
[[nodiscard]] Result<std::unique_ptr<activity::ActivitySource>> MakeActivity(const config::Config& config,
                                                                             const Clock& clock);
[[nodiscard]] attribution::RetentionPolicy MakeRetention(const config::Config& config);
[[nodiscard]] pipeline::SplitOptions MakeSplit(const config::Config& config);
[[nodiscard]] pipeline::Freshness MakeFreshness(const config::Config& config);
[[nodiscard]] prometheus::RenderOptions MakeRenderOptions(const config::Config& config, const BuildInfo& build);
[[nodiscard]] log::Level LogLevel(const config::Config& config);
void ConfigureLog(const config::Config& config);

}  // namespace kepler::agent
