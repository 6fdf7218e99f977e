// Processes that come and go within one tick.
#include <gtest/gtest.h>

#include "attribution/ledger.h"
#include "attribution/ledger_test_util.h"

namespace kepler::attribution {
namespace {

using snapshot::Level;
using snapshot::State;
using snapshot::Unlisted;
using std::chrono::milliseconds;

/// LedgerTest::Identify makes its labels from the pid.
ShortLivedProcess ShortLived(int32_t pid, Nanoseconds cpu, Groups groups = {}) {
  return {.number = static_cast<size_t>(pid), .groups = groups, .cpu = cpu, .events = {}};
}

class LedgerShortLivedTest : public LedgerTest {
 protected:
  using LedgerTest::LedgerTest;
};

TEST_F(LedgerShortLivedTest, BelowTheThreshold_CappedAndItsContainersAllTheSame) {
  Begin();
  const Row pod = ledger_.Pod({"uid", "", ""});
  const Row box = ledger_.Container({"c1", "", "containerd", "uid"}, pod);
  for (int32_t pid = 1; pid <= 5; ++pid) ledger_.UseShortLived(ShortLived(pid, milliseconds(1), {box, kNoRow, pod}));
  const auto& s = Settle(40);
  EXPECT_EQ(s.processes.rows(), 0u);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kCapped), 40);
  EXPECT_EQ(Joules(s.containers.energy_at(0, 0)), 40);
  EXPECT_EQ(Joules(s.pods.energy_at(0, 0)), 40);
  EXPECT_EQ(s.containers.state[0], State::kRunning);
  EXPECT_EQ(s.containers.cpu[0], milliseconds(5));
}

TEST_F(LedgerShortLivedTest, AtTheThreshold_ListedAsTerminated) {
  Begin();
  const Row box = ledger_.Container(Box("c1"), kNoRow);
  ledger_.UseShortLived(ShortLived(7, milliseconds(10), {box, kNoRow, kNoRow}));
  ledger_.UseShortLived(ShortLived(8, milliseconds(9)));
  const auto& s = Settle(19);
  ASSERT_EQ(s.processes.rows(), 1u);
  EXPECT_EQ(*s.processes.identity[0], *Identify(7));
  EXPECT_EQ(s.processes.state[0], State::kTerminated);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 10);
  EXPECT_EQ(s.processes.cpu[0], milliseconds(10));
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kCapped), 9);
}

TEST_F(LedgerShortLivedTest, NoTimeAtAll_IsNothingButASignOfLife) {
  Begin();
  const Row box = ledger_.Container(Box("c1"), kNoRow);
  ledger_.UseResidual({box, kNoRow, kNoRow}, milliseconds(1));
  Settle(40);
  Begin();
  ledger_.UseShortLived(ShortLived(7, Nanoseconds(0), {box, kNoRow, kNoRow}));
  const auto& s = Settle(0);
  EXPECT_EQ(s.processes.rows(), 0u);
  EXPECT_EQ(s.containers.state[0], State::kRunning);
}

TEST_F(LedgerShortLivedTest, EveryZoneFollowsTheDecisionOfThePrimary) {
  ledger_.SetZones({{"dram", "d", "fake"}, {"package", "p", "fake"}}, 1);
  Begin();
  ledger_.UseShortLived(ShortLived(7, milliseconds(20)));
  ledger_.UseShortLived(ShortLived(8, milliseconds(1)));
  SettleZones({{Energy::Joules(210), Power::Watts(1), true}, {Energy::Joules(21), Power::Watts(2), true}});
  ASSERT_EQ(snapshot_.processes.rows(), 1u);
  EXPECT_EQ(Joules(snapshot_.processes.energy_at(0, 0)), 200);
  EXPECT_EQ(Joules(snapshot_.processes.energy_at(0, 1)), 20);
  for (const auto& errors : snapshot_.conservation_error)
    for (const Energy error : errors) EXPECT_EQ(error, Energy{});
}

TEST_F(LedgerShortLivedTest, PidOfAnExitedProcess_OlderOneDeparts) {
  const Row old = RunAlone(7, 30);
  Begin();
  ledger_.EndProcess(old);
  ledger_.UseShortLived(ShortLived(7, milliseconds(10)));
  const auto& s = Settle(20);
  ASSERT_EQ(s.processes.rows(), 1u);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 20);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kDeparted), 30);
}

