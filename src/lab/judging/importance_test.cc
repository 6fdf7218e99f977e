#include "lab/judging/importance.h"

#include <gtest/gtest.h>

#include <vector>

namespace kepler::lab::judging {
namespace {

const Target kTarget{.column = "package_power", .component = model::Component::kPackage};

/// 20 W + 3 W x the second feature + 1 W x the first; the third has no effect.
model::PowerModel Known() {
  model::PowerModel model;
  model.features = {"a", "b", "c"};
  model.components.push_back({.component = model::Component::kPackage,
                              .trainer = "linear",
                              .predictor = {.limits = {}, .scale = {}, .formula = model::Linear{20, {1, 3, 0}}},
                              .label = {.min = 0, .max = 100},
                              .accuracy = {},
                              .unseen = {}});
  return model;
}

struct MeasuredRows {
  training::Matrix features{.columns = 3, .values = {}};
  std::vector<double> watts;
  std::vector<size_t> all;
};

MeasuredRows Measured(size_t count) {
  MeasuredRows rows;
  for (size_t i = 0; i < count; ++i) {
    const auto a = static_cast<double>(i % 7), b = static_cast<double>(i * 5 % 11);
    rows.features.values.insert(rows.features.values.end(), {a, b, static_cast<double>(i)});
    rows.watts.push_back(20 + a + 3 * b);
    rows.all.push_back(i);
  }
  return rows;
}

TEST(Importance, OfALinearModel_IsTheMeanDifferenceTimesTheWeight) {
  const MeasuredRows rows = Measured(770);
  const auto found = ImportanceOf(Known(), rows.features, kTarget, rows.watts, rows.all, {});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].feature, "b");
  EXPECT_NEAR(found[0].watts, 3 * 120.0 / 33, 0.6);  // mean |i - j| of 0 to 10 is (n²−1)/3n, n = 11
  EXPECT_EQ(found[1].feature, "a");
  EXPECT_NEAR(found[1].watts, 48.0 / 21, 0.3);
  EXPECT_EQ(found[2].feature, "c");
  EXPECT_EQ(found[2].watts, 0);
}

TEST(Importance, SameRows_GiveTheSame) {
  const MeasuredRows rows = Measured(50);
  const auto one = ImportanceOf(Known(), rows.features, kTarget, rows.watts, rows.all, {});
  const auto two = ImportanceOf(Known(), rows.features, kTarget, rows.watts, rows.all, {});
  for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].watts, two[i].watts);
}

TEST(Importance, OfMoreRowsThanAreRead_IsAboutTheSame) {
  const MeasuredRows many = Measured(3 * kMaxImportanceRows + 1);
  const auto found = ImportanceOf(Known(), many.features, kTarget, many.watts, many.all, {});
  EXPECT_NEAR(found[0].watts, 3 * 120.0 / 33, 0.6);
}

TEST(Importance, OfOnlyTheGivenRows) {
  MeasuredRows rows = Measured(100);
  rows.all = {7};  // a single row has nothing to be exchanged with
  for (const Importance& of : ImportanceOf(Known(), rows.features, kTarget, rows.watts, rows.all, {}))
    EXPECT_EQ(of.watts, 0) << of.feature;
}

}  // namespace
}  // namespace kepler::lab::judging
