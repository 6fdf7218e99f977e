#include "pipeline/workload_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "model/zone_status.h"

namespace kepler::pipeline {
namespace {

void SayThatItIsSlow(const model::KnownModel& known) {
  using Microseconds = std::chrono::duration<double, std::micro>;
  log::Warn("a model takes too long to predict and is not used to split energy",
            {{"model", known.model.name},
             {"model_source", known.source},
             {"longest_us", fmt::format("{}", Microseconds(WorkloadModels::kSlowest).count())},
             {"action", "train a linear model"}});
}

}  // namespace

WorkloadModels::WorkloadModels(WorkloadModelSettings settings, attribution::ModelWeights& weights)
    : settings_(std::move(settings)),
      weights_(weights),
      choice_(kSlowest, settings_.cpu_time, SayThatItIsSlow),
      models_(std::make_shared<const std::vector<status::ZoneModel>>()) {}

void WorkloadModels::SetZones(std::span<const status::Zone> zones) {
  wanted_.clear();
  for (const status::Zone& zone : zones) {
    if (zone.domain != status::Domain::kCpu) continue;
    const auto component = model::ComponentOf(ToLowerAscii(zone.name));
    if (component && std::ranges::find(wanted_, *component) == wanted_.end()) wanted_.push_back(*component);
  }
  latest_ = nullptr;
}

void WorkloadModels::BeginTick(bool counts_events, Nanoseconds interval) {
  weights_.SetInterval(interval);
  auto latest = settings_.board->Latest();
  if (latest == latest_ && counts_events == counts_events_) return;
  latest_ = std::move(latest);
  counts_events_ = counts_events;
  choice_.Keep(*latest_);
  ChooseAll();
}

void WorkloadModels::ChooseAll() {
  described_.clear();
  model::Situation here{.machine = settings_.machine,
                        .has =
                            [this](std::string_view feature) {
                              const auto& known = attribution::kWorkloadFeatures;
                              return feature == known[0] || AttributeOf(settings_.machine, feature).has_value() ||
                                     (counts_events_ && std::ranges::find(known, feature) != known.end());
                            },
                        .only_load = true};
  for (const model::Component component : wanted_) Choose(component, here);
  for (const status::ZoneModel& now : described_)
    if (std::ranges::find(*models_, now) == models_->end())
      log::Info("using a model to split a zone among workloads", {{"zone", now.zone},
                                                                  {"model", now.name},
                                                                  {"model_source", now.source},
                                                                  {"match", now.match},
                                                                  {"trainer", now.trainer}});
  if (*models_ != described_) models_ = std::make_shared<const std::vector<status::ZoneModel>>(described_);
}

void WorkloadModels::Choose(model::Component component, model::Situation& here) {
  const auto choice = choice_.Choose(*latest_, component, here);
  std::string& refused = refused_[std::to_underlying(component)];
  if (!choice) {
    weights_.SetModel(component, nullptr, 0, {});
    if (std::exchange(refused, choice.error().message) != refused)
      log::Warn("no model can split a zone among workloads, using CPU time",
                {{"zone", std::string(Name(component))},
                 {"why", refused},
                 {"action",
                  "add a model to model.sources whose only feature is bpf_cpu_time_ms; with activity.counters a model "
                  "may also use cpu_cycles, cpu_instructions and cache_miss"}});
    return;
  }
  refused.clear();
  const auto& known = (*latest_)[choice->model];
  weights_.SetModel(component, std::shared_ptr<const model::PowerModel>(known, &known->model), choice->component,
                    settings_.machine);
  described_.push_back(
      StatusOf(known->model, known->model.components[choice->component], known->source, Name(choice->match), true));
}

status::EstimateStatus WorkloadModels::status() const {
  status::EstimateStatus status = weights_.status();
  status.models = models_;
  status.of_workloads = true;
  return status;
}

}  // namespace kepler::pipeline
