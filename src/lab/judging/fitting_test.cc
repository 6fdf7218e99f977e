#include "lab/judging/fitting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace kepler::lab::judging {
namespace {

using model::Component;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Indices = std::vector<size_t>;

void Silent(size_t) {}

/// Watts that rise with the cycles, and noise.
Measurements Machine(size_t rows) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 3);
  Measurements all{.features = {"cpu_cycles", "bpf_cpu_time_ms"},
                   .rows = {.columns = 2, .values = {}},
                   .targets = {{.column = "package_power", .component = Component::kPackage}},
                   .labels = {{}},
                   .groups = {}};
  for (size_t row = 0; row < rows; ++row) {
    const double load = static_cast<double>(row * 7 % rows) + 1;
    all.rows.values.insert(all.rows.values.end(), {load * 1e9, load * 10});
    all.labels[0].push_back(50 + load + noise(random));
  }
  return all;
}

/// Rows of one feature with these watts.
Measurements Rows(std::vector<double> feature, std::vector<double> watts) {
  return {.features = {"cpu_cycles"},
          .rows = {.columns = 1, .values = std::move(feature)},
          .targets = {{.column = "package_power", .component = Component::kPackage}},
          .labels = {std::move(watts)},
          .groups = {}};
}

Recipe By(const char* trainer, uint64_t seed = 0) {
  return {.trainer = training::FindTrainer(trainer), .options = {.parameters = {}, .seed = seed}};
}

/// What each fit had, by the first feature and the label.
std::vector<std::vector<std::pair<double, double>>>& Fits() {
  static std::vector<std::vector<std::pair<double, double>>> fits;
  return fits;
}

Result<model::Predictor> FitAsSpy(const training::Samples& samples, const training::TrainerOptions&) {
  auto& fit = Fits().emplace_back();
  for (size_t row = 0; row < samples.labels.size(); ++row)
    fit.emplace_back(samples.features.row(row)[0], samples.labels[row]);
  return model::Predictor{
      .limits = {}, .scale = {}, .formula = model::Linear{1, std::vector<double>(samples.features.columns, 0)}};
}
constexpr training::Trainer kSpy{.name = "spy", .upstream_name = "", .description = "", .fit = FitAsSpy};

/// The rows that each fit had, of measurements in which row i has feature i and label 100 + i.
std::vector<Indices> RowsOfFits(const std::vector<training::Fold>& folds, std::vector<uint32_t> groups = {}) {
  Measurements all = Rows({0, 1, 2, 3, 4, 5, 6, 7, 8}, {100, 101, 102, 103, 104, 105, 106, 107, 108});
  all.groups = std::move(groups);
  Fits().clear();
  EXPECT_TRUE(PredictOutOfFold(all, {.trainer = &kSpy, .options = {}}, folds, Silent));
  std::vector<Indices> fits;
  for (const auto& fit : Fits()) {
    Indices& rows = fits.emplace_back();
    for (const auto& [feature, label] : fit) {
      EXPECT_EQ(label, 100 + feature);
      rows.push_back(static_cast<size_t>(feature));
    }
  }
  return fits;
}

TEST(PredictOutOfFold, Fit_HasTheRowsThatTrainAndNoOthers) {
  EXPECT_THAT(RowsOfFits(training::FoldsByLabel(std::vector<int64_t>{0, 1, 2, 0, 1, 2, -1, -1, 0})),
              ElementsAre(Indices{1, 2, 4, 5, 6, 7}, Indices{0, 2, 3, 5, 6, 7, 8}, Indices{0, 1, 3, 4, 6, 7, 8}));
}

TEST(PredictOutOfFold, FoldThatCutsAGroup_TrainsOnNoneOfIt) {
  EXPECT_THAT(
      RowsOfFits({{.train = {2, 3, 4, 5, 6, 7, 8}, .test = {0, 1}}, {.train = {0, 1, 2, 3, 6, 7, 8}, .test = {4, 5}}},
                 {0, 1, 0, 1, 2, 2, 3, 3, 3}),
      ElementsAre(Indices{4, 5, 6, 7, 8}, Indices{0, 1, 2, 3, 6, 7, 8}));
}

