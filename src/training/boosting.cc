#include "training/boosting.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

#include "model/features.h"
#include "model/xgboost_json.h"

namespace kepler::training {
namespace {

/// A hyper-parameter by our name, what libxgboost calls it, and what it may be.
struct Knob {
  std::string_view name;
  std::string_view theirs;
  double value = 0;
  double least = 0;
  double most = 0;
  bool whole = false;
};

/// Its own are not XGBoost's parameters.
constexpr std::string_view kTrees = "trees";
constexpr std::string_view kBins = "bins";

struct Method {
  std::vector<Knob> knobs;
  bool start_at_mean = false;
  bool monotone = false;
  bool forest = false;  // all trees in one round
};

constexpr double kMostTrees = 10'000;

Method Boosting(double depth, double lambda) {
  return {.knobs = {{kTrees, "", 100, 1, kMostTrees, true},
                    {"depth", "max_depth", depth, 1, 16, true},
                    {"rate", "eta", 0.1, 1e-6, 1},
                    {"lambda", "lambda", lambda, 0, 1e9},
                    {"alpha", "alpha", 0, 0, 1e9},
                    {"gamma", "gamma", 0, 0, 1e9},
                    {"min_child_weight", "min_child_weight", 1, 0, 1e9},
                    {"subsample", "subsample", 1, 0.01, 1},
                    {"columns", "colsample_bytree", 1, 0.01, 1},
                    {kBins, "max_bin", 0, 0, 65'536, true}}};
}

Method Forest() {
  return {.knobs = {{kTrees, "num_parallel_tree", 100, 1, kMostTrees, true},
                    {"depth", "max_depth", 12, 1, 16, true},
                    {"lambda", "lambda", 0, 0, 1e9},
                    {"min_child_weight", "min_child_weight", 2, 0, 1e9},
                    {"subsample", "subsample", 0.632, 0.01, 1},
                    {"columns", "colsample_bynode", 1, 0.01, 1},
                    {kBins, "max_bin", 256, 0, 65'536, true}},
          .start_at_mean = true,
          .forest = true};
}

Status Apply(const TrainerOptions& options, std::vector<Knob>& knobs) {
  for (const auto& [name, value] : options.parameters) {
    const auto knob = std::ranges::find(knobs, name, &Knob::name);
    if (knob == knobs.end()) {
      std::vector<std::string_view> known;
      known.reserve(knobs.size());
      for (const Knob& one : knobs) known.push_back(one.name);
      return Fail(ErrorKind::kInvalid, fmt::format("no parameter \"{}\"; there are {}", name, fmt::join(known, ", ")));
    }
    if (!(value >= knob->least && value <= knob->most) || (knob->whole && value != std::floor(value)))
      return Fail(ErrorKind::kInvalid,
                  fmt::format("{} is {}, but must be {} from {} to {}", name, value,
                              knob->whole ? "a whole number" : "a number", knob->least, knob->most));
    knob->value = value;
  }
  return {};
}

double ValueOf(const std::vector<Knob>& knobs, std::string_view name) {
  return std::ranges::find(knobs, name, &Knob::name)->value;
}

Status CheckSamples(const Samples& samples) {
  const size_t rows = samples.features.rows();
  if (samples.features.columns > model::kMaxFeatures || rows == 0 || rows != samples.labels.size())
    return Fail(ErrorKind::kInvalid,
                fmt::format("{} rows of {} features and {} labels: as many labels as rows, 1 at least, and at most {} "
                            "features are needed",
                            rows, samples.features.columns, samples.labels.size(), model::kMaxFeatures));
  const auto fits = [](double value) { return std::abs(value) <= std::numeric_limits<float>::max(); };
  if (!std::ranges::all_of(samples.labels, fits) || !std::ranges::all_of(samples.features.values, fits))
    return Fail(ErrorKind::kInvalid, "a feature or label is not finite, or too large for a float");
  return {};
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
Status Checked(int rc) {
  if (rc == 0) return {};
  return Fail(ErrorKind::kInvalid, fmt::format("libxgboost: {}", XGBGetLastError()));
}

Status Set(BoosterHandle booster, std::string_view name, const std::string& value) {
  return Checked(XGBoosterSetParam(booster, std::string(name).c_str(), value.c_str()));
}

Status Configure(BoosterHandle booster, const Method& method, const Samples& samples, uint64_t seed) {
  KEPLER_CHECK_OK(Set(booster, "verbosity", "0"));
  KEPLER_CHECK_OK(Set(booster, "nthread", "1"));
  KEPLER_CHECK_OK(Set(booster, "objective", "reg:squarederror"));
  KEPLER_CHECK_OK(Set(booster, "seed", fmt::format("{}", seed % std::numeric_limits<int32_t>::max())));
  const double bins = ValueOf(method.knobs, kBins);
  KEPLER_CHECK_OK(Set(booster, "tree_method", bins == 0 ? "exact" : "hist"));
  for (const Knob& knob : method.knobs)
    if (!knob.theirs.empty() && (knob.name != kBins || bins != 0))
      KEPLER_CHECK_OK(Set(booster, knob.theirs, fmt::format("{}", knob.value)));
  if (method.forest) KEPLER_CHECK_OK(Set(booster, "eta", "1"));
  if (method.start_at_mean) {
    const double sum = std::reduce(samples.labels.begin(), samples.labels.end());
    KEPLER_CHECK_OK(Set(booster, "base_score",
                        fmt::format("{}", static_cast<float>(sum / static_cast<double>(samples.labels.size())))));
  }
  if (!method.monotone) return {};
  const std::vector<int> up(samples.features.columns, 1);
  return Set(booster, "monotone_constraints", fmt::format("({})", fmt::join(up, ",")));
}

Result<model::Predictor> Fit(const Samples& samples, const TrainerOptions& options, Method method) {
  KEPLER_CHECK_OK(Apply(options, method.knobs));
  KEPLER_CHECK_OK(CheckSamples(samples));
  const auto values = Floats(samples.features.values);
  DMatrixHandle matrix_handle = nullptr;
  KEPLER_CHECK_OK(Checked(XGDMatrixCreateFromMat_omp(values.data(), samples.features.rows(), samples.features.columns,
                                                     std::numeric_limits<float>::quiet_NaN(), &matrix_handle, 1)));
  const std::unique_ptr<void, MatrixCloser> matrix(matrix_handle);
  const auto labels = Floats(samples.labels);
  KEPLER_CHECK_OK(Checked(XGDMatrixSetFloatInfo(matrix.get(), "label", labels.data(), labels.size())));
  BoosterHandle booster_handle = nullptr;
  KEPLER_CHECK_OK(Checked(XGBoosterCreate(&matrix_handle, 1, &booster_handle)));
  const std::unique_ptr<void, BoosterCloser> booster(booster_handle);
  KEPLER_CHECK_OK(Configure(booster.get(), method, samples, options.seed));
  const int rounds = method.forest ? 1 : static_cast<int>(ValueOf(method.knobs, kTrees));
  for (int round = 0; round < rounds; ++round)
    KEPLER_CHECK_OK(Checked(XGBoosterUpdateOneIter(booster.get(), round, matrix.get())));
  bst_ulong size = 0;
  const char* json = nullptr;
  KEPLER_CHECK_OK(Checked(XGBoosterSaveModelToBuffer(booster.get(), R"({"format": "json"})", &size, &json)));
  KEPLER_TRY(auto read, model::ReadXgboostJson({json, size}));
  model::Predictor predictor;
  predictor.formula = std::move(read.trees);
  KEPLER_CHECK_OK(model::Check(predictor, samples.features.columns));
  return predictor;
}

}  // namespace

Result<model::Predictor> FitXgboost(const Samples& samples, const TrainerOptions& options) {
  return Fit(samples, options, Boosting(6, 1));
}

Result<model::Predictor> FitGradientBoosting(const Samples& samples, const TrainerOptions& options) {
  Method method = Boosting(3, 0);
  method.start_at_mean = true;
  return Fit(samples, options, std::move(method));
}

Result<model::Predictor> FitMonotoneBoosting(const Samples& samples, const TrainerOptions& options) {
  Method method = Boosting(3, 0);
  method.start_at_mean = true;
  method.monotone = true;
  return Fit(samples, options, std::move(method));
}

Result<model::Predictor> FitRandomForest(const Samples& samples, const TrainerOptions& options) {
  return Fit(samples, options, Forest());
}

}  // namespace kepler::training
