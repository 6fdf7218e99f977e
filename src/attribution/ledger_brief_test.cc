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

BriefProcess Brief(int32_t pid, Nanoseconds cpu, Membership groups = {}, std::string_view comm = "work") {
  return {.pid = pid, .comm = comm, .exe = "", .type = "regular", .groups = groups, .cpu = cpu, .events = {}};
}

class LedgerBriefTest : public LedgerTest {
 protected:
  using LedgerTest::LedgerTest;
};

TEST_F(LedgerBriefTest, BelowTheThreshold_CappedAndItsContainersAllTheSame) {
  Begin();
  const Row pod = ledger_.Pod({"uid", "", ""});
  const Row box = ledger_.Container({"c1", "", "containerd", "uid"}, pod);
  for (int32_t pid = 1; pid <= 5; ++pid) ledger_.UseBrief(Brief(pid, milliseconds(1), {box, kNoRow, pod}));
  const auto& s = Settle(40);
  EXPECT_EQ(s.processes.rows(), 0u);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kCapped), 40);
  EXPECT_EQ(Joules(s.containers.energy_at(0, 0)), 40);
  EXPECT_EQ(Joules(s.pods.energy_at(0, 0)), 40);
  EXPECT_EQ(s.containers.state[0], State::kRunning);
  EXPECT_EQ(s.containers.cpu[0], milliseconds(5));
}

TEST_F(LedgerBriefTest, AtTheThreshold_ListedAsTerminated) {
  Begin();
  const Row box = ledger_.Container(Box("c1"), kNoRow);
  BriefProcess brief = Brief(7, milliseconds(10), {box, kNoRow, kNoRow}, "caf\xC3");
  brief.exe = "/bin/x";
  brief.type = "container";
  ledger_.UseBrief(brief);
  ledger_.UseBrief(Brief(8, milliseconds(9)));
  const auto& s = Settle(19);
  ASSERT_EQ(s.processes.rows(), 1u);
  const snapshot::ProcessIdentity expected{7, "caf\xEF\xBF\xBD", "/bin/x", "container", "c1", ""};
  EXPECT_EQ(*s.processes.identity[0], expected);
  EXPECT_EQ(s.processes.state[0], State::kTerminated);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 10);
  EXPECT_EQ(s.processes.cpu[0], milliseconds(10));
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kCapped), 9);
}

TEST_F(LedgerBriefTest, NoTimeAtAll_IsNothingButASignOfLife) {
  Begin();
  const Row box = ledger_.Container(Box("c1"), kNoRow);
  ledger_.UseResidual({box, kNoRow, kNoRow}, milliseconds(1));
  Settle(40);
  Begin();
  ledger_.UseBrief(Brief(7, Nanoseconds(0), {box, kNoRow, kNoRow}));
  const auto& s = Settle(0);
  EXPECT_EQ(s.processes.rows(), 0u);
  EXPECT_EQ(s.containers.state[0], State::kRunning);
}

TEST_F(LedgerBriefTest, EveryZoneFollowsTheDecisionOfThePrimary) {
  ledger_.SetZones({{"dram", "d", "fake"}, {"package", "p", "fake"}}, 1);
  Begin();
  ledger_.UseBrief(Brief(7, milliseconds(20)));
  ledger_.UseBrief(Brief(8, milliseconds(1)));
  SettleZones({{Energy::Joules(210), Power::Watts(1), true}, {Energy::Joules(21), Power::Watts(2), true}});
  ASSERT_EQ(snapshot_.processes.rows(), 1u);
  EXPECT_EQ(Joules(snapshot_.processes.energy_at(0, 0)), 200);
  EXPECT_EQ(Joules(snapshot_.processes.energy_at(0, 1)), 20);
  for (const auto& errors : snapshot_.conservation_error)
    for (const Energy error : errors) EXPECT_EQ(error, Energy{});
}

TEST_F(LedgerBriefTest, PidOfAnExitedProcess_OlderOneDeparts) {
  Begin();
  const Row old = Process(7);
  ledger_.UseProcess(old, milliseconds(10));
  Settle(30);
  Begin();
  ledger_.EndProcess(old);
  ledger_.UseBrief(Brief(7, milliseconds(10)));
  const auto& s = Settle(20);
  ASSERT_EQ(s.processes.rows(), 1u);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 20);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kDeparted), 30);
}