/// Whatever a trainer does: limits, scales, and auto's choice among the trainers come of the rows that train.
TEST(PredictOutOfFold, Prediction_DoesNotDependOnWhatIsTested) {
  const Measurements all = Machine(60);
  const training::Fold fold = training::ContiguousBlocks(60, 4)[2];
  Measurements changed = all;
  for (const size_t row : fold.test) {
    changed.labels[0][row] = 1000 + static_cast<double>(row * row);
    if (row != fold.test.front()) changed.rows.values[row * 2] *= 1000;
  }
  for (const char* trainer : {"linear", "knn", "svr", "sgd", "random-forest", "linear-boosting", "auto"}) {
    const auto one = PredictOutOfFold(all, By(trainer), std::vector{fold}, Silent);
    const auto other = PredictOutOfFold(changed, By(trainer), std::vector{fold}, Silent);
    ASSERT_TRUE(one && other) << trainer;
    EXPECT_EQ(one->predictions[0].front(), other->predictions[0].front()) << trainer;
    EXPECT_NE(one->errors[0].mae_watts, other->errors[0].mae_watts) << trainer;
  }
}

TEST(PredictOutOfFold, ModelPerCore_ServesAnotherSize) {
  // 5 W idle and 0.01 W per millisecond, for each CPU: machines of 2, 4 and 8 CPUs.
  Measurements all = Rows({}, {});
  all.features = {"bpf_cpu_time_ms", "frequency_mhz"};
  all.rows.columns = 2;
  for (const double cores : {2, 4, 8})
    for (const double load : {0.0, 0.25, 0.5, 1.0}) {
      all.rows.values.insert(all.rows.values.end(), {load * cores * 1000, 3000});
      all.labels[0].push_back(cores * (5 + 10 * load));
      all.cores.push_back(cores);
      all.groups.push_back(static_cast<uint32_t>(cores / 3));
    }
  Recipe recipe = By("linear");
  const auto folds = training::FoldsByGroup(all.groups, 3);
  const auto machine = PredictOutOfFold(all, recipe, folds, Silent);
  recipe.per = model::Per::kCore;
  const auto core = PredictOutOfFold(all, recipe, folds, Silent);
  ASSERT_TRUE(machine && core);
  EXPECT_LT(core->errors[0].mae_watts, 0.01);
  EXPECT_GT(machine->errors[0].mae_watts, 1);
  const auto fit = FitModel(all, recipe, Indices{0, 1, 2, 3});
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->model.per, model::Per::kCore);
  EXPECT_EQ(fit->model.domain[0].max, 1000);
  EXPECT_EQ(fit->model.domain[1].max, 3000) << "an attribute is not divided";
  EXPECT_EQ(fit->model.components[0].label.max, 15);
}

TEST(ErrorsByMachine, AreThoseOfItsTestedRows) {
  Measurements all = Rows({1, 2, 3, 4}, {10, 20, 30, 40});
  all.groups = {0, 1, 0, 2};
  auto table = training::Table::ReadCsv("node\na\nb\na\nc\n");
  const DataFile data{.path = "node.csv", .sha256 = {}, .table = *std::move(table)};
  const OutOfFold judged{.rows = {0, 1, 2}, .predictions = {{11, 20, 33}}, .errors = {}, .of_mean = {}};
  const auto got = ErrorsByMachine(data, "node", all, judged);
  ASSERT_TRUE(got);
  ASSERT_THAT(*got, SizeIs(2)) << "no row of c was tested";
  EXPECT_EQ((*got)[0].name, "a");
  EXPECT_EQ((*got)[0].errors[0].rows, 2u);
  EXPECT_EQ((*got)[0].errors[0].mae_watts, 2);
  EXPECT_EQ((*got)[1].errors[0].mae_watts, 0);
}

