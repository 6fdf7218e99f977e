#include "model/power_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <iterator>
#include <set>

#include "base/text.h"
#include "model/features.h"

namespace kepler::model {
namespace {

constexpr std::string_view kNames[kComponents] = {"package", "core", "uncore", "dram", "platform"};

std::unexpected<Error> Refuse(std::string_view where, std::string_view why) {
  return Fail(ErrorKind::kMalformed, fmt::format("{}: {}", where, why));
}

Status CheckText(std::string_view where, std::string_view text) {
  if (text.size() > kMaxLabelBytes) return Refuse(where, fmt::format("longer than {} bytes", kMaxLabelBytes));
  if (!IsValidUtf8(text)) return Refuse(where, "not UTF-8");
  return {};
}

Status CheckRange(std::string_view where, const Range& range) {
  if (std::isfinite(range.min) && std::isfinite(range.max) && range.min <= range.max) return {};
  return Refuse(where, "not two finite numbers in ascending order");
}

Status CheckFeatures(const std::vector<std::string>& features) {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < features.size(); ++i) {
    const std::string& name = features[i];
    const std::string where = fmt::format("features[{}]", i);
    if (name.empty()) return Refuse(where, "a feature has no name");
    KEPLER_CHECK_OK(CheckText(where, name));
    if (const auto canonical = CanonicalFeature(name); canonical != name)
      return Refuse(where, fmt::format("{} must be written as {}", name, canonical));
    if (!seen.insert(name).second) return Refuse(where, fmt::format("\"{}\" appears twice", EscapeControls(name)));
  }
  return {};
}

Status CheckAccuracy(std::string_view where, const Accuracy& accuracy) {
  if (!std::isfinite(accuracy.mae_watts) || !std::isfinite(accuracy.mape) || !std::isfinite(accuracy.r2))
    return Refuse(where, "must be finite numbers");
  if (accuracy.mae_watts < 0 || accuracy.mape < 0) return Refuse(where, "an error must not be negative");
  return {};
}

Status CheckTested(const std::string& where, const TestedRows& tested) {
  if (tested.actual.size() != tested.predicted.size())
    return Refuse(where,
                  fmt::format("{} actual and {} predicted watts", tested.actual.size(), tested.predicted.size()));
  if (tested.actual.size() > kMaxTested)
    return Refuse(where, fmt::format("{} rows, at most {}", tested.actual.size(), kMaxTested));
  for (const auto* const watts : {&tested.actual, &tested.predicted})
    if (!std::ranges::all_of(*watts, [](double value) { return value >= 0 && value <= kMaxWatts; }))
      return Refuse(where, fmt::format("a value is not from 0 to {} W", kMaxWatts));
  return {};
}

Status CheckComponent(const std::string& where, const ComponentModel& component, size_t features) {
  KEPLER_CHECK_OK(CheckText(where + ".trainer", component.trainer));
  KEPLER_CHECK_OK(CheckRange(where + ".label", component.label));
  if (component.accuracy) KEPLER_CHECK_OK(CheckAccuracy(where + ".accuracy", *component.accuracy));
  if (component.unseen) KEPLER_CHECK_OK(CheckAccuracy(where + ".unseen", *component.unseen));
  KEPLER_CHECK_OK(CheckTested(where + ".tested", component.tested));
  if (auto status = Check(component.predictor, features); !status)
    return Fail(status.error().kind, fmt::format("{}.predictor.{}", where, status.error().message));
  return {};
}

Status CheckMachine(const MachineSpec& machine) {
  KEPLER_CHECK_OK(CheckText("machine.processor", machine.processor));
  KEPLER_CHECK_OK(CheckText("machine.cpuid.vendor", machine.cpuid.vendor));
  for (const std::string& feature : machine.cpuid.features)
    KEPLER_CHECK_OK(CheckText("machine.cpuid.features", feature));
  return {};
}

/// Limits the watts to a possible value. `units`: number of units that the label is the power of.
double Hold(double watts, const Range& label, double units, bool& clamped) {
  const double most = label.max > 0 ? std::min(2 * label.max * units, kMaxWatts) : kMaxWatts;
  const double held = std::clamp(std::isnan(watts) ? std::min(label.min * units, most) : watts, 0.0, most);
  clamped |= !(held == watts);
  return held;
}

/// Raises the whole to the sum of its parts if the whole is smaller.
void Raise(double& whole, double parts, bool& clamped) {
  if (whole >= parts) return;
  whole = parts;
  clamped = true;
}

bool IsOutside(const PowerModel& model, std::span<const double> row) {
  for (size_t i = 0; i < row.size(); ++i) {
    if (std::isnan(row[i])) return true;
    if (!model.domain.empty() && (row[i] < model.domain[i].min || row[i] > model.domain[i].max)) return true;
  }
  return false;
}

}  // namespace