TEST_F(LedgerBriefTest, PidOfAProcessStartedAfterIt_BriefGivesWay) {
  Begin();
  ledger_.UseBrief(Brief(7, milliseconds(20)));
  const Row young = Process(7);
  ledger_.UseProcess(young, milliseconds(10));
  const auto& s = Settle(30);
  ASSERT_EQ(s.processes.rows(), 1u);
  EXPECT_EQ(s.processes.state[0], State::kRunning);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 10);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kCapped), 20);
}

TEST_F(LedgerBriefTest, PidOfAProcessOfAnEarlierTick_BriefGivesWay) {
  Begin();
  const Row young = Process(7);
  ledger_.UseProcess(young, milliseconds(10));
  Settle(10);
  Begin();
  ledger_.UseBrief(Brief(7, milliseconds(20)));  // whoever had the pid before: its record came late
  ledger_.UseProcess(young, milliseconds(10));
  const auto& s = Settle(30);
  ASSERT_EQ(s.processes.rows(), 1u);
  EXPECT_EQ(s.processes.state[0], State::kRunning);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 20);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kCapped), 20);
  Begin();
  ledger_.EndProcess(young);
  ledger_.UseBrief(Brief(7, milliseconds(30)));
  Settle(30);
  ASSERT_EQ(snapshot_.processes.rows(), 1u);
  EXPECT_EQ(Joules(snapshot_.processes.energy_at(0, 0)), 30) << "its pid is free once it has ended";
}

TEST_F(LedgerBriefTest, RestOfAListedOne_LeavesItsSeriesAsItIs) {
  Begin();
  ledger_.UseBrief(Brief(7, milliseconds(20)));
  Settle(20);
  Begin();
  BriefProcess rest = Brief(7, milliseconds(20));
  rest.rest = true;
  ledger_.UseBrief(rest);
  Settle(20);
  ASSERT_EQ(snapshot_.processes.rows(), 1u);
  EXPECT_EQ(Joules(snapshot_.processes.energy_at(0, 0)), 20);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kCapped), 20);
}

TEST_F(LedgerBriefTest, TwoOfOnePidAndName_LaterOneStays) {
  Begin();
  ledger_.UseBrief(Brief(7, milliseconds(20)));
  ledger_.UseBrief(Brief(7, milliseconds(10)));
  Settle(30);
  ASSERT_EQ(snapshot_.processes.rows(), 1u);
  EXPECT_EQ(Joules(snapshot_.processes.energy_at(0, 0)), 10);
  Begin();
  ledger_.UseBrief(Brief(7, milliseconds(20)));  // and again while that one is listed
  Settle(15);
  ASSERT_EQ(snapshot_.processes.rows(), 1u);
  EXPECT_EQ(Joules(snapshot_.processes.energy_at(0, 0)), 15);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kDeparted), 10);
}

TEST_F(LedgerBriefTest, OutsideOfAnyGroup_IsOutside) {
  Begin();
  ledger_.UseBrief(Brief(7, milliseconds(20)));
  Settle(5);
  for (const Level level : {Level::kContainer, Level::kVm, Level::kPod})
    EXPECT_EQ(UnlistedJoules(level, Unlisted::kOutside), 5);
}

class CappedLedgerBriefTest : public LedgerTest {
 protected:
  explicit CappedLedgerBriefTest(int64_t most = 2) : LedgerTest({std::chrono::minutes(2), Energy::Joules(1), most}) {}
};

TEST_F(CappedLedgerBriefTest, MoreThanTheCap_BestByEnergyAreListed) {
  Begin();
  for (const int32_t pid : {3, 1, 4, 2}) ledger_.UseBrief(Brief(pid, milliseconds(pid)));
  Settle(100);
  ASSERT_EQ(snapshot_.processes.rows(), 2u);
  for (size_t row = 0; row < 2; ++row) EXPECT_GE(snapshot_.processes.identity[row]->pid, 3);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kCapped), 30);
}

class NoTerminatedLedgerBriefTest : public CappedLedgerBriefTest {
 protected:
  NoTerminatedLedgerBriefTest() : CappedLedgerBriefTest(0) {}
};

TEST_F(NoTerminatedLedgerBriefTest, CapZero_NoneIsListed) {
  Begin();
  ledger_.UseBrief(Brief(7, milliseconds(20)));
  Settle(100);
  EXPECT_EQ(snapshot_.processes.rows(), 0u);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kCapped), 100);
}

}  // namespace
}  // namespace kepler::attribution