TEST_F(LedgerShortLivedTest, PidOfAProcessStartedAfterIt_ShortLivedGivesWay) {
  Begin();
  ledger_.UseShortLived(ShortLived(7, milliseconds(20)));
  Ran(7, milliseconds(10));
  const auto& s = Settle(30);
  ASSERT_EQ(s.processes.rows(), 1u);
  EXPECT_EQ(s.processes.state[0], State::kRunning);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 10);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kCapped), 20);
}

TEST_F(LedgerShortLivedTest, PidOfAProcessOfAnEarlierTick_ShortLivedGivesWay) {
  const Row young = RunAlone(7, 10);
  Begin();
  ledger_.UseShortLived(ShortLived(7, milliseconds(20)));  // whoever had the pid before: its record came late
  ledger_.UseProcess(young, milliseconds(10));
  const auto& s = Settle(30);
  ASSERT_EQ(s.processes.rows(), 1u);
  EXPECT_EQ(s.processes.state[0], State::kRunning);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 20);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kCapped), 20);
  Begin();
  ledger_.EndProcess(young);
  ledger_.UseShortLived(ShortLived(7, milliseconds(30)));
  Settle(30);
  ASSERT_EQ(snapshot_.processes.rows(), 1u);
  EXPECT_EQ(Joules(snapshot_.processes.energy_at(0, 0)), 30) << "its pid is free once it has ended";
}

TEST_F(LedgerShortLivedTest, RestOfAListedOne_LeavesItsSeriesAsItIs) {
  Begin();
  ledger_.UseShortLived(ShortLived(7, milliseconds(20)));
  Settle(20);
  Begin();
  ShortLivedProcess rest = ShortLived(7, milliseconds(20));
  rest.late_remainder = true;
  ledger_.UseShortLived(rest);
  Settle(20);
  ASSERT_EQ(snapshot_.processes.rows(), 1u);
  EXPECT_EQ(Joules(snapshot_.processes.energy_at(0, 0)), 20);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kCapped), 20);
}

TEST_F(LedgerShortLivedTest, TwoOfOnePidAndName_LaterOneStays) {
  Begin();
  ledger_.UseShortLived(ShortLived(7, milliseconds(20)));
  ledger_.UseShortLived(ShortLived(7, milliseconds(10)));
  Settle(30);
  ASSERT_EQ(snapshot_.processes.rows(), 1u);
  EXPECT_EQ(Joules(snapshot_.processes.energy_at(0, 0)), 10);
  Begin();
  ledger_.UseShortLived(ShortLived(7, milliseconds(20)));  // and again while that one is listed
  Settle(15);
  ASSERT_EQ(snapshot_.processes.rows(), 1u);
  EXPECT_EQ(Joules(snapshot_.processes.energy_at(0, 0)), 15);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kDeparted), 10);
}

TEST_F(LedgerShortLivedTest, OutsideOfAnyGroup_IsOutside) {
  Begin();
  ledger_.UseShortLived(ShortLived(7, milliseconds(20)));
  Settle(5);
  for (const Level level : {Level::kContainer, Level::kVm, Level::kPod})
    EXPECT_EQ(UnlistedJoules(level, Unlisted::kOutside), 5);
}

class CappedLedgerShortLivedTest : public LedgerTest {
 protected:
  explicit CappedLedgerShortLivedTest(int64_t max = 2)
      : LedgerTest({std::chrono::minutes(2), Energy::Joules(1), max}) {}
};

TEST_F(CappedLedgerShortLivedTest, MoreThanTheCap_BestByEnergyAreListed) {
  Begin();
  for (const int32_t pid : {3, 1, 4, 2}) ledger_.UseShortLived(ShortLived(pid, milliseconds(pid)));
  Settle(100);
  ASSERT_EQ(snapshot_.processes.rows(), 2u);
  for (size_t row = 0; row < 2; ++row) EXPECT_GE(snapshot_.processes.identity[row]->pid, 3);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kCapped), 30);
}

class NoTerminatedLedgerShortLivedTest : public CappedLedgerShortLivedTest {
 protected:
  NoTerminatedLedgerShortLivedTest() : CappedLedgerShortLivedTest(0) {}
};

TEST_F(NoTerminatedLedgerShortLivedTest, CapZero_NoneIsListed) {
  Begin();
  ledger_.UseShortLived(ShortLived(7, milliseconds(20)));
  Settle(100);
  EXPECT_EQ(snapshot_.processes.rows(), 0u);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kCapped), 100);
}

}  // namespace
}  // namespace kepler::attribution