std::string_view Name(Component component) { return kNames[static_cast<size_t>(component)]; }

std::optional<Component> ComponentOf(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<Component>(found - std::begin(kNames));
}

std::string_view Name(OutputType type) { return type == OutputType::kAbsPower ? "AbsPower" : "DynPower"; }

std::optional<OutputType> OutputTypeOf(std::string_view name) {
  constexpr std::string_view kMeanings[] = {"Power", "ModelWeight", "ComponentPower", "ComponentModelWeight"};
  const bool is_dynamic = name.starts_with("Dyn");
  if (!is_dynamic && !name.starts_with("Abs")) return std::nullopt;
  if (std::ranges::find(kMeanings, name.substr(3)) == std::end(kMeanings)) return std::nullopt;
  return is_dynamic ? OutputType::kDynPower : OutputType::kAbsPower;
}

std::string_view Name(Per per) { return per == Per::kCore ? "core" : "machine"; }

Status CheckName(std::string_view name) { return CheckText("name", name); }

Status Check(const PowerModel& model) {
  KEPLER_CHECK_OK(CheckName(model.name));
  KEPLER_CHECK_OK(CheckFeatures(model.features));
  if (!model.domain.empty() && model.domain.size() != model.features.size())
    return Refuse("domain", fmt::format("{} ranges for {} features", model.domain.size(), model.features.size()));
  for (size_t i = 0; i < model.domain.size(); ++i)
    KEPLER_CHECK_OK(CheckRange(fmt::format("domain[{}]", i), model.domain[i]));
  if (model.components.empty()) return Refuse("components", "a model needs at least one component");
  std::bitset<kComponents> seen;
  for (size_t i = 0; i < model.components.size(); ++i) {
    const auto& component = model.components[i];
    const std::string where = fmt::format("components[{}]", i);
    const auto index = static_cast<size_t>(component.component);
    if (seen.test(index)) return Refuse(where, fmt::format("a second {}", kNames[index]));
    seen.set(index);
    KEPLER_CHECK_OK(CheckComponent(where, component, model.features.size()));
  }
  return model.machine ? CheckMachine(*model.machine) : Status();
}

Estimate EstimateRow(const PowerModel& model, std::span<const double> raw, double cores) {
  std::array<double, kMaxFeatures> divided;
  std::span<const double> row = raw;
  const double units = model.per == Per::kCore ? cores : 1;
  if (model.per == Per::kCore) {
    for (size_t i = 0; i < raw.size(); ++i) divided[i] = GrowsWithCores(model.features[i]) ? raw[i] / cores : raw[i];
    row = std::span(divided).first(raw.size());
  }
  Estimate estimate;
  estimate.extrapolated = IsOutside(model, row);
  std::bitset<kComponents> there;
  for (const auto& component : model.components) {
    const auto index = static_cast<size_t>(component.component);
    there.set(index);
    estimate.watts[index] = Hold(units * Predict(component.predictor, row), component.label, units, estimate.clamped);
  }
  auto& [package, core, uncore, dram, platform] = estimate.watts;  // missing components are 0
  if (there.test(static_cast<size_t>(Component::kPackage))) Raise(package, core + uncore, estimate.clamped);
  if (there.test(static_cast<size_t>(Component::kPlatform)))
    Raise(platform, std::max(package, core + uncore) + dram, estimate.clamped);
  return estimate;
}

}  // namespace kepler::model
