#pragma once
// A trained model of one machine's power: which features it needs, a predictor for each component, where it was trained
// and how wrong it is. Pure; estimating allocates nothing and may happen on any thread.
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

/// What the watts stand for: all of a node with its idle power, or what its load adds.
enum class OutputType : uint8_t { kAbsPower, kDynPower };
[[nodiscard]] std::string_view Name(OutputType type);  // "AbsPower"

/// How far predictions were from the meter, on rows that the fit had not seen.
struct Accuracy {
  uint64_t rows = 0;
  double mae_watts = 0;
  double mape = 0;  // percent, over rows with 1 mW or more; 0 where there are none
  double r2 = 0;
  bool operator==(const Accuracy&) const = default;
};

struct ComponentModel {
  Component component = Component::kPackage;
  std::string trainer;  // "linear", "auto(xgboost, monotone)"
  Predictor predictor;
  Range label;  // of the watts that it was trained on
  std::optional<Accuracy> accuracy;
  std::optional<Accuracy> unseen{};  // the same on machines that the fit had not seen at all
  bool operator==(const ComponentModel&) const = default;
};

struct PowerModel {
  std::string name;
  uint32_t version = 1;  // of several of one name the larger one is newer
  OutputType output = OutputType::kAbsPower;
  std::vector<std::string> features;       // canonical names, the order of a row
  std::vector<Range> domain;               // of each feature in training; none where the file does not say
  std::vector<ComponentModel> components;  // each at most once
  std::optional<MachineSpec> machine;
  bool operator==(const PowerModel&) const = default;
};

struct Estimate {
  std::array<double, kComponents> watts{};  // by Component; 0 for those that the model does not have
  bool extrapolated = false;                // a feature lies outside the training domain
  bool clamped = false;  // a prediction was negative, far too large, not finite or out of order, and was changed
};

/// Whether a model may be called so: at most kMaxLabelBytes (base/text.h) of UTF-8.
[[nodiscard]] Status CheckName(std::string_view name);

/// What every file must hold before it is used: feature names canonical, unique and not empty, sizes that fit, each
/// predictor's Check(), at least one component and none twice. What fails is kMalformed and begins with the field as
/// model files name it: "components[1].predictor.weights: …".
[[nodiscard]] Status Check(const PowerModel& model);

/// No machine uses more: a limit for models that do not say what they were trained on.
inline constexpr double kMaxWatts = 1e6;

/// Watts of every component for one row of raw features in the order of `model.features`. Each is held between 0 and
/// twice the largest that was trained on (kMaxWatts where the model does not say). Then physical order is made, which
/// may raise one above that again: package >= core + uncore, platform >= package + dram, as far as the model has them.
/// A missing feature (NaN) is an extrapolation; what cannot be told without it is the smallest that was trained on.
[[nodiscard]] Estimate EstimateRow(const PowerModel& model, std::span<const double> row);

}  // namespace kepler::model
