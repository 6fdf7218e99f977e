#include "model/default_model.h"

namespace kepler::model {
namespace {

/// Milliseconds of CPU time per second of one busy CPU.
constexpr double kBusy = 1000;

ComponentModel Line(Component component, const CpuPower& row, double cpus, WallShare share) {
  const double idle = row.idle_watts * share.idle;
  const double full = row.full_watts * share.full;
  return {.component = component,
          .trainer = "table",
          .predictor = {.limits = {}, .scale = {}, .formula = Linear{idle * cpus, {(full - idle) / kBusy}}},
          .label = {},
          .accuracy = {}};
}

}  // namespace

PowerModel DefaultModel(const CpuPower& row, uint32_t cpus) {
  return {.name = std::string(row.name),
          .features = {"bpf_cpu_time_ms"},
          .domain = {},
          .components = {Line(Component::kPackage, row, cpus, kPackageOfWall),
                         Line(Component::kDram, row, cpus, kDramOfWall),
                         Line(Component::kPlatform, row, cpus, {.idle = 1, .full = 1})},
          .machine = {}};
}

}  // namespace kepler::model
