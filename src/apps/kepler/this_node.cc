#include "apps/kepler/this_node.h"

#include <chrono>
#include <utility>

#include "apps/kepler/model_wiring.h"
#include "os/proc_stat.h"
#include "os/read_machine_info.h"

namespace kepler::agent {

Shared MakeShared(const Host& host, const Clock& clock) {
  return {.proc_stat = std::make_shared<os::ProcStatReader>(host.procfs, clock),
          .machine = model::SpecOf(os::ReadMachineInfo(host.procfs, host.sysfs))};
}

Result<std::unique_ptr<ThisNode>> ThisNode::Open(const Config& config, const Clock& clock,
                                                 workload::PodDirectory* pods) {
  std::unique_ptr<ThisNode> node(new ThisNode());
  const BootTime started = clock.Now();
  const Host& host = config.host;
  const Shared shared = MakeShared(host, clock);
  KEPLER_TRY(node->models_, MakeModelStore(config, std::make_shared<SystemClock>(), shared.models, shared.machine));
  // Before the meters, so that the first choice has the models.
  constexpr std::chrono::seconds kPatience{1};
  if (node->models_) KEPLER_CHECK_OK(node->models_->Start(kPatience));
  KEPLER_TRY(node->meters_, MakeMeters(config, clock, shared));
  KEPLER_TRY(node->activity_, MakeActivity(config, clock, shared.proc_stat));
  node->resolver_ = std::make_unique<workload::Resolver>(host.procfs, clock);
  pipeline::NodeParts parts{*node->activity_, *node->meters_, *node->resolver_, node->board_, clock, host.procfs,
                            shared.proc_stat, pods,           started,          shared.events};
  if (node->models_) parts.model_store = [models = node->models_.get()] { return models->status(); };
  parts.models = {.board = shared.models, .machine = shared.machine};
  node->tick_ =
      std::make_unique<pipeline::NodeTick>(std::move(parts), MakeRetention(config), config.split, MakeLimits(config));
  return node;
}

}  // namespace kepler::agent
