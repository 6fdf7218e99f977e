// Boosted trees and forests by libxgboost, one thread each. Values are rounded to floats before anything else, as when
// they are predicted. The trained model is read back from XGBoost's JSON, so no second reader has to agree.
#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

#include "lab/training/fits.h"
#include "model/xgboost_json.h"

namespace kepler::lab::training {
namespace {

/// A hyper-parameter and what libxgboost calls it; nothing for those that are not among XGBoost's.
struct Knob {
  Parameter parameter;
  std::string_view theirs;
};

struct Method {
  std::vector<Knob> knobs;
  bool monotone = false;
  bool forest = false;  // all trees in one round
};

constexpr Knob Whole(std::string_view name, std::string_view theirs, double fallback, double min, double max) {
  return {{.name = name, .fallback = fallback, .min = min, .max = max, .whole = true}, theirs};
}
constexpr Knob Number(std::string_view name, std::string_view theirs, double fallback, double min, double max) {
  return {{.name = name, .fallback = fallback, .min = min, .max = max}, theirs};
}

/// How much of the linear model is in the sum. It carries the power on beyond the loads of training, where trees stay
/// flat; more of it spoils what lies between.
constexpr double kLinearShare = 0.3;

constexpr std::string_view kTrees = "trees";
constexpr std::string_view kBins = "bins";  // of a histogram; 0: every value is tried

Method Boosting(double depth, double lambda, double bins, double min_child_weight = 1) {
  return {.knobs = {Whole(kTrees, "", 100, 1, 10'000), Whole("depth", "max_depth", depth, 1, 16),
                    Number("rate", "eta", 0.1, 1e-6, 1), Number("lambda", "lambda", lambda, 0, 1e9),
                    Number("alpha", "alpha", 0, 0, 1e9), Number("gamma", "gamma", 0, 0, 1e9),
                    Number("min_child_weight", "min_child_weight", min_child_weight, 0, 1e9),
                    Number("subsample", "subsample", 1, 0.01, 1), Number("columns", "colsample_bytree", 1, 0.01, 1),
                    Whole(kBins, "max_bin", bins, 0, 65'536)}};
}

Method Forest() {
  return {.knobs = {Whole(kTrees, "num_parallel_tree", 100, 1, 10'000), Whole("depth", "max_depth", 12, 1, 16),
                    Number("lambda", "lambda", 0, 0, 1e9), Number("min_child_weight", "min_child_weight", 2, 0, 1e9),
                    Number("subsample", "subsample", 0.632, 0.01, 1), Number("columns", "colsample_bynode", 1, 0.01, 1),
                    Whole(kBins, "max_bin", 0, 0, 65'536)},
          .forest = true};
}

/// The values of a method's hyper-parameters, by the order of its knobs.
struct Settings {
  const Method& method;
  std::vector<double> values;

  [[nodiscard]] double Of(std::string_view name) const {
    for (size_t i = 0; i < values.size(); ++i)
      if (method.knobs[i].parameter.name == name) return values[i];
    return 0;
  }
};

Result<Settings> ReadSettings(const Method& method, const TrainerOptions& options) {
  std::vector<Parameter> known;
  known.reserve(method.knobs.size());
  for (const Knob& knob : method.knobs) known.push_back(knob.parameter);
  KEPLER_TRY(auto values, ReadParameters(options, known));
  Settings settings{.method = method, .values = std::move(values)};
  if (settings.Of(kBins) == 1)
    return Fail(ErrorKind::kInvalid, "parameter 'bins' is 1; it must be 0, or a whole number from 2 to 65536");
  return settings;
}

/// XGBoost computes with floats.
Status CheckFloats(const Samples& samples) {
  const auto fits = [](double value) { return std::abs(value) <= std::numeric_limits<float>::max(); };
  if (std::ranges::all_of(samples.labels, fits) && std::ranges::all_of(samples.features.values, fits)) return {};
  return Fail(ErrorKind::kInvalid, "a feature or label is too large for a float");
}

std::vector<float> Floats(std::span<const double> values) {
  std::vector<float> floats;
  floats.reserve(values.size());
  for (const double value : values) floats.push_back(static_cast<float>(value));
  return floats;
}

struct MatrixCloser {
  void operator()(void* handle) const { XGDMatrixFree(handle); }
};
struct BoosterCloser {
  void operator()(void* handle) const { XGBoosterFree(handle); }
};

/// Of a call of libxgboost, which catches its exceptions itself.
Status Called(int rc) {
  if (rc == 0) return {};
  return Fail(ErrorKind::kInvalid, fmt::format("libxgboost: {}", XGBGetLastError()));
}

Status Set(BoosterHandle booster, std::string_view name, const std::string& value) {
  return Called(XGBoosterSetParam(booster, std::string(name).c_str(), value.c_str()));
}

Status Configure(BoosterHandle booster, const Settings& settings, const Samples& samples, uint64_t seed) {
  const Method& method = settings.method;
  KEPLER_CHECK_OK(Set(booster, "verbosity", "0"));
  KEPLER_CHECK_OK(Set(booster, "nthread", "1"));
  KEPLER_CHECK_OK(Set(booster, "objective", "reg:squarederror"));
  KEPLER_CHECK_OK(Set(booster, "seed", fmt::format("{}", seed % std::numeric_limits<int32_t>::max())));
  const bool exact = settings.Of(kBins) == 0;
  KEPLER_CHECK_OK(Set(booster, "tree_method", exact ? "exact" : "hist"));
  for (size_t i = 0; i < method.knobs.size(); ++i)
    if (const Knob& knob = method.knobs[i]; !knob.theirs.empty() && !(exact && knob.parameter.name == kBins))
      KEPLER_CHECK_OK(Set(booster, knob.theirs, fmt::format("{}", settings.values[i])));
  if (method.forest) KEPLER_CHECK_OK(Set(booster, "eta", "1"));
  const double sum = std::reduce(samples.labels.begin(), samples.labels.end());
  KEPLER_CHECK_OK(Set(booster, "base_score",
                      fmt::format("{}", static_cast<float>(sum / static_cast<double>(samples.labels.size())))));
  if (!method.monotone) return {};
  const std::vector<int> up(samples.features.columns, 1);
  return Set(booster, "monotone_constraints", fmt::format("({})", fmt::join(up, ",")));
}

Result<model::Predictor> Fit(const Samples& samples, const TrainerOptions& options, const Method& method) {
  KEPLER_TRY(const Settings settings, ReadSettings(method, options));
  KEPLER_CHECK_OK(CheckSamples(samples));
  KEPLER_CHECK_OK(CheckFloats(samples));
  const auto values = Floats(samples.features.values);
  DMatrixHandle matrix_handle = nullptr;
  KEPLER_CHECK_OK(Called(XGDMatrixCreateFromMat_omp(values.data(), samples.features.rows(), samples.features.columns,
                                                    std::numeric_limits<float>::quiet_NaN(), &matrix_handle, 1)));
  const std::unique_ptr<void, MatrixCloser> matrix(matrix_handle);
  const auto labels = Floats(samples.labels);
  KEPLER_CHECK_OK(Called(XGDMatrixSetFloatInfo(matrix.get(), "label", labels.data(), labels.size())));
  BoosterHandle booster_handle = nullptr;
  KEPLER_CHECK_OK(Called(XGBoosterCreate(&matrix_handle, 1, &booster_handle)));
  const std::unique_ptr<void, BoosterCloser> booster(booster_handle);
  KEPLER_CHECK_OK(Configure(booster.get(), settings, samples, options.seed));
  const int rounds = method.forest ? 1 : static_cast<int>(settings.Of(kTrees));
  for (int round = 0; round < rounds; ++round)
    KEPLER_CHECK_OK(Called(XGBoosterUpdateOneIter(booster.get(), round, matrix.get())));
  bst_ulong size = 0;
  const char* json = nullptr;
  KEPLER_CHECK_OK(Called(XGBoosterSaveModelToBuffer(booster.get(), R"({"format": "json"})", &size, &json)));
  KEPLER_TRY(auto read, model::ReadXgboostJson({json, size}));
  return Checked({.limits = {}, .scale = {}, .formula = std::move(read.trees)}, samples);
}

}  // namespace

Result<model::Predictor> FitXgboost(const Samples& samples, const TrainerOptions& options) {
  return Fit(samples, options, Boosting(6, 1, 256));
}

Result<model::Predictor> FitGradientBoosting(const Samples& samples, const TrainerOptions& options) {
  return Fit(samples, options, Boosting(3, 0, 0));
}

Result<model::Predictor> FitMonotoneBoosting(const Samples& samples, const TrainerOptions& options) {
  Method method = Boosting(3, 0, 0);
  method.monotone = true;
  return Fit(samples, options, method);
}

Result<model::Predictor> FitLinearBoosting(const Samples& samples, const TrainerOptions& options) {
  Method method = Boosting(4, 0, 0, 5);
  method.monotone = true;
  KEPLER_CHECK_OK(ReadSettings(method, options));
  KEPLER_TRY(auto linear, FitNonNegative(samples, {}));
  Samples rest = samples;
  for (size_t row = 0; row < rest.labels.size(); ++row) {
    const double explained = kLinearShare * model::Predict(linear, rest.features.row(row));
    rest.labels[row] = (rest.labels[row] - explained) / (1 - kLinearShare);
  }
  KEPLER_TRY(auto trees, Fit(rest, options, method));
  model::Blend blend{.weights = {kLinearShare, 1 - kLinearShare}, .parts = {}};
  blend.parts.push_back(std::move(linear));
  blend.parts.push_back(std::move(trees));
  return model::Predictor{.limits = {}, .scale = {}, .formula = std::move(blend)};
}

Result<model::Predictor> FitRandomForest(const Samples& samples, const TrainerOptions& options) {
  return Fit(samples, options, Forest());
}

}  // namespace kepler::lab::training
