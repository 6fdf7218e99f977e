// That ticks take no memory for the history: a program of its own, because it counts allocations.
#include "testing/allocations.h"

#include <gtest/gtest.h>

#include <chrono>

#include "export/api/power_history.h"
#include "testing/snapshot_builder.h"

namespace kepler::api {
namespace {

TEST(Allocations, HistoryOfTheSameZones_TakesNone) {
  PowerHistory history(std::chrono::seconds(5));
  auto snapshot = testing::EmptySnapshot({"package", "dram"});
  history.Add(snapshot);
  const uint64_t before = testing::allocations;
  for (int tick = 1; tick <= 1000; ++tick) {
    snapshot.taken_boot = BootTime(std::chrono::seconds(5 * tick));
    history.Add(snapshot);
  }
  EXPECT_EQ(testing::allocations, before);
  EXPECT_GT(before, 0u);
}

}  // namespace
}  // namespace kepler::api
