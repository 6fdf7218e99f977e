#include "energy/modeled/zone_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "base/log.h"
#include "model/choice.h"
#include "model/default_model.h"
#include "model/features.h"
#include "model/zone_status.h"

namespace kepler::energy::modeled {
namespace {

using model::Component;

constexpr std::string_view kBuiltIn = "built-in";

/// Returns true if the model needs the feature. Weight files list features without a weight.
bool Needs(const model::PowerModel& model, size_t feature) {
  return std::ranges::any_of(model.components,
                             [&](const auto& component) { return model::Counts(component.predictor, feature); });
}

void SayThatItIsSlow(const model::KnownModel& known) {
  log::Warn("a model takes too long to predict and is skipped",
            {{"model", known.model.name},
             {"model_source", known.source},
             {"longest_ms", fmt::format("{}", std::chrono::duration<double, std::milli>(ZoneModels::kSlowest).count())},
             {"action", "train a model without stored rows (not knn or svr), or with fewer rows"}});
}

}  // namespace

ZoneModels::ZoneModels(std::vector<Component> wanted, ModelSettings settings, const Clock& clock)
    : wanted_(std::move(wanted)),
      settings_(std::move(settings)),
      clock_(clock),
      choice_(kSlowest, settings_.cpu_time, SayThatItIsSlow) {}

void ZoneModels::Follow(RateSet known, uint32_t cpus) {
  auto latest = settings_.board ? settings_.board->Latest() : nullptr;
  const bool same = latest == latest_ && known == known_ && cpus == cpus_;
  if (same) return;
  intervals_ = 0;
  latest_ = std::move(latest);
  if (latest_) choice_.Keep(*latest_);
  known_ = known;
  if (std::exchange(cpus_, cpus) != cpus) {
    model::MachineSpec machine = settings_.machine;
    machine.cores = cpus;
    machine.frequency_mhz = 0;  // the maximum, not the nominal frequency
    shipped_ = model::DefaultModel(machine);
  }
  ChooseAll();
}

void ZoneModels::ChooseAll() {
  of_.fill(nullptr);
  uses_.clear();
  described_.clear();
  model::Situation here = Here();
  for (const Component component : wanted_) Choose(component, here);
  CountGenerations();
  const auto& before = *status_.models;
  for (const status::ZoneModel& now : described_) {
    // The first ones are announced with their zones.
    if (before.empty() || std::ranges::find(before, now) != before.end()) continue;
    log::Info("using another model for a zone", {{"zone", now.zone},
                                                 {"model", now.name},
                                                 {"model_source", now.source},
                                                 {"match", now.match},
                                                 {"trainer", now.trainer},
                                                 {"mae_watts", now.mae_watts},
                                                 {"mape", now.mape}});
  }
  if (before != described_) status_.models = std::make_shared<const std::vector<status::ZoneModel>>(described_);
}

std::optional<double> ZoneModels::AttributeHere(std::string_view feature) const {
  model::MachineSpec machine = settings_.machine;
  machine.cores = cpus_;
  return model::AttributeOf(machine, feature);
}

model::Situation ZoneModels::Here() const {
  return {.machine = settings_.machine,
          .has =
              [this](std::string_view feature) {
                const auto rate = RateOf(feature);
                return rate ? known_.test(*rate) : AttributeHere(feature).has_value();
              },
          .only_load = settings_.only_load};
}

/// `here.too_slow` applies to all components.
void ZoneModels::Choose(Component component, model::Situation& here) {
  static const model::ModelSet kNone;
  const model::ModelSet& models = latest_ ? *latest_ : kNone;
  const auto choice = choice_.Choose(models, component, here);
  refused_[Index(component)] = choice ? kepler::Error() : choice.error();
  if (!choice) return UseShipped(component);
  const auto& known = models[choice->model];
  Use& use = UseOf(known->model);
  use.trained = known;
  of_[Index(component)] = &use;
  described_.push_back(StatusOf(known->model, known->model.components[choice->component], known->source,
                                Name(choice->match), use.only_load));
}

void ZoneModels::SayWhatIsRefused() {
  for (const Component component : wanted_) {
    const kepler::Error& refused = refused_[Index(component)];
    const bool is_new = std::exchange(said_[Index(component)], refused.message) != refused.message;
    // Not logged if the shipped model lacks the component too, or if there is no trained model.
    if (!is_new || refused.message.empty() || !latest_ || latest_->empty() || !has(component)) continue;
    if (refused.kind == ErrorKind::kNotFound)
      log::Info("no trained model has the zone, using the built-in one",
                {{"zone", std::string(Name(component))}, {"why", refused.message}});
    else
      log::Warn("no trained model can be used for the zone, using the built-in one",
                {{"zone", std::string(Name(component))},
                 {"why", refused.message},
                 {"action",
                  "train the model with --machine, or name its file instead of its directory in model.sources; for "
                  "cpu_cycles, cpu_instructions and cache_miss set activity.counters to hardware"}});
  }
}

void ZoneModels::CountGenerations() {
  for (const Component component : wanted_) {
    const Use* const use = of_[Index(component)];
    Estimator now;
    if (use != nullptr) now = {.trained = use->trained, .cpus = use->scales ? cpus_ : 0};
    if (std::exchange(estimators_[Index(component)], now) != now) ++generations_[Index(component)];
  }
}

void ZoneModels::UseShipped(Component component) {
  const auto of = std::ranges::find(shipped_.components, component, &model::ComponentModel::component);
  if (of == shipped_.components.end()) return;
  const Use& use = UseOf(shipped_);
  of_[Index(component)] = &use;
  described_.push_back(StatusOf(shipped_, *of, kBuiltIn, "built_in", use.only_load));
}

double ZoneModels::ShippedWatts(Component component, double load) const {
  return EstimateRow(shipped_, std::array{load * 1000 * cpus_}, cpus_).watts[Index(component)];
}

ZoneModels::Use& ZoneModels::UseOf(const model::PowerModel& model) {
  const auto known = std::ranges::find(uses_, &model, [](const auto& use) { return use->model; });
  if (known != uses_.end()) return **known;
  auto use = std::make_unique<Use>();
  use->model = &model;
  std::vector<double> at_rest(model.features.size());
  for (size_t i = 0; i < model.features.size(); ++i) {
    const auto rate = RateOf(model.features[i]);
    const auto attribute = AttributeHere(model.features[i]);
    at_rest[i] = attribute.value_or(0);
    use->columns.push_back(rate && known_.test(*rate) ? static_cast<uint8_t>(*rate) : kNoRate);
    use->fill.push_back(attribute              ? *attribute
                        : Needs(model, i)      ? std::numeric_limits<double>::quiet_NaN()
                        : model.domain.empty() ? 0
                                               : model.domain[i].min);
  }
  use->only_load = settings_.only_load || model.output == model::OutputType::kDynPower;
  const double kept = use->only_load ? 0 : IdleShare(model);
  use->scales = &model == &shipped_ || model.per == model::Per::kCore || (kept > 0 && kept < 1);
  if (model.output == model::OutputType::kAbsPower && kept < 1) {
    use->idle = EstimateRow(model, at_rest, cpus_);
    for (double& watts : use->idle.watts) watts *= 1 - kept;
  }
  uses_.push_back(std::move(use));
  return *uses_.back();
}

/// A model of a host includes the idle power of all its CPUs.
double ZoneModels::IdleShare(const model::PowerModel& model) const {
  const bool of_host = settings_.machine.is_guest && model.per == model::Per::kMachine && model.machine;
  return of_host && model.machine->cores > cpus_ ? static_cast<double>(cpus_) / model.machine->cores : 1;
}

std::string ZoneModels::Note(Component component) const {
  const std::string_view zone = Name(component);
  const auto used = std::ranges::find(described_, zone, &status::ZoneModel::zone);
  if (used == described_.end()) return {};
  std::string note = fmt::format("estimated, not measured: {} ({})", used->name, used->source);
  if (used->source == kBuiltIn)
    note += fmt::format(", {:.3g} W idle and {:.3g} W at full load, mean error {} % on other server types",
                        ShippedWatts(component, 0), ShippedWatts(component, 1), used->mape);
  else if (!used->mae_watts.empty())
    note += fmt::format(", mean error {} W ({})", used->mae_watts, used->basis);
  if (used->source != kBuiltIn) note += fmt::format(", match {}", used->match);
  if (used->only_load) note += "; only power that load adds, without idle power";
  if (settings_.only_load) note += ", because this is a virtual machine (model.guestIdle: true adds idle power)";
  return note;
}

std::array<double, model::kComponents> ZoneModels::Watts(const NodeInterval& interval) {
  if (intervals_ < kSettled) {
    ++intervals_;
    if (intervals_ == kSettled) SayWhatIsRefused();
  }
  std::array<double, model::kComponents> watts{};
  for (const auto& use : uses_) {
    const model::Estimate estimate = Estimate(*use, interval);
    for (size_t i = 0; i < watts.size(); ++i)
      if (of_[i] == use.get()) watts[i] = std::max(0.0, estimate.watts[i] - use->idle.watts[i]);
  }
  Raise(Component::kPackage, {Component::kCore, Component::kUncore}, watts);
  return watts;
}

/// Raises the watts of `whole` to the sum of its parts. Parts with idle power do not count if `whole` is dynamic power
/// only.
void ZoneModels::Raise(Component whole, std::initializer_list<Component> parts,
                       std::array<double, model::kComponents>& watts) {
  if (!has(whole)) return;
  double sum = 0;
  for (const Component part : parts)
    if (has(part) && (only_load(part) || !only_load(whole))) sum += watts[Index(part)];
  double& held = watts[Index(whole)];
  // The prediction and the sum may differ by rounding.
  if (sum > held * (1 + 1e-9)) ++status_.clamped;
  held = std::max(held, sum);
}

model::Estimate ZoneModels::Estimate(const Use& use, const NodeInterval& interval) {
  std::array<double, model::kMaxFeatures> row;
  const size_t features = use.columns.size();
  for (size_t i = 0; i < features; ++i)
    row[i] = use.columns[i] == kNoRate ? use.fill[i] : interval.rates[use.columns[i]];
  const BootTime begin = clock_.Now();
  const model::Estimate estimate = EstimateRow(*use.model, std::span(row.data(), features), cpus_);
  status_.prediction_time += clock_.Now() - begin;
  ++status_.predictions;
  status_.extrapolated += estimate.extrapolated ? 1 : 0;
  status_.clamped += estimate.clamped ? 1 : 0;
  return estimate;
}

}  // namespace kepler::energy::modeled