TEST(PredictOutOfFold, RowsThatWereTested_HaveTheirPredictionsInOrder) {
  // Each row has a twin in another fold; the nearest neighbour finds it.
  const Measurements all = Rows({1, 2, 3, 3, 1, 2, 4}, {10, 20, 30, 30, 10, 20, 40});
  Recipe nearest = By("knn");
  nearest.options.parameters["k"] = 1;
  Indices reported;
  const auto got = PredictOutOfFold(all, nearest, training::FoldsByLabel(std::vector<int64_t>{1, 0, 1, 0, 0, 1, -1}),
                                    [&](size_t fold) { reported.push_back(fold); });
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_THAT(got->rows, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(got->predictions, ElementsAre(ElementsAre(10, 20, 30, 30, 10, 20)));
  EXPECT_EQ(got->errors[0].rows, 6u);
  EXPECT_EQ(got->errors[0].mae_watts, 0);
  EXPECT_THAT(reported, ElementsAre(0, 1));
}

TEST(PredictOutOfFold, Mean_IsThatOfTheRowsThatTrain) {
  const auto got =
      PredictOutOfFold(Rows({1, 2, 3, 4}, {10, 20, 30, 60}), By("linear"), training::ContiguousBlocks(4, 2), Silent);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_THAT(got->of_mean[0].mae_watts, DoubleEq((35 + 25 + 15 + 45) / 4.0));
}

TEST(PredictOutOfFold, Targets_HaveTheirsInTheirOrder) {
  Measurements all = Rows({1, 2, 3, 4}, {1, 2, 3, 4});
  all.targets = {{.column = "dram_power", .component = Component::kDram},
                 {.column = "package_power", .component = Component::kPackage}};
  all.labels.push_back({110, 120, 130, 140});
  const auto got =
      PredictOutOfFold(all, By("linear"), training::FoldsByLabel(std::vector<int64_t>{-1, 0, 0, -1}), Silent);
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_THAT(got->predictions, SizeIs(2));
  EXPECT_NEAR(got->predictions[0][0], 2, 1e-6);
  EXPECT_NEAR(got->predictions[1][1], 130, 1e-6);
  EXPECT_LT(got->errors[1].mae_watts, 1e-6);
}

TEST(PredictOutOfFold, Seed_DecidesAlone) {
  const Measurements all = Machine(30);
  const auto folds = training::ContiguousBlocks(30, 2);
  const auto predicted = [&](const Recipe& recipe) {
    const auto got = PredictOutOfFold(all, recipe, folds, Silent);
    EXPECT_TRUE(got);
    return got ? got->predictions : std::vector<std::vector<double>>();
  };
  EXPECT_EQ(predicted(By("random-forest", 1)), predicted(By("random-forest", 1)));
  EXPECT_NE(predicted(By("random-forest", 1)), predicted(By("random-forest", 2)));
  EXPECT_EQ(predicted(By("auto", 1)), predicted(By("auto", 1)));
}

TEST(PredictOutOfFold, TooFewRowsToTrainOn_SaysWhichFold) {
  const auto got = PredictOutOfFold(Rows({1, 2, 3}, {1, 2, 3}), By("linear"), training::ContiguousBlocks(3, 2), Silent);
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message, HasSubstr("fold 1 of 2 leaves 1 rows to train on"));
}

TEST(FitModel, SaysWhatItWasTrainedOn_AndOnlyThat) {
  const auto fit =
      FitModel(Rows({1, 2, 3, 40}, {10, 20, 31, 900}),
               {.trainer = training::FindTrainer("linear"), .options = {}, .output = model::OutputType::kDynPower},
               Indices{2, 1, 0});
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_EQ(fit->model.output, model::OutputType::kDynPower);
  EXPECT_THAT(fit->model.features, ElementsAre("cpu_cycles"));
  EXPECT_THAT(fit->model.domain, ElementsAre(model::Range{1, 3}));
  ASSERT_THAT(fit->model.components, SizeIs(1));
  EXPECT_EQ(fit->model.components[0].label, (model::Range{10, 31}));
  EXPECT_EQ(fit->model.components[0].trainer, "linear");
}

TEST(FitModel, EqualLabels_AreAConstant) {
  const Measurements all = Rows({1, 2, 3}, {7, 7, 7});
  const auto fit = FitModel(all, By("random-forest"), Indices{0, 1});
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_EQ(fit->model.components[0].trainer, "constant");
  EXPECT_THAT(PredictRows(fit->model, all.rows, all.targets, Indices{2}, {}), ElementsAre(ElementsAre(7)));
}

TEST(FitModel, WhatCannotBeFitted_NamesItsColumn) {
  Recipe recipe = By("linear");
  recipe.options.parameters["trees"] = 5;
  const auto fit = FitModel(Rows({1, 2, 3}, {1, 2, 4}), recipe, Indices{0, 1, 2});
  ASSERT_FALSE(fit);
  EXPECT_THAT(fit.error().message, HasSubstr("column 'package_power': "));
}

}  // namespace
}  // namespace kepler::lab::judging
