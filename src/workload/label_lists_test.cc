#include "workload/label_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::workload {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using Labels = std::vector<std::pair<std::string, std::string>>;

TEST(LabelLists, NamesAndValues_AreWhatAPageCanShow) {
  LabelLists lists;
  const auto list = lists.Intern(Labels{{"tier", "caf\xC3"}, {"app.kubernetes.io/name", "web\x01"}});
  EXPECT_THAT(*list, ElementsAre(Pair("label_app_kubernetes_io_name", "web\xEF\xBF\xBD"),
                                 Pair("label_tier", "caf\xEF\xBF\xBD")));
}

TEST(LabelLists, SameLabelsInAnyOrder_AreOneObjectWhileSomebodyHoldsIt) {
  LabelLists lists;
  const auto list = lists.Intern(Labels{{"a", "1"}, {"b", "2"}});
  EXPECT_EQ(lists.Intern(Labels{{"b", "2"}, {"a", "1"}}), list);
  EXPECT_NE(lists.Intern(Labels{{"a", "1"}, {"b", "3"}}), list);
}

TEST(LabelLists, TwoNamesThatBecomeOne_TheFirstStays) {
  LabelLists lists;
  EXPECT_THAT(*lists.Intern(Labels{{"a/b", "second"}, {"a.b", "first"}}), ElementsAre(Pair("label_a_b", "first")));
}

TEST(LabelLists, LabelAndAnnotationOfOneName_AreTwo) {
  LabelLists lists;
  const auto list = lists.Intern(Labels{{"team", "a"}}, Labels{{"team", "b"}, {"example.com/owner", "c"}});
  EXPECT_THAT(*list, ElementsAre(Pair("annotation_example_com_owner", "c"), Pair("annotation_team", "b"),
                                 Pair("label_team", "a")));
  EXPECT_NE(lists.Intern(Labels{{"team", "a"}}), list);
}

TEST(LabelLists, None_IsAnEmptyList) { EXPECT_TRUE(LabelLists().Intern({})->empty()); }

TEST(LabelLists, MoreThanThereIsRoomFor_AreLeftOut) {
  LabelLists lists;
  Labels many;
  for (size_t i = 0; i < LabelLists::kMaxEach + 5; ++i) many.emplace_back("n" + std::to_string(100 + i), "v");
  EXPECT_EQ(lists.Intern(many)->size(), LabelLists::kMaxEach);
  EXPECT_EQ(lists.Intern(many, many)->size(), 2 * LabelLists::kMaxEach);
  const auto long_one = lists.Intern(Labels{{std::string(5000, 'n'), std::string(5000, 'v')}});
  EXPECT_LE(long_one->front().first.size(), 255U);
  EXPECT_LE(long_one->front().second.size(), 255U);
}

/// What `count` distinct lists cost, all of them held.
uint64_t VisitedBy(int count) {
  LabelLists lists;
  std::vector<std::shared_ptr<const snapshot::LabelList>> held;
  for (int i = 0; i < count; ++i) held.push_back(lists.Intern(Labels{{"name", std::to_string(i)}}));
  return lists.visited();
}

TEST(LabelLists, CostOfDistinctLists_IsLinear) {
  const uint64_t half = VisitedBy(10'000);
  EXPECT_LE(VisitedBy(20'000), 2 * half + 64);
  EXPECT_LE(half, 2u * 10'000);
}

TEST(LabelLists, ListsThatNobodyHolds_AreForgotten) {
  LabelLists lists;
  for (int i = 0; i < 10'000; ++i) static_cast<void>(lists.Intern(Labels{{"name", std::to_string(i)}}));
  EXPECT_LE(lists.size(), 100u);
  EXPECT_LE(lists.visited(), 2u * 10'000);
}

}  // namespace
}  // namespace kepler::workload
