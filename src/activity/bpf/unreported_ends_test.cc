#include "activity/bpf/unreported_ends.h"

#include <gtest/gtest.h>

namespace kepler::activity::bpf {
namespace {

TEST(UnreportedEnds, EveryEndReported_None) {
  UnreportedEnds unreported;
  EXPECT_EQ(unreported.Update(1000, 50, 7), 0U);
  EXPECT_EQ(unreported.Update(1100, 50, 107), 0U);
  EXPECT_EQ(unreported.Update(1110, 60, 107), 0U);
  EXPECT_EQ(unreported.Update(1110, 60, 107), 0U);
}

TEST(UnreportedEnds, LateRecords_AreNotMissed) {
  UnreportedEnds unreported;
  unreported.Update(1000, 50, 0);
  EXPECT_EQ(unreported.Update(1100, 50, 70), 0U) << "30 are on their way";
  EXPECT_EQ(unreported.Update(1200, 50, 170), 0U);
  EXPECT_EQ(unreported.Update(1200, 50, 200), 0U);
}

TEST(UnreportedEnds, EndsWithoutARecord_AreCountedOnceItIsQuiet) {
  UnreportedEnds unreported;
  unreported.Update(1000, 50, 0);
  unreported.Update(1100, 50, 97);
  EXPECT_EQ(unreported.Update(1100, 50, 97), 3U);
  EXPECT_EQ(unreported.Update(1200, 50, 197), 3U);
  EXPECT_EQ(unreported.Update(1200, 50, 197), 3U);
}

TEST(UnreportedEnds, EndsThatLaterOnesHide_AreSuspected) {
  UnreportedEnds unreported;
  unreported.Update(1000, 50, 0);
  unreported.Update(1100, 50, 97);
  EXPECT_EQ(unreported.Update(197), 0U) << "a hundred more have ended since";
  EXPECT_EQ(unreported.Suspect(97), 3U);
  unreported.Update(1200, 50, 197);
  EXPECT_EQ(unreported.Suspect(197), 3U) << "no more than before";
  unreported.Update(1300, 50, 296);
  EXPECT_EQ(unreported.Suspect(296), 4U);
}

TEST(UnreportedEnds, WhatEndedBeforeTheFirstScan_DoesNotCount) {
  UnreportedEnds unreported;
  unreported.Update(1000, 50, 0);
  EXPECT_EQ(unreported.Update(1000, 50, 5), 0U) << "records of earlier ends come late";
  EXPECT_EQ(unreported.Update(1000, 50, 5), 0U);
}

}  // namespace
}  // namespace kepler::activity::bpf
