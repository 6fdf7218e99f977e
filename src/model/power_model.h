#pragma once
// A trained power model of a machine: its features, a predictor for each component, the training machine and the
// errors. Pure; an estimate allocates nothing and may run on any thread.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/machine.h"
#include "model/predictor.h"

namespace kepler::model {

enum class Component : uint8_t { kPackage, kCore, kUncore, kDram, kPlatform };
inline constexpr size_t kComponents = 5;
[[nodiscard]] std::string_view Name(Component component);  // "package"
[[nodiscard]] std::optional<Component> ComponentOf(std::string_view name);

/// Meaning of the watts: AbsPower is total power including idle power, DynPower is dynamic power only.
enum class OutputType : uint8_t { kAbsPower, kDynPower };
[[nodiscard]] std::string_view Name(OutputType type);  // "AbsPower"
/// Also by the other names of Kepler's model server up to 0.5: AbsModelWeight, AbsComponentPower,
/// AbsComponentModelWeight, and the same with Dyn. They also state the format and whether zones are predicted, which
/// model files show.
[[nodiscard]] std::optional<OutputType> OutputTypeOf(std::string_view name);

/// Unit of the predictors, and of `label` and `domain`: kMachine is the whole machine; kCore is one logical CPU. A
/// kCore model serves machines of other sizes: features that GrowsWithCores() are divided by the CPUs of the machine,
/// and the watts are multiplied by them.
enum class Per : uint8_t { kMachine, kCore };
[[nodiscard]] std::string_view Name(Per per);  // "core"

/// Error of predictions against the meter, on rows outside the training data.
struct Accuracy {
  uint64_t rows = 0;
  double mae_watts = 0;
  double mape = 0;  // percent, over rows with at least 1 mW; 0 if there are no such rows
  double r2 = 0;
  bool operator==(const Accuracy&) const = default;
};

/// Rows outside the training data, for plots: the watts of the meter and the prediction of each. Both have the same
/// size, at most kMaxTested; a sample of the rows that `accuracy` is of.
struct TestedRows {
  std::vector<double> actual;
  std::vector<double> predicted;
  bool operator==(const TestedRows&) const = default;
};
inline constexpr size_t kMaxTested = 500;

struct ComponentModel {
  Component component = Component::kPackage;
  std::string trainer;  // "linear", "auto(xgboost, monotone)"
  Predictor predictor;
  Range label;  // range of the watts in training
  std::optional<Accuracy> accuracy;
  std::optional<Accuracy> unseen{};  // the same on machines outside the training data
  TestedRows tested{};               // empty if nobody kept them
  bool operator==(const ComponentModel&) const = default;
};

struct PowerModel {
  std::string name;
  uint32_t version = 1;  // the larger version of the same name is newer
  OutputType output = OutputType::kAbsPower;
  Per per = Per::kMachine;
  std::vector<std::string> features;       // canonical names, the order of a row
  std::vector<Range> domain;               // range of each feature in training; empty if the file does not state it
  std::vector<ComponentModel> components;  // each component at most once
  std::optional<MachineSpec> machine;
  bool operator==(const PowerModel&) const = default;
};

struct Estimate {
  std::array<double, kComponents> watts{};  // by Component; 0 for components that the model lacks
  bool extrapolated = false;                // a feature lies outside the training domain
  // a prediction was changed: it was negative, far too large, not finite, or inconsistent with other components
  bool clamped = false;
};

/// Checks the name of a model: valid UTF-8 of at most kMaxLabelBytes (base/text.h).
[[nodiscard]] Status CheckName(std::string_view name);

/// Checks the rules for every file. Feature names are canonical, unique and not empty. Sizes match, and each predictor
/// passes Check(). There is at least one component, and no component occurs twice. The error is kMalformed and begins
/// with the field's name in model files: "components[1].predictor.weights: …".
[[nodiscard]] Status Check(const PowerModel& model);

/// No machine uses more power: the limit for models that do not state their training range.
inline constexpr double kMaxWatts = 1e6;

/// Returns the watts of every component for one row of raw features of a machine with `cores` logical CPUs, in the
/// order of `model.features`. Only kCore models use `cores`, which must be positive for them. Each value is limited to
/// between 0 and twice the largest training value (kMaxWatts if the model does not state it). Then physical order is
/// enforced, which may raise a value above that limit: package >= core + uncore, platform >= package + dram, for the
/// components of the model. A missing feature (NaN) counts as an extrapolation. A component that needs the missing
/// feature gets its smallest training value.
[[nodiscard]] Estimate EstimateRow(const PowerModel& model, std::span<const double> row, double cores);

}  // namespace kepler::model
