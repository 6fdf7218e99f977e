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

TEST(UnreportedEnds, DelayedRecords_AreNotMissed) {
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

/// A scan in which nothing ends or is made between what is read before its pass and after it.
uint64_t QuietScan(UnreportedEnds& unreported, uint64_t made, uint64_t living, uint64_t ended) {
  unreported.Update(ended);
  return unreported.Update(made, living, ended);
}

TEST(UnreportedEnds, DelayedRecordsOfEarlierEnds_HideNothingForGood) {
  UnreportedEnds unreported;
  QuietScan(unreported, 1000, 50, 0);
  for (int scan = 0; scan < 3; ++scan) EXPECT_EQ(QuietScan(unreported, 1000, 50, 5), 0U) << "five had ended before";
  QuietScan(unreported, 1100, 50, 103);
  EXPECT_EQ(QuietScan(unreported, 1100, 50, 103), 2U);
}

TEST(UnreportedEnds, DelayedRecordsOfEarlierEnds_ComeInParts) {
  UnreportedEnds unreported;
  QuietScan(unreported, 1000, 50, 0);
  for (const uint64_t ended : {5U, 5U, 8U, 8U, 8U, 8U}) EXPECT_EQ(QuietScan(unreported, 1000, 50, ended), 0U);
  QuietScan(unreported, 1100, 50, 106);
  EXPECT_EQ(QuietScan(unreported, 1100, 50, 106), 2U);
}

TEST(UnreportedEnds, TasksMadeDuringAPass_AreNoDelayedRecords) {
  UnreportedEnds unreported;
  QuietScan(unreported, 1000, 50, 0);
  QuietScan(unreported, 1000, 114, 0);
  QuietScan(unreported, 1064, 178, 0);
  QuietScan(unreported, 1128, 178, 0);
  QuietScan(unreported, 1128, 50, 128);
  EXPECT_EQ(QuietScan(unreported, 1128, 50, 128), 0U);
}

TEST(UnreportedEnds, TasksThatEndDuringAPass_AreNoDelayedRecords) {
  UnreportedEnds unreported;
  QuietScan(unreported, 1000, 50, 0);
  for (uint64_t scan = 1; scan <= 3; ++scan) {
    unreported.Update((scan - 1) * 10);
    EXPECT_EQ(unreported.Update(1000 + scan * 10, 60, scan * 10), 0U) << "seen by the pass, reported behind it";
  }
  EXPECT_EQ(QuietScan(unreported, 1030, 50, 30), 0U);
  EXPECT_EQ(QuietScan(unreported, 1030, 50, 30), 0U);
}

}  // namespace
}  // namespace kepler::activity::bpf
