#include "energy/modeled/model_source.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace kepler::energy::modeled {
namespace {

using model::Component;

/// Maximum rounding difference of two sums: the counters of the parts and of the platform are rounded down.
constexpr double kRoundingMicrojoules = 2;

constexpr std::array kWhole = {Component::kPlatform};
constexpr std::array kParts = {Component::kPackage, Component::kCore, Component::kUncore, Component::kDram};

std::span<const Component> PartsOf(status::Domain domain) {
  if (domain == status::Domain::kPlatform) return kWhole;
  return kParts;
}

ModelSettings Settings(const ModelSourceOptions& options) {
  return {.board = options.models,
          .machine = options.machine,
          .only_load = options.only_load,
          .cpu_time = options.cpu_time};
}

uint32_t Online(const os::ProcStat& stat) { return std::max(stat.cpu.cpus, 1u); }

}  // namespace

ModelSource::ModelSource(const ModelSourceOptions& options, status::Domain domain, const Clock& clock)
    : domain_(domain),
      only_load_(options.only_load),
      proc_stat_(options.proc_stat),
      rates_(options.events),
      models_({PartsOf(domain).begin(), PartsOf(domain).end()}, Settings(options), clock) {}

Result<std::vector<Domain>> ModelSource::Discover() {
  const auto& stat = proc_stat_->Read();
  if (!stat) return Fail(stat.error().kind, stat.error().message + "; the model needs CPU times to estimate");
  models_.Follow(rates_.known().any() ? rates_.known() : RatesOf(*stat), Online(*stat));
  zones_.clear();
  for (const Component part : PartsOf(domain_))
    if (models_.has(part) || counters_[static_cast<size_t>(part)].listed) zones_.push_back(part);
  std::vector<Domain> domains;
  for (const Component part : zones_) {
    counters_[static_cast<size_t>(part)].listed = true;
    const std::string name(model::Name(part));
    Domain domain{name, "model", name, {}, {}, {}};
    domain.max_power = Power::Watts(model::kMaxWatts);  // computed energy needs no tighter limit
    domain.note = models_.Note(part);
    domains.push_back(std::move(domain));
  }
  return domains;
}

void ModelSource::Read(std::vector<DomainReading>& out) {
  out.resize(zones_.size());
  const auto& stat = proc_stat_->Read();
  if (!stat) {
    for (DomainReading& reading : out) reading.value = stat.error();
    return;
  }
  const auto interval = rates_.Update(*stat);
  models_.Follow(rates_.known(), Online(*stat));
  if (interval) Integrate(*interval);
  // The Meter starts at these readings and does not count their energy, so it is no surplus either.
  if (baselines_ < kBaselines) {
    ++baselines_;
    floors_ = {};
  }
  for (size_t i = 0; i < zones_.size(); ++i) {
    out[i].at = stat->at;
    out[i].only_load = models_.has(zones_[i]) && models_.only_load(zones_[i]);
    out[i].generation = models_.generation(zones_[i]);
    if (models_.has(zones_[i]))
      out[i].value = RawCounter{counters_[static_cast<size_t>(zones_[i])].microjoules};
    else
      out[i].value = Withheld{.unused = true};
  }
}

void ModelSource::UseAtLeast(const MeasuredParts& parts) {
  if (domain_ != status::Domain::kPlatform) return;
  for (size_t i = 0; i < parts.size(); ++i) {
    floors_[i].measured.energy += parts[i].energy;
    floors_[i].measured.complete = parts[i].complete;
    floors_[i].measured.only_load = parts[i].only_load;
  }
}

void ModelSource::Integrate(const NodeInterval& interval) {
  const auto watts = models_.Watts(interval);
  for (size_t i = 0; i < watts.size(); ++i) {
    const auto part = static_cast<Component>(i);
    if (models_.has(part)) Add(part, watts[i] * interval.seconds);
  }
}

void ModelSource::Add(Component part, double joules) {
  Counter& counter = counters_[static_cast<size_t>(part)];
  double exact_uj = joules * 1e6 + counter.carry_uj;
  if (part == Component::kPlatform) {
    // The dynamic power of the platform may be less than the power of a part including its idle power.
    for (Floor& floor : floors_)
      if (models_.only_load(part) && !floor.measured.only_load) floor.measured = {};
    const auto least_uj = static_cast<double>(FloorMicrojoules());
    if (exact_uj + kRoundingMicrojoules < least_uj) models_.CountClamped();
    exact_uj = std::max(exact_uj, least_uj);
  }
  const double whole_uj = std::floor(exact_uj);
  counter.carry_uj = exact_uj - whole_uj;
  counter.microjoules += static_cast<uint64_t>(whole_uj);
  if (part == Component::kPlatform) Settle(static_cast<int64_t>(whole_uj));
}

/// Returns the lower limit for the platform. If a part was unreadable, the estimate of that time already contains its
/// late energy.
int64_t ModelSource::FloorMicrojoules() const {
  int64_t measured = 0;
  int64_t late = 0;
  int64_t surplus = 0;
  for (const Floor& floor : floors_) {
    const int64_t energy = floor.measured.energy.microjoules();
    measured += energy;
    if (!floor.measured.complete) continue;
    if (floor.surplus_uj > 0) late += energy;
    surplus = std::max(surplus, floor.surplus_uj);
  }
  return measured - std::min(late, surplus);
}

/// `whole_uj`: estimated energy of the machine since the last integration.
void ModelSource::Settle(int64_t whole_uj) {
  int64_t surplus = whole_uj;
  for (const Floor& floor : floors_) surplus -= floor.measured.energy.microjoules();
  for (Floor& floor : floors_) {
    const bool complete = floor.measured.complete;
    floor.surplus_uj = complete ? 0 : std::max<int64_t>(floor.surplus_uj + surplus, 0);
    floor.measured = {};
  }
}

bool ModelSource::HasNewZone() const {
  return std::ranges::any_of(PartsOf(domain_), [this](Component part) {
    return models_.has(part) && !counters_[static_cast<size_t>(part)].listed;
  });
}

}  // namespace kepler::energy::modeled
