#include "workload/hypervisor/machine_search.h"

#include <gtest/gtest.h>

namespace kepler::workload::hypervisor {
namespace {

using std::chrono::milliseconds;

TEST(MachineSearch, IsDueAtTheFirstLookAndWheneverTheTimeDoubled) {
  MachineSearch search;
  search.Use(milliseconds(99));
  EXPECT_FALSE(search.IsDue());
  search.Use(milliseconds(1));
  EXPECT_TRUE(search.IsDue());
  search.Found(Holds::kNo);
  search.Use(milliseconds(99));
  EXPECT_FALSE(search.IsDue());
  search.Use(milliseconds(1));
  EXPECT_TRUE(search.IsDue());
  search.Use(milliseconds(700));  // 900 ms: one look serves for those at 200, 400 and 800 ms
  search.Found(Holds::kNo);
  EXPECT_FALSE(search.IsDue());
  search.Use(milliseconds(700));
  EXPECT_TRUE(search.IsDue());
}

TEST(MachineSearch, NoResult_StaysDue) {
  MachineSearch search;
  search.Use(milliseconds(100));
  search.Found(Holds::kNotNow);
  EXPECT_TRUE(search.IsDue());
  EXPECT_FALSE(search.holds());
}

TEST(MachineSearch, Found_IsNotDueAgain) {
  MachineSearch search;
  search.Use(milliseconds(100));
  search.Found(Holds::kYes);
  EXPECT_TRUE(search.holds());
  search.Use(std::chrono::hours(1));
  EXPECT_FALSE(search.IsDue());
}

TEST(MachineSearch, ChangedAndNoResult_HoldsTheMachineButIsUnsure) {
  MachineSearch search;
  search.Use(milliseconds(100));
  search.Found(Holds::kYes);
  search.Confirm(Holds::kNotNow);
  EXPECT_TRUE(search.holds());
  EXPECT_TRUE(search.unsure());
  search.Confirm(Holds::kYes);
  EXPECT_TRUE(search.holds());
  EXPECT_FALSE(search.unsure());
}

TEST(MachineSearch, ChangedAndHoldsNone_TheSearchBeginsAgain) {
  MachineSearch search;
  search.Use(milliseconds(1600));
  search.Found(Holds::kYes);
  search.Confirm(Holds::kNo);
  EXPECT_FALSE(search.holds());
  search.Use(milliseconds(100));
  EXPECT_TRUE(search.IsDue());
}

TEST(MachineSearch, AnotherProgram_IsSearchedAfterTheFirstTime) {
  MachineSearch search;
  search.Use(milliseconds(99));
  search.Restart();
  search.Use(milliseconds(99));
  EXPECT_FALSE(search.IsDue());
}

TEST(MachineSearch, AnotherSlot_KeepsTheMachineAndForgetsTheTime) {
  MachineSearch search;
  search.Use(milliseconds(99));
  MachineSearch moved = search.Moved();
  moved.Use(milliseconds(99));
  EXPECT_FALSE(moved.IsDue());
  search.Use(milliseconds(1));
  search.Found(Holds::kYes);
  EXPECT_TRUE(search.Moved().holds());
}

}  // namespace
}  // namespace kepler::workload::hypervisor
