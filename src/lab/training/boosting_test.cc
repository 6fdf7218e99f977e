#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xgboost/c_api.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "lab/training/fits.h"
#include "model/xgboost_json.h"

namespace kepler::lab::training {
namespace {

using ::testing::HasSubstr;

/// Watts that rise with two of three features, in steps and with noise.
Samples RisingWatts(size_t rows, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  Samples samples;
  samples.features.columns = 3;
  for (size_t i = 0; i < rows; ++i) {
    const double a = uniform(random);
    const double b = uniform(random);
    const double unused = uniform(random);
    samples.features.values.insert(samples.features.values.end(), {a * 1e10, b * 1e3, unused});
    samples.labels.push_back(40 + 100 * a + 50 * std::floor(b * 4) + 5 * (uniform(random) - 0.5));
  }
  return samples;
}

double MeanError(const model::Predictor& predictor, const Samples& samples) {
  double sum = 0;
  for (size_t i = 0; i < samples.labels.size(); ++i)
    sum += std::abs(Predict(predictor, samples.features.row(i)) - samples.labels[i]);
  return sum / static_cast<double>(samples.labels.size());
}

model::Predictor Fitted(const Result<model::Predictor>& fit) {
  EXPECT_TRUE(fit) << fit.error().message;
  return fit ? *fit : model::Predictor();
}

constexpr auto kAllFits = {FitXgboost, FitGradientBoosting, FitMonotoneBoosting, FitRandomForest};

TEST(Boosting, LearnsAndGeneralises) {
  const Samples train = RisingWatts(1'000, 1);
  const Samples test = RisingWatts(300, 2);
  for (const auto fit : kAllFits) EXPECT_LT(MeanError(Fitted(fit(train, {})), test), 6.5);
}

TEST(Boosting, IsDeterministicBySeed) {
  const Samples train = RisingWatts(100, 1);
  const TrainerOptions seven{.parameters = {{"subsample", 0.5}, {"trees", 20}}, .seed = 7};
  const TrainerOptions eight{.parameters = {{"subsample", 0.5}, {"trees", 20}}, .seed = 8};
  for (const auto fit : kAllFits) {
    EXPECT_EQ(Fitted(fit(train, seven)), Fitted(fit(train, seven)));
    EXPECT_NE(Fitted(fit(train, seven)), Fitted(fit(train, eight)));
  }
}

TEST(Boosting, MoreOfAFeatureNeverMeansLessWhereAsked) {
  const Samples train = RisingWatts(400, 3);
  const model::Predictor monotone = Fitted(FitMonotoneBoosting(train, {}));
  const model::Predictor free = Fitted(FitGradientBoosting(train, {}));
  std::mt19937 random(4);
  std::uniform_real_distribution<double> uniform(0, 1);
  int falls = 0;
  for (int i = 0; i < 5'000; ++i) {
    const std::vector<double> low = {uniform(random) * 1e10, uniform(random) * 1e3, uniform(random)};
    const std::vector<double> high = {low[0] * (1 + uniform(random)), low[1], low[2] + uniform(random)};
    EXPECT_GE(Predict(monotone, high), Predict(monotone, low) - 1e-4);
    falls += Predict(free, high) < Predict(free, low) - 1e-4 ? 1 : 0;
  }
  EXPECT_GT(falls, 0) << "the constraint must matter for these samples";
}

TEST(Boosting, ParametersAreHeeded) {
  const Samples train = RisingWatts(200, 1);
  const TrainerOptions options{.parameters = {{"trees", 7}, {"depth", 1}}};
  for (const auto fit : kAllFits) {
    const auto trees = std::get<model::Trees>(Fitted(fit(train, options)).formula);
    EXPECT_EQ(trees.roots.size(), 7U);
    EXPECT_LE(trees.nodes.size(), 7U * 3);
  }
  EXPECT_NE(Fitted(FitXgboost(train, {.parameters = {{"lambda", 5}}})), Fitted(FitXgboost(train, {})));
  EXPECT_NE(Fitted(FitXgboost(train, {.parameters = {{"bins", 8}}})), Fitted(FitXgboost(train, {})));
}

TEST(Boosting, WrongOptionsAndSamplesAreInvalid) {
  const auto complaint = [](const Samples& samples, const TrainerOptions& options) {
    const auto fit = FitXgboost(samples, options);
    EXPECT_FALSE(fit);
    EXPECT_EQ(fit.error().kind, ErrorKind::kInvalid);
    return fit ? "" : fit.error().message;
  };
  const Samples good = RisingWatts(20, 1);
  EXPECT_THAT(complaint(good, {.parameters = {{"deepness", 3}}}), HasSubstr("deepness"));
  EXPECT_THAT(complaint(good, {.parameters = {{"depth", 0}}}), HasSubstr("depth"));
  EXPECT_THAT(complaint(good, {.parameters = {{"depth", 2.5}}}), HasSubstr("depth"));
  EXPECT_THAT(complaint(good, {.parameters = {{"rate", std::nan("")}}}), HasSubstr("rate"));
  EXPECT_THAT(complaint(good, {.parameters = {{"bins", 1}}}), HasSubstr("it must be 0, or a whole number from 2"));
  // What every trainer refuses is in trainer_test.cc; floats are XGBoost's alone.
  Samples feature = good;
  feature.features.values[5] = 1e39;
  EXPECT_THAT(complaint(feature, {}), HasSubstr("too large for a float"));
}

TEST(Boosting, OneRowAndEqualLabelsAreTheirValue) {
  Samples one;
  one.features = {.columns = 1, .values = {5}};
  one.labels = {70};
  EXPECT_NEAR(Predict(Fitted(FitGradientBoosting(one, {})), std::vector<double>{3}), 70, 1e-4);
  Samples same = RisingWatts(50, 1);
  same.labels.assign(50, 33);
  EXPECT_NEAR(Predict(Fitted(FitGradientBoosting(same, {})), same.features.row(3)), 33, 1e-4);
}

/// The library itself, to compare with.
class Library {
 public:
  Library(const std::vector<float>& values, size_t columns, const std::vector<float>& labels,
          const std::vector<std::pair<std::string, std::string>>& settings, int rounds)
      : matrix_(values, columns) {
    EXPECT_EQ(XGDMatrixSetFloatInfo(matrix_.handle, "label", labels.data(), labels.size()), 0);
    EXPECT_EQ(XGBoosterCreate(&matrix_.handle, 1, &booster_), 0);
    XGBoosterSetParam(booster_, "nthread", "1");
    XGBoosterSetParam(booster_, "verbosity", "0");
    for (const auto& [name, value] : settings) XGBoosterSetParam(booster_, name.c_str(), value.c_str());
    for (int i = 0; i < rounds; ++i)
      EXPECT_EQ(XGBoosterUpdateOneIter(booster_, i, matrix_.handle), 0) << XGBGetLastError();
  }
  ~Library() { XGBoosterFree(booster_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  std::string Json() const {
    bst_ulong size = 0;
    const char* text = nullptr;
    EXPECT_EQ(XGBoosterSaveModelToBuffer(booster_, R"({"format": "json"})", &size, &text), 0);
    return {text, size};
  }
  std::vector<float> Predictions(const std::vector<float>& values, size_t columns) const {
    const Matrix rows(values, columns);
    bst_ulong count = 0;
    const float* result = nullptr;
    EXPECT_EQ(XGBoosterPredict(booster_, rows.handle, 0, 0, 0, &count, &result), 0);
    return {result, result + count};
  }

 private:
  struct Matrix {
    Matrix(const std::vector<float>& values, size_t columns) {
      EXPECT_EQ(XGDMatrixCreateFromMat_omp(values.data(), values.size() / columns, columns,
                                           std::numeric_limits<float>::quiet_NaN(), &handle, 1),
                0);
    }
    ~Matrix() { XGDMatrixFree(handle); }
    Matrix(const Matrix&) = delete;
    Matrix& operator=(const Matrix&) = delete;
    DMatrixHandle handle = nullptr;
  };
  Matrix matrix_;
  BoosterHandle booster_ = nullptr;
};

struct Setting {
  std::string name;
  std::vector<std::pair<std::string, std::string>> parameters;
};
class AgainstLibrary : public ::testing::TestWithParam<Setting> {};

/// Random rows. Some values are missing, and some are exactly at a threshold of the model.
std::vector<float> ProbeRows(const model::Trees& trees, size_t rows, size_t columns) {
  std::vector<std::vector<float>> thresholds(columns);
  for (const auto& node : trees.nodes)
    if (node.left != 0) thresholds[node.feature].push_back(node.value);
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-0.2F, 1.2F);
  std::vector<float> values;
  for (size_t i = 0; i < rows * columns; ++i) {
    const auto& at = thresholds[i % columns];
    const float kind = uniform(random);
    if (kind < 0)
      values.push_back(std::numeric_limits<float>::quiet_NaN());
    else if (kind < 0.4F && !at.empty())
      values.push_back(at[random() % at.size()]);
    else
      values.push_back(uniform(random));
  }
  return values;
}

TEST_P(AgainstLibrary, SameWattsOnTenThousandRows) {
  constexpr size_t kColumns = 5;
  std::mt19937 random(6);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<float> values;
  std::vector<float> labels;
  for (int i = 0; i < 1'500; ++i) {
    float label = 30;
    for (size_t j = 0; j < kColumns; ++j) {
      const bool missing = uniform(random) < 0.1F;
      values.push_back(missing ? std::numeric_limits<float>::quiet_NaN() : uniform(random));
      label += missing ? 7 : 60 * values.back() * values.back();
    }
    labels.push_back(label + uniform(random));
  }
  const Library library(values, kColumns, labels, GetParam().parameters, 60);
  const auto read = model::ReadXgboostJson(library.Json());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->feature_count, kColumns);
  model::Predictor predictor;
  predictor.formula = read->trees;
  const auto status = Check(predictor, kColumns);
  ASSERT_TRUE(status) << status.error().message;

  const auto probes = ProbeRows(read->trees, 10'000, kColumns);
  const auto theirs = library.Predictions(probes, kColumns);
  ASSERT_EQ(theirs.size(), 10'000U);
  std::vector<double> row(kColumns);
  for (size_t i = 0; i < theirs.size(); ++i) {
    std::copy_n(probes.begin() + static_cast<ptrdiff_t>(i * kColumns), kColumns, row.begin());
    ASSERT_NEAR(Predict(predictor, row), static_cast<double>(theirs[i]), 1e-5) << i;
  }
  EXPECT_GT((std::set<float>(theirs.begin(), theirs.end()).size()), 100U) << "the rows must reach many leaves";
}

INSTANTIATE_TEST_SUITE_P(
    Settings, AgainstLibrary,
    ::testing::Values(
        Setting{"Exact", {{"tree_method", "exact"}, {"max_depth", "6"}}},
        Setting{"Histogram", {{"tree_method", "hist"}, {"max_depth", "5"}, {"base_score", "123.25"}}},
        Setting{"LossGuide",
                {{"tree_method", "hist"}, {"grow_policy", "lossguide"}, {"max_leaves", "40"}, {"max_depth", "0"}}},
        Setting{"Pruned", {{"tree_method", "exact"}, {"gamma", "200"}, {"max_depth", "8"}}},
        Setting{"Sampled", {{"subsample", "0.6"}, {"colsample_bytree", "0.5"}, {"lambda", "0"}, {"eta", "0.7"}}},
        Setting{"Forests", {{"num_parallel_tree", "4"}, {"subsample", "0.5"}, {"max_depth", "4"}}},
        Setting{"Monotone", {{"tree_method", "exact"}, {"monotone_constraints", "(1,1,1,1,1)"}}},
        Setting{"AbsoluteError", {{"objective", "reg:absoluteerror"}, {"tree_method", "hist"}}},
        Setting{"PseudoHuber", {{"objective", "reg:pseudohubererror"}, {"base_score", "100"}}}),
    [](const auto& setting) { return setting.param.name; });

TEST(XgboostFile, OtherLinksOfTheLibraryAreRefused) {
  const std::vector<float> values = {1, 2, 3, 4};
  const Library poisson(values, 1, values, {{"objective", "count:poisson"}}, 2);
  const auto read = model::ReadXgboostJson(poisson.Json());
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("count:poisson"));
  const Library dart(values, 1, values, {{"booster", "dart"}}, 2);
  EXPECT_THAT(model::ReadXgboostJson(dart.Json()).error().message, HasSubstr("dart"));
  const Library linear(values, 1, values, {{"booster", "gblinear"}}, 2);
  EXPECT_THAT(model::ReadXgboostJson(linear.Json()).error().message, HasSubstr("gblinear"));
}

}  // namespace
}  // namespace kepler::lab::training
