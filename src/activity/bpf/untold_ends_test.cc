#include "activity/bpf/untold_ends.h"

#include <gtest/gtest.h>

namespace kepler::activity::bpf {
namespace {

TEST(UntoldEnds, EveryEndTold_None) {
  UntoldEnds untold;
  EXPECT_EQ(untold.Update(1000, 50, 7), 0U);
  EXPECT_EQ(untold.Update(1100, 50, 107), 0U);
  EXPECT_EQ(untold.Update(1110, 60, 107), 0U);
  EXPECT_EQ(untold.Update(1110, 60, 107), 0U);
}

TEST(UntoldEnds, LateRecords_AreNotMissed) {
  UntoldEnds untold;
  untold.Update(1000, 50, 0);
  EXPECT_EQ(untold.Update(1100, 50, 70), 0U) << "30 are on their way";
  EXPECT_EQ(untold.Update(1200, 50, 170), 0U);
  EXPECT_EQ(untold.Update(1200, 50, 200), 0U);
}

TEST(UntoldEnds, EndsWithoutARecord_AreCountedOnceItIsQuiet) {
  UntoldEnds untold;
  untold.Update(1000, 50, 0);
  untold.Update(1100, 50, 97);
  EXPECT_EQ(untold.Update(1100, 50, 97), 3U);
  EXPECT_EQ(untold.Update(1200, 50, 197), 3U);
  EXPECT_EQ(untold.Update(1200, 50, 197), 3U);
}

TEST(UntoldEnds, EndsThatLaterOnesHide_AreSuspected) {
  UntoldEnds untold;
  untold.Update(1000, 50, 0);
  untold.Update(1100, 50, 97);
  EXPECT_EQ(untold.Update(197), 0U) << "a hundred more have ended since";
  EXPECT_EQ(untold.Suspect(97), 3U);
  untold.Update(1200, 50, 197);
  EXPECT_EQ(untold.Suspect(197), 3U) << "no more than before";
  untold.Update(1300, 50, 296);
  EXPECT_EQ(untold.Suspect(296), 4U);
}

TEST(UntoldEnds, WhatEndedBeforeTheFirstLook_DoesNotCount) {
  UntoldEnds untold;
  untold.Update(1000, 50, 0);
  EXPECT_EQ(untold.Update(1000, 50, 5), 0U) << "records of earlier ends come late";
  EXPECT_EQ(untold.Update(1000, 50, 5), 0U);
}

}  // namespace
}  // namespace kepler::activity::bpf
