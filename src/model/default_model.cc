#include "model/default_model.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "model/default_table.h"

namespace kepler::model {
namespace {

constexpr double kSteps = kLoadLevels - 1;
/// Smallest rise of power from idle to full load in the data, as a share of idle power. Far from the data the levels
/// may cross. Power at full load counts then, and less load uses less power.
constexpr double kMinRise = 0.27;
/// Milliseconds of CPU time per second of one busy CPU.
constexpr double kBusy = 1000;

/// Returns the logarithm, or nothing for an unknown attribute.
std::optional<double> Log(double value) { return value > 0 ? std::optional(std::log(value)) : std::nullopt; }

/// Returns the numbers of the table, in its order.
std::array<std::optional<double>, kNumberNames.size()> NumbersOf(const MachineSpec& machine, double cores,
                                                                 double year) {
  const double chips = std::max(machine.chips, 1u);
  const double years = (year - 2015) / 5;
  return {Log(cores / chips),         Log(chips), Log(machine.memory_gib / cores),
          Log(machine.frequency_mhz), years,      years * years};
}

/// Returns the wall power of a server at each load level.
Levels WattsOf(const DefaultTable& table, const ProcessorRows& rows, const MachineSpec& machine, double cores) {
  Levels sum = table.all.weights;
  const auto add = [&](double value, const Levels& weights) {
    for (size_t level = 0; level < kLoadLevels; ++level) sum[level] += value * weights[level];
  };
  const auto numbers = NumbersOf(machine, cores, rows.row->year);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const DefaultTable::Number& of = table.numbers[i];
    if (numbers[i]) add(std::clamp(*numbers[i], of.min, of.max) - of.centre, of.weights);
  }
  if (rows.vendor != nullptr) add(1, rows.vendor->weights);
  if (rows.row != rows.vendor && rows.row != &table.all) add(1, rows.row->weights);
  for (double& watts : sum) watts = std::exp(watts);
  for (size_t level = kLoadLevels - 1; level-- > 0;) {
    const double share = (1 + kMinRise * static_cast<double>(level) / kSteps) / (1 + kMinRise);
    sum[level] = std::min({sum[level], sum[level + 1], sum.back() * share});
  }
  return sum;
}

/// Returns the wall power of a machine, or a guest's share of its host's wall power.
Levels WallPower(const DefaultTable& table, const ProcessorRows& rows, const MachineSpec& machine) {
  const double cores = std::max(1.0, static_cast<double>(machine.cores) / std::max(machine.threads_per_core, 1u));
  if (!machine.is_guest) return WattsOf(table, rows, machine, cores);
  constexpr uint32_t kUsualChips = 2;
  const double usual = rows.row->cores_per_chip * kUsualChips;
  Levels share = WattsOf(table, rows, {.chips = kUsualChips}, usual);
  for (double& watts : share) watts *= cores / usual;
  return share;
}

/// Returns straight lines between the levels as a blend: each part contributes its own interval and is constant
/// elsewhere.
Predictor CurveThrough(const Levels& watts, double cpus) {
  Blend blend;
  for (size_t level = 0; level + 1 < kLoadLevels; ++level) {
    const double begin = cpus * kBusy * static_cast<double>(level) / kSteps;
    const double end = cpus * kBusy * static_cast<double>(level + 1) / kSteps;
    const double slope = (watts[level + 1] - watts[level]) / (end - begin);
    const double bias = watts[0] / kSteps - slope * begin;
    blend.weights.push_back(1 / kSteps);
    blend.parts.push_back({.limits = {{begin, end}}, .scale = {}, .formula = Linear{bias * kSteps, {slope * kSteps}}});
  }
  return {.limits = {}, .scale = {}, .formula = std::move(blend)};
}

ComponentModel PartOf(Component component, const Levels& wall, double cpus, WallShare share,
                      const DefaultTable::Row& row) {
  const double idle = wall.front() * share.idle;
  const double full = std::max(idle, wall.back() * share.full);
  const double range = wall.back() - wall.front();
  Levels watts;
  for (size_t level = 0; level < kLoadLevels; ++level)
    watts[level] = idle + (range > 0 ? (full - idle) * (wall[level] - wall.front()) / range : 0);
  const double mape = row.mape + share.mape;
  return {.component = component,
          .trainer = "table",
          .predictor = CurveThrough(watts, cpus),
          .label = {},
          .accuracy = {},
          .unseen = Accuracy{.rows = row.rows, .mae_watts = mape / 100 * watts[kLoadLevels / 2], .mape = mape}};
}

}  // namespace

PowerModel DefaultModel(const MachineSpec& machine) {
  const DefaultTable table = ReadDefaultTable(ShippedTableText()).value();
  const ProcessorRows rows = FindProcessor(table, machine.cpuid, machine.processor);
  const double cpus = std::max(machine.cores, 1u);
  const Levels wall = WallPower(table, rows, machine);
  return {.name = std::string(rows.row->name),
          .features = {"bpf_cpu_time_ms"},
          .domain = {},
          .components = {PartOf(Component::kPackage, wall, cpus, kPackageOfWall, *rows.row),
                         PartOf(Component::kDram, wall, cpus, kDramOfWall, *rows.row),
                         PartOf(Component::kPlatform, wall, cpus, {.idle = 1, .full = 1}, *rows.row)},
          .machine = {}};
}

bool IsListedProcessor(const MachineSpec& machine) {
  const DefaultTable table = ReadDefaultTable(ShippedTableText()).value();
  const DefaultTable::Row* const row = FindProcessor(table, machine.cpuid, machine.processor).row;
  return std::ranges::find(table.processors, row->name, &DefaultTable::Row::name) != table.processors.end();
}

}  // namespace kepler::model
