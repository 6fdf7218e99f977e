#include "lab/training/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace kepler::lab::training {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(FoldsByLabel, RowsOfALabelAreTheTestAndNegativeOnesOnlyTrain) {
  const int64_t labels[] = {-1, 3, 0, 3, -1};
  const auto folds = FoldsByLabel(labels);
  ASSERT_THAT(folds, SizeIs(2));
  EXPECT_THAT(folds[0].test, ElementsAre(2));
  EXPECT_THAT(folds[0].train, ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(folds[1].test, ElementsAre(1, 3));
  EXPECT_THAT(folds[1].train, ElementsAre(0, 2, 4));
}

TEST(FoldsByLabel, NoTestAtAll) {
  const int64_t labels[] = {-1, -1};
  EXPECT_THAT(FoldsByLabel(labels), IsEmpty());
  EXPECT_THAT(FoldsByLabel({}), IsEmpty());
}

TEST(InterleavedParts, EachPartHasRowsOfTheWholeTable) {
  for (const size_t rows : {10u, 60u, 101u, 170u}) {
    const auto folds = InterleavedParts(rows, 5);
    ASSERT_THAT(folds, SizeIs(5)) << rows;
    size_t tested = 0;
    for (const Fold& fold : folds) {
      tested += fold.test.size();
      EXPECT_EQ(fold.train.size() + fold.test.size(), rows);
      EXPECT_LT(fold.test.front(), rows / 2) << rows;
      EXPECT_GE(fold.test.back(), rows / 2) << rows;
    }
    EXPECT_EQ(tested, rows);
  }
  EXPECT_THAT(InterleavedParts(2, 5), SizeIs(2));
  EXPECT_THAT(InterleavedParts(0, 5), IsEmpty());
}

TEST(IsSorted, UpOrDown_WithNoise_ButNotInTimeOrConstant) {
  std::vector<double> up;
  std::vector<double> waves;
  for (int i = 0; i < 100; ++i) {
    up.push_back(i + (i * 37) % 11);
    waves.push_back((i * 37) % 50);
  }
  EXPECT_TRUE(IsSorted(up));
  EXPECT_TRUE(IsSorted(std::vector<double>(up.rbegin(), up.rend())));
  EXPECT_FALSE(IsSorted(waves));
  EXPECT_FALSE(IsSorted(std::vector<double>(100, 5)));  // equal values have no order
  EXPECT_FALSE(IsSorted({}));
}

TEST(ContiguousBlocks, FewerRowsThanBlocks) {
  const auto folds = ContiguousBlocks(3, 5);
  ASSERT_THAT(folds, SizeIs(3));
  EXPECT_THAT(folds[1].test, ElementsAre(1));
  EXPECT_THAT(ContiguousBlocks(0, 5), IsEmpty());
}

RC_GTEST_PROP(ContiguousBlocks, EveryRowIsTestedOnceInBlocksOfNearlyOneSize, ()) {
  const auto rows = *rc::gen::inRange<size_t>(1, 500);
  const auto count = *rc::gen::inRange<size_t>(1, 12);
  size_t next = 0;
  for (const Fold& fold : ContiguousBlocks(rows, count)) {
    for (const size_t row : fold.test) RC_ASSERT(row == next++);
    RC_ASSERT(fold.test.size() >= rows / std::min(rows, count));
    RC_ASSERT(fold.test.size() <= rows / std::min(rows, count) + 1);
    RC_ASSERT(fold.train.size() + fold.test.size() == rows);
  }
  RC_ASSERT(next == rows);
}

RC_GTEST_PROP(FoldsByGroup, NoGroupIsOnBothSidesAndEveryRowIsTestedOnce, ()) {
  const auto groups = *rc::gen::nonEmpty(rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange<uint32_t>(0, 20)));
  const auto folds = FoldsByGroup(groups, 5);
  RC_ASSERT(folds.size() == std::min<size_t>(5, std::set(groups.begin(), groups.end()).size()));
  size_t tested = 0;
  for (const Fold& fold : folds) {
    std::set<uint32_t> trained;
    for (const size_t row : fold.train) trained.insert(groups[row]);
    for (const size_t row : fold.test) RC_ASSERT(!trained.contains(groups[row]));
    tested += fold.test.size();
  }
  RC_ASSERT(tested == groups.size());
}

TEST(FoldsByGroup, FoldsAreOfNearlyOneSize) {
  const uint32_t groups[] = {7, 7, 7, 7, 1, 1, 2, 2};
  const auto folds = FoldsByGroup(groups, 2);
  ASSERT_THAT(folds, SizeIs(2));
  EXPECT_THAT(folds[0].test, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(folds[1].test, ElementsAre(4, 5, 6, 7));
}

}  // namespace
}  // namespace kepler::lab::training
