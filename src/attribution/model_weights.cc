#include "attribution/model_weights.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/text.h"
#include "model/features.h"

namespace kepler::attribution {
namespace {

using snapshot::Method;

/// CPU time and events of one user, in the order of kWorkloadFeatures.
WorkloadFeatures FeaturesOf(uint64_t nanoseconds, const HardwareEvents& events) {
  return {static_cast<double>(nanoseconds), static_cast<double>(events.cycles),
          static_cast<double>(events.instructions), static_cast<double>(events.cache_misses)};
}

double Factorial(size_t n) { return n < 2 ? 1 : static_cast<double>(n) * Factorial(n - 1); }

}  // namespace

WorkloadFeatures ShapleyValues(std::span<const double> worths) {
  const auto members = static_cast<size_t>(std::countr_zero(worths.size()));
  WorkloadFeatures values{};
  for (size_t member = 0; member < members; ++member) {
    const size_t bit = size_t{1} << member;
    for (size_t set = 0; set < worths.size(); ++set) {
      if ((set & bit) != 0) continue;
      const auto before = static_cast<size_t>(std::popcount(set));
      const double orders = Factorial(before) * Factorial(members - 1 - before) / Factorial(members);
      values[member] += orders * (worths[set | bit] - worths[set]);
    }
  }
  return values;
}

void ModelWeights::SetZones(std::span<const status::Zone> zones) {
  zones_.resize(zones.size());
  for (size_t z = 0; z < zones.size(); ++z) zones_[z].component = model::ComponentOf(ToLowerAscii(zones[z].name));
}

void ModelWeights::SetModel(model::Component component, std::shared_ptr<const model::PowerModel> model, size_t at,
                            const model::MachineSpec& machine) {
  Use use{.model = std::move(model), .at = at, .columns = {}, .features = {}, .at_rest = {}};
  if (use.model) {
    if (use.model->per == model::Per::kCore) use.units = std::max(machine.cores, 1u);
    for (const std::string& feature : use.model->features)
      use.at_rest.push_back(model::AttributeOf(machine, feature).value_or(0));
    const model::Predictor& predictor = use.model->components[at].predictor;
    for (size_t column = 0; column < use.model->features.size(); ++column) {
      const auto known = std::ranges::find(kWorkloadFeatures, use.model->features[column]);
      if (known == kWorkloadFeatures.end() || !Counts(predictor, column)) continue;
      use.columns.push_back(column);
      use.features.push_back(static_cast<size_t>(known - kWorkloadFeatures.begin()));
    }
  }
  uses_[std::to_underlying(component)] = std::move(use);
}

void ModelWeights::BeginTick() {
  total_ = {};
  counted_cpu_ = 0;
  for (size_t i = 0; i < usage().time().size(); ++i) {
    const HardwareEvents& events = usage().events()[i];
    const WorkloadFeatures user = FeaturesOf(usage().time()[i], events);
    for (size_t f = 0; f < user.size(); ++f) total_[f] += user[f];
    if (events != HardwareEvents{}) counted_cpu_ += user[0];
  }
  // Adds the estimated events of users without counted events.
  for (size_t f = 1; f < total_.size(); ++f) total_[f] = counted_cpu_ > 0 ? total_[f] * total_[0] / counted_cpu_ : 0;
}

/// Returns the watts that each feature of `use` adds, in the unit of the model.
WorkloadFeatures ModelWeights::ValuesOf(const Use& use, const WorkloadFeatures& rates) {
  const std::vector<model::Range>& domain = use.model->domain;
  std::array<double, size_t{1} << kWorkloadFeatures.size()> watts;
  const size_t sets = size_t{1} << use.columns.size();
  for (size_t set = 0; set < sets; ++set) {
    std::array<double, model::kMaxFeatures> row;
    std::ranges::copy(use.at_rest, row.begin());
    for (size_t i = 0; i < use.columns.size(); ++i)
      row[use.columns[i]] = (set >> i & 1) != 0 ? rates[use.features[i]] : 0;
    const double predicted =
        Predict(use.model->components[use.at].predictor, std::span(row.data(), use.at_rest.size()));
    // Negative values are allowed: only differences count, and a linear model must keep its weights.
    watts[set] = std::clamp(predicted, -model::kMaxWatts, model::kMaxWatts);
  }
  status_.predictions += sets;
  bool outside = false;
  for (size_t i = 0; i < use.columns.size() && !domain.empty(); ++i)
    outside = outside || rates[use.features[i]] < domain[use.columns[i]].min ||
              rates[use.features[i]] > domain[use.columns[i]].max;
  status_.extrapolated += outside ? 1 : 0;
  return ShapleyValues(std::span(watts.data(), sets));
}

std::optional<WorkloadFeatures> ModelWeights::Costs(const Use& use) {
  const double seconds = std::chrono::duration<double>(interval_).count();
  if (!use.model || use.columns.empty() || !(seconds > 0)) return std::nullopt;
  const BootTime begin = clock_.Now();
  WorkloadFeatures rates{};  // in the units of models
  constexpr double kNanosecondsInMs = 1e6;
  for (size_t f = 0; f < rates.size(); ++f)
    rates[f] = total_[f] / (f == 0 ? kNanosecondsInMs : 1) / seconds / use.units;
  const WorkloadFeatures values = ValuesOf(use, rates);
  status_.prediction_time += clock_.Now() - begin;

  // A prediction that is not above that of an idle machine is noise.
  if (!(std::accumulate(values.begin(), values.end(), 0.0) > 0)) return std::nullopt;
  WorkloadFeatures costs{};
  double sum = 0;
  for (size_t i = 0; i < use.columns.size(); ++i) {
    const size_t feature = use.features[i];
    // A feature with a negative value costs nothing. NaN is kept for the check below.
    if (values[i] <= 0 || !(total_[feature] > 0)) continue;
    costs[feature] = values[i] / total_[feature];
    sum += values[i];
  }
  if (!(sum > 0) || !std::isfinite(sum)) return std::nullopt;
  for (double& cost : costs) cost *= kWeightSum / sum;
  return costs;
}

/// Fills weights_. Returns false if the costs are not finite.
bool ModelWeights::Weigh(const WorkloadFeatures& costs) {
  // Cost of a nanosecond without counted events: its own cost plus the cost of the average events.
  double uncounted = costs[0];
  for (size_t f = 1; f < costs.size() && total_[0] > 0; ++f) uncounted += costs[f] * total_[f] / total_[0];
  if (!std::ranges::all_of(costs, [](double cost) { return std::isfinite(cost); }) || !std::isfinite(uncounted))
    return false;
  weights_.resize(usage().time().size());
  for (size_t i = 0; i < weights_.size(); ++i) {
    const WorkloadFeatures user = FeaturesOf(usage().time()[i], usage().events()[i]);
    const bool counted = usage().events()[i] != HardwareEvents{};
    const double weight =
        counted ? std::inner_product(user.begin(), user.end(), costs.begin(), 0.0) : uncounted * user[0];
    weights_[i] = static_cast<uint64_t>(std::llround(std::min(weight, kWeightSum)));
  }
  return true;
}

std::span<const uint64_t> ModelWeights::Of(size_t zone, Energy active, bool /*learn*/) {
  ZoneState& state = zones_[zone];
  // If nothing ran or nothing is split, the method stays.
  if (!(total_[0] > 0) || active == Energy{}) return usage().time();
  state.method = Method::kCpuTime;
  if (!state.component) return usage().time();
  const auto costs = Costs(uses_[std::to_underlying(*state.component)]);
  if (!costs || !Weigh(*costs)) return usage().time();
  state.method = Method::kModel;
  return weights_;
}

}  // namespace kepler::attribution
