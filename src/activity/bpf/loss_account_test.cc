#include "activity/bpf/loss_account.h"

#include <gtest/gtest.h>

namespace kepler::activity::bpf {
namespace {

TEST(LossAccount, NothingDropped_NothingLost) {
  LossAccount losses;
  EXPECT_EQ(losses.Update(0, 0, 0, 0, Nanoseconds(0)), Nanoseconds(0));
}

TEST(LossAccount, ProcessThatNoLookHasShown_IsLostWhole) {
  LossAccount losses;
  EXPECT_EQ(losses.Update(500, 0, 0, 0, Nanoseconds(0)), Nanoseconds(500));
  EXPECT_EQ(losses.Update(500, 0, 0, 0, Nanoseconds(0)), Nanoseconds(0));
  EXPECT_EQ(losses.Update(700, 0, 0, 0, Nanoseconds(0)), Nanoseconds(200));
}

TEST(LossAccount, KnownProcess_LosesOnlyWhatItHadNotBeenGiven) {
  LossAccount losses;
  EXPECT_EQ(losses.Update(0, 10'000, 1, 0, Nanoseconds(0)), Nanoseconds(0)) << "the table still waits";
  EXPECT_EQ(losses.Update(0, 10'000, 1, 1, Nanoseconds(9'900)), Nanoseconds(100));
  EXPECT_EQ(losses.Update(0, 10'000, 1, 1, Nanoseconds(9'900)), Nanoseconds(0));
}

TEST(LossAccount, GivenUpWithoutADrop_LosesNothing) {
  LossAccount losses;
  EXPECT_EQ(losses.Update(0, 0, 0, 1, Nanoseconds(9'900)), Nanoseconds(0));
}

}  // namespace
}  // namespace kepler::activity::bpf
