// What model::WriteXgboostJson() writes, in the library itself.
#include <gtest/gtest.h>
#include <xgboost/c_api.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "model/xgboost_json.h"

namespace kepler::lab::training {
namespace {

constexpr size_t kColumns = 3;

std::vector<float> LibraryWatts(const std::string& file, const std::vector<float>& rows) {
  BoosterHandle booster = nullptr;
  DMatrixHandle matrix = nullptr;
  EXPECT_EQ(XGBoosterCreate(nullptr, 0, &booster), 0);
  EXPECT_EQ(XGBoosterLoadModelFromBuffer(booster, file.data(), file.size()), 0) << XGBGetLastError();
  EXPECT_EQ(XGDMatrixCreateFromMat_omp(rows.data(), rows.size() / kColumns, kColumns,
                                       std::numeric_limits<float>::quiet_NaN(), &matrix, 1),
            0);
  bst_ulong count = 0;
  const float* watts = nullptr;
  EXPECT_EQ(XGBoosterPredict(booster, matrix, 0, 0, 0, &count, &watts), 0) << XGBGetLastError();
  std::vector<float> copy(watts, watts + count);
  XGDMatrixFree(matrix);
  XGBoosterFree(booster);
  return copy;
}

/// A blend of two trees with limits and scales.
model::PowerModel BlendOfTrees() {
  const model::Trees trees{.base = 20,
                           .roots = {0, 3},
                           .nodes = {{.value = 0.5F, .left = 1, .right = 2, .feature = 1, .missing_left = true},
                                     {.value = 3},
                                     {.value = 7},
                                     {.value = 2, .left = 4, .right = 5, .feature = 0},
                                     {.value = -1},
                                     {.value = 40, .left = 6, .right = 7, .feature = 2},
                                     {.value = 11},
                                     {.value = 17}}};
  const model::Predictor scaled{.limits = {{0, 50}, {0, 0.25}, {0, 90}}, .scale = {10, 1, 2}, .formula = trees};
  const model::Predictor plain{.limits = {}, .scale = {}, .formula = trees};
  model::PowerModel model;
  model.features = {"a", "b", "c"};
  auto& component = model.components.emplace_back();
  component.predictor.formula = model::Blend{.weights = {0.25, 0.75}, .parts = {scaled, plain}};
  return model;
}

TEST(XgboostFile, TheLibraryPredictsTheSame) {
  const model::PowerModel model = BlendOfTrees();
  const auto file = model::WriteXgboostJson(model, model.components[0]);
  ASSERT_TRUE(file) << file.error().message;
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<float> rows;
  for (int i = 0; i < 2000; ++i)
    for (const float most : {60.0F, 1.0F, 120.0F})
      rows.push_back(uniform(random) < 0.1F ? std::numeric_limits<float>::quiet_NaN() : most * uniform(random));
  const auto theirs = LibraryWatts(*file, rows);
  ASSERT_EQ(theirs.size(), 2000U);
  for (size_t i = 0; i < theirs.size(); ++i) {
    const std::vector<double> row(rows.begin() + static_cast<std::ptrdiff_t>(i * kColumns),
                                  rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * kColumns));
    ASSERT_NEAR(Predict(model.components[0].predictor, row), static_cast<double>(theirs[i]), 1e-5) << i;
  }
}

}  // namespace
}  // namespace kepler::lab::training
