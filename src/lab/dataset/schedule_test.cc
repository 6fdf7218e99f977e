#include "lab/dataset/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace kepler::lab::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Phase> Parsed(std::string_view text, unsigned cpus = 6) {
  const auto phases = ParseSchedule(text, cpus);
  EXPECT_TRUE(phases) << phases.error().message;
  return phases.value_or(std::vector<Phase>());
}
std::string ErrorOfSchedule(std::string_view text) {
  const auto phases = ParseSchedule(text, 6);
  return phases ? "no error" : phases.error().message;
}

TEST(Schedule, Items) {
  EXPECT_THAT(Parsed("cpu"),
              ElementsAre(Phase{"idle", 0}, Phase{"cpu", 1}, Phase{"cpu", 2}, Phase{"cpu", 4}, Phase{"cpu", 6}));
  EXPECT_THAT(Parsed("idle, cpu:3+max,,idle"),
              ElementsAre(Phase{"idle", 0}, Phase{"cpu", 3}, Phase{"cpu", 6}, Phase{"idle", 0}));
  EXPECT_THAT(Parsed("cpu", 1), ElementsAre(Phase{"idle", 0}, Phase{"cpu", 1}));
  EXPECT_GT(Parsed("default").size(), 30U);
}

TEST(Schedule, Default_IsAnItemAmongOthers) {
  std::vector<Phase> expected = Parsed("default");
  expected.push_back({"cpu", 5});
  EXPECT_EQ(Parsed("default,cpu:5"), expected);
  EXPECT_THAT(ErrorOfSchedule("default:2"), HasSubstr("'default:2' has instances"));
}

TEST(Schedule, NumberThatStandsTwice_IsOnePhase) {
  EXPECT_THAT(Parsed("cpu:1+1+1"), ElementsAre(Phase{"idle", 0}, Phase{"cpu", 1}));
  EXPECT_THAT(Parsed("cpu:max+2+6"), ElementsAre(Phase{"idle", 0}, Phase{"cpu", 6}, Phase{"cpu", 2}));
}

TEST(Schedule, Instances_AreBoundedByTheProcessors) {
  EXPECT_THAT(Parsed("cpu:24", 6), ElementsAre(Phase{"idle", 0}, Phase{"cpu", 24}));
  EXPECT_EQ(ErrorOfSchedule("idle,cpu:1+25"), "'cpu:1+25' has 25 instances; the maximum is 24, 4 for each of 6 CPUs");
  EXPECT_THAT(ErrorOfSchedule("cpu:4294967295"), HasSubstr("the maximum is 24"));
  EXPECT_THAT(ErrorOfSchedule("cpu:4294967296"), HasSubstr("is not STRESSOR:NUMBER"));
}

TEST(Schedule, WrongItems_AreNamed) {
  for (const std::string_view text :
       {"", ",", "cpu:", "cpu:0", "cpu:-1", "cpu:1+", "cpu:x", "idle:2", "-cpu", "c p", "cpu;ls", "../x"})
    EXPECT_NE(ErrorOfSchedule(text), "no error") << text;
  EXPECT_THAT(ErrorOfSchedule("cpu,vm:two"), HasSubstr("'vm:two'"));
}

TEST(Schedule, Shuffled_IsTheSameForASeed) {
  const std::vector<Phase> plain = Parsed("default");
  std::vector<Phase> one = plain, again = plain, other = plain, none = plain;
  Shuffle(one, 1);
  Shuffle(again, 1);
  Shuffle(other, 2);
  Shuffle(none, 0);
  EXPECT_EQ(one, again);
  EXPECT_NE(one, other);
  EXPECT_NE(one, plain);
  EXPECT_EQ(none, plain);
  EXPECT_EQ(one.front().stressor, "idle");
  EXPECT_TRUE(std::ranges::is_permutation(one, plain));
}

TEST(KeepRowsInPhases, RowsAcrossAChange_Go) {
  Extraction out;
  for (int i = 0; i < 10; ++i) out.rows.push_back({.begin = i * 5.0, .end = i * 5.0 + 5});
  const std::vector<Lasted> lasted = {{{"idle", 0}, 0, 12}, {{"cpu", 2}, 19, 30}};
  EXPECT_THAT(KeepRowsInPhases(out, lasted), ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(out.rows[2].begin, 20);
}

}  // namespace
}  // namespace kepler::lab::dataset
