#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/hwmon/chip_rules.h"

namespace kepler::energy::hwmon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<Channel> Indices(std::initializer_list<int> indices) {
  std::vector<Channel> channels;
  for (const int index : indices) channels.push_back({index, ""});
  return channels;
}

TEST(PairChannels, EqualLabels_WinOverTheRule) {
  const std::vector<Channel> voltages = {{1, "cpu"}, {2, "gpu"}};
  const std::vector<Channel> currents = {{3, "gpu"}, {4, "cpu"}};
  const ChipRule rule{"x", {{1, 3}}, {}, {}, false};
  EXPECT_THAT(PairChannels(voltages, currents, &rule), ElementsAre(Pair(1, 4), Pair(2, 3)));
}

TEST(PairChannels, TwoVoltagesOfOneLabel_DoNotCountACurrentTwice) {
  const std::vector<Channel> voltages = {{1, "cpu"}, {2, "cpu"}};
  const std::vector<Channel> currents = {{1, "cpu"}};
  EXPECT_THAT(PairChannels(voltages, currents, nullptr), ElementsAre(Pair(1, 1)));
}

TEST(PairChannels, ExplicitRule_PairsAsItSays) {
  const ChipRule rule{"ltc2992", {{0, 1}, {2, 2}, {9, 9}}, {1, 3, 4, 5}, {}, false};
  EXPECT_THAT(PairChannels(Indices({0, 1, 2, 3, 4, 5}), Indices({1, 2}), &rule), ElementsAre(Pair(0, 1), Pair(2, 2)));
}

TEST(PairChannels, SameIndexRule_HonoursItsSkipLists) {
  const ChipRule rule{"max34440", {}, {2}, {7, 8}, true};
  EXPECT_THAT(PairChannels(Indices({1, 2, 3, 7, 8}), Indices({1, 2, 3, 7, 8}), &rule),
              ElementsAre(Pair(1, 1), Pair(3, 3)));
}

TEST(PairChannels, RuleGivesNothing_FallbackByIndexStillHonoursItsSkipLists) {
  const ChipRule rule{"ina233", {{5, 5}}, {2}, {}, false};
  EXPECT_THAT(PairChannels(Indices({1, 2}), Indices({1, 2}), &rule), ElementsAre(Pair(1, 1)));
}

TEST(PairChannels, ExplicitPairThatIsSkipped_IsNotUsed) {
  const ChipRule rule{"x", {{1, 1}, {2, 2}}, {}, {2}, false};
  EXPECT_THAT(PairChannels(Indices({1, 2}), Indices({1, 2}), &rule), ElementsAre(Pair(1, 1)));
}

TEST(PairChannels, NoRule_PairsEqualIndices) {
  EXPECT_THAT(PairChannels(Indices({0, 1, 2}), Indices({1, 3}), nullptr), ElementsAre(Pair(1, 1)));
  EXPECT_THAT(PairChannels(Indices({0}), Indices({1}), nullptr), IsEmpty());
  EXPECT_THAT(PairChannels({}, {}, nullptr), IsEmpty());
}

}  // namespace
}  // namespace kepler::energy::hwmon
