#include "attribution/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "attribution/ledger_test_util.h"

namespace kepler::attribution {
namespace {

using snapshot::Level;
using snapshot::State;
using snapshot::Unlisted;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST_F(LedgerTest, TwoProcesses_ShareByTime) {
  Begin();
  const Row a = Process(1);
  const Row b = Process(2);
  ledger_.UseProcess(a, milliseconds(300));
  ledger_.UseProcess(b, milliseconds(100));
  const auto& s = Settle(80, 0.5);
  EXPECT_EQ(Joules(s.node[0].active), 40);
  EXPECT_EQ(Joules(s.node[0].idle), 40);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 30);
  EXPECT_EQ(Joules(s.processes.energy_at(1, 0)), 10);
  EXPECT_DOUBLE_EQ(s.processes.watts_at(0, 0), 30.0);
  EXPECT_EQ(UnlistedJoules(Level::kContainer, Unlisted::kOutside), 40);
}

TEST_F(LedgerTest, QuietTick_NothingFallsAndAllIsUnattributed) {
  const Row a = RunAlone(1, 10);
  Begin();
  ledger_.UseProcess(a, milliseconds(0));
  const auto& s = Settle(7);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 10);
  EXPECT_EQ(s.processes.watts_at(0, 0), 0.0);
  EXPECT_EQ(Joules(s.unattributed[0]), 7);
}

TEST_F(LedgerTest, EndedBelowThreshold_Departs) {
  const Row a = RunAlone(1, 9);
  Begin();
  ledger_.EndProcess(a);
  const auto& s = Settle(0);
  EXPECT_EQ(s.processes.rows(), 0u);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kDeparted), 9);
}

TEST_F(LedgerTest, EndedAboveThreshold_StaysListedForTheRetentionWithoutPower) {
  const Row a = RunAlone(1, 20);
  Begin();
  ledger_.UseProcess(a, milliseconds(100));  // its last slice
  ledger_.EndProcess(a);
  Settle(5);
  ASSERT_EQ(snapshot_.processes.rows(), 1u);
  EXPECT_EQ(snapshot_.processes.state[0], State::kTerminated);
  EXPECT_EQ(Joules(snapshot_.processes.energy_at(0, 0)), 25);
  EXPECT_EQ(snapshot_.processes.watts_at(0, 0), 0.0);
  for (int i = 0; i < 119; ++i) {
    Begin();
    Settle(0);
    ASSERT_EQ(snapshot_.processes.rows(), 1u);
  }
  Idle();
  EXPECT_EQ(snapshot_.processes.rows(), 0u);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kDeparted), 25);
}

TEST_F(LedgerTest, NeverPublished_IsCapped) {
  Begin();
  const Row a = Ran(1, milliseconds(300));
  ledger_.EndProcess(a);
  Settle(3);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kCapped), 3);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kDeparted), 0);
}

TEST_F(LedgerTest, PidReusedInTheSameTick_OldDepartsNewStartsAtZero) {
  const Row old = RunAlone(7, 50);
  Begin();
  ledger_.EndProcess(old);
  Ran(7, milliseconds(1));
  const auto& s = Settle(1);
  ASSERT_EQ(s.processes.rows(), 1u);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 1);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kDeparted), 50);
}

TEST_F(LedgerTest, PidReusedWhileTerminatedIsListed_OldDeparts) {
  const Row old = RunAlone(7, 50);
  Begin();
  ledger_.EndProcess(old);
  Settle(0);
  ASSERT_EQ(snapshot_.processes.rows(), 1u);
  Begin();
  Process(7, {}, "other");  // other labels: both may stay
  Settle(0);
  EXPECT_EQ(snapshot_.processes.rows(), 2u);
  Begin();
  Process(7);
  Settle(0);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kDeparted), 50);
}

TEST_F(LedgerTest, Relabelled_TotalsOfContainerStay) {
  Begin();
  const Row box = ledger_.Container(Box("c1"), kNoRow);
  Row a = Process(1, {box, kNoRow, kNoRow}, "sh");
  ledger_.UseProcess(a, milliseconds(300));
  Settle(30);
  Begin();
  ledger_.CloseProcess(a);
  a = Process(1, {box, kNoRow, kNoRow}, "java");
  ledger_.UseProcess(a, milliseconds(300));
  const auto& s = Settle(12);
  ASSERT_EQ(s.processes.rows(), 1u);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 12);
  EXPECT_EQ(Joules(s.containers.energy_at(0, 0)), 42);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kDeparted), 30);
}

TEST_F(LedgerTest, Find_GivesTheRowOfWhoIsThereOnly) {
  Begin();
  const Row pod = ledger_.Pod({"uid", "", ""});
  const Row box = ledger_.Container({"c1", "", "containerd", "uid"}, pod);
  EXPECT_EQ(ledger_.containers().Find(ContainerId{"containerd", "c1"}), box);
  EXPECT_EQ(ledger_.containers().Find(ContainerId{"containerd", "c2"}), kNoRow);
  EXPECT_EQ(ledger_.containers().Find(ContainerId{"docker", "c1"}), kNoRow);
  EXPECT_EQ(ledger_.pods().Find("uid"), pod);
  EXPECT_EQ(ledger_.pods().Find("c1"), kNoRow);
}

TEST_F(LedgerTest, ZonesAppear_EveryRowKeepsItsOwn) {
  Begin();
  const Row a = Process(1);
  const Row b = Process(2);
  const Row c = Process(3);
  ledger_.UseProcess(a, milliseconds(100));
  ledger_.UseProcess(b, milliseconds(200));
  ledger_.UseProcess(c, milliseconds(300));
  Settle(60);
  for (const size_t count : {2u, 3u}) {
    std::vector<status::Zone> zones = {{"package", "p", "fake"}, {"dram", "d", "fake"}, {"psys", "s", "fake"}};
    zones.resize(count);
    ledger_.SetZones(zones, 0);
    Begin();
    ledger_.UseProcess(a, milliseconds(100));
    ledger_.UseProcess(c, milliseconds(100));
    SettleZones(std::vector<ZoneUse>(count, {Energy::Joules(8), Power::Watts(8), true}));
  }
  const auto joules = [&](size_t row) {
    std::vector<int64_t> of_zones;
    of_zones.reserve(3);
    for (size_t zone = 0; zone < 3; ++zone) of_zones.push_back(Joules(snapshot_.processes.energy_at(row, zone)));
    return of_zones;
  };
  EXPECT_EQ(joules(0), (std::vector<int64_t>{18, 8, 4}));
  EXPECT_EQ(joules(1), (std::vector<int64_t>{20, 0, 0}));
  EXPECT_EQ(joules(2), (std::vector<int64_t>{38, 8, 4}));
}

TEST_F(LedgerTest, OneEnds_WattsOfTheOthersAreTheirsInEveryZone) {
  ledger_.SetZones(std::vector<status::Zone>{{"package", "p", "fake"}, {"dram", "d", "fake"}}, 0);
  Begin();
  const Row a = Process(1);
  const Row b = Process(2);
  const Row c = Process(3);
  for (const Row row : {a, b, c}) ledger_.UseProcess(row, milliseconds(100));
  SettleZones({{Energy::Joules(3), Power::Watts(3), true}, {Energy::Joules(3), Power::Watts(3), true}});
  Begin();
  ledger_.UseProcess(a, milliseconds(300));
  ledger_.UseProcess(b, milliseconds(100));
  ledger_.EndProcess(c);
  SettleZones({{Energy::Joules(8), Power::Watts(8), true}, {Energy::Joules(4), Power::Watts(4), true}});
  ASSERT_EQ(snapshot_.processes.rows(), 2u);
  EXPECT_DOUBLE_EQ(snapshot_.processes.watts_at(0, 0), 6);
  EXPECT_DOUBLE_EQ(snapshot_.processes.watts_at(0, 1), 3);
  EXPECT_DOUBLE_EQ(snapshot_.processes.watts_at(1, 0), 2);
  EXPECT_DOUBLE_EQ(snapshot_.processes.watts_at(1, 1), 1);
}

TEST_F(LedgerTest, Residual_IsUnseenAtProcessLevelAndTheContainersOwn) {
  Begin();
  const Row pod = ledger_.Pod({"uid", "", ""});
  const Row box = ledger_.Container({"c1", "", "containerd", "uid"}, pod);
  ledger_.UseResidual({box, kNoRow, pod}, milliseconds(10));
  ledger_.UseResidual({kNoRow, kNoRow, pod}, milliseconds(10));
  ledger_.UseResidual({}, milliseconds(20));
  const auto& s = Settle(40);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kUnseen), 40);
  EXPECT_EQ(Joules(s.containers.energy_at(0, 0)), 10);
  EXPECT_EQ(UnlistedJoules(Level::kContainer, Unlisted::kUnseen), 10);
  EXPECT_EQ(UnlistedJoules(Level::kContainer, Unlisted::kOutside), 20);
  EXPECT_EQ(Joules(s.pods.energy_at(0, 0)), 20);
  EXPECT_EQ(s.containers.cpu[0], milliseconds(10));
}

TEST_F(LedgerTest, ContainerComesBackWhileListed_GoesOn) {
  ChargeBox(Box("c1"), 40);
  Idle();
  EXPECT_EQ(snapshot_.containers.state[0], State::kTerminated);
  ChargeBox(Box("c1"), 2);
  EXPECT_EQ(snapshot_.containers.state[0], State::kRunning);
  EXPECT_EQ(Joules(snapshot_.containers.energy_at(0, 0)), 42);
}

TEST_F(LedgerTest, TickWithoutAScan_NobodyEnds) {
  Begin();
  const Row pod = ledger_.Pod({"uid", "", ""});
  const Row box = ledger_.Container({"c1", "", "containerd", "uid"}, pod);
  const Row a = Ran(1, milliseconds(10), {box, kNoRow, pod});
  Settle(4);
  Begin();
  SettleZones({{Energy::Joules(6), Power::Watts(6), true}}, 1, Scan::kFailed);
  Begin();
  ledger_.UseProcess(a, milliseconds(10));
  const auto& s = Settle(4);
  ASSERT_EQ(s.containers.rows(), 1u);
  EXPECT_EQ(s.containers.state[0], State::kRunning);
  EXPECT_EQ(Joules(s.containers.energy_at(0, 0)), 8);
  EXPECT_EQ(Joules(s.pods.energy_at(0, 0)), 8);
  EXPECT_EQ(Joules(s.unattributed[0]), 6);
}

TEST_F(LedgerTest, ResidualOnAPathWithoutThePod_BelongsToTheKnownPod) {
  Begin();
  const Row pod = ledger_.Pod({"uid", "", ""});
  ledger_.UseResidual({ledger_.Container({"c1", "", "containerd", "uid"}, pod), kNoRow, pod}, milliseconds(10));
  Settle(4);
  Begin();
  const Row box = ledger_.Container({"c1", "", "containerd", ""}, kNoRow);
  EXPECT_EQ(ledger_.PodOf(box), pod);
  ledger_.UseResidual({box, kNoRow, ledger_.PodOf(box)}, milliseconds(10));
  const auto& s = Settle(4);
  EXPECT_EQ(s.containers.identity[0]->pod_id, "uid");
  EXPECT_EQ(Joules(s.containers.energy_at(0, 0)), 8);
  EXPECT_EQ(Joules(s.pods.energy_at(0, 0)), 8);
}

TEST_F(LedgerTest, ContainerNameBecomesKnown_SeriesStartsAgain) {
  ChargeBox(Box("c1"), 40);
  ChargeBox(Box("c1", "web"), 2);
  ASSERT_EQ(snapshot_.containers.rows(), 1u);
  EXPECT_EQ(snapshot_.containers.identity[0]->name, "web");
  EXPECT_EQ(Joules(snapshot_.containers.energy_at(0, 0)), 2);
  EXPECT_EQ(UnlistedJoules(Level::kContainer, Unlisted::kDeparted), 40);
}

TEST_F(LedgerTest, ContainerShowsAnotherName_FirstStaysAndSeriesGoesOn) {
  ChargeBox(Box("c1", "web"), 40);
  ChargeBox(Box("c1", "exec"), 2);
  ASSERT_EQ(snapshot_.containers.rows(), 1u);
  EXPECT_EQ(snapshot_.containers.identity[0]->name, "web");
  EXPECT_EQ(Joules(snapshot_.containers.energy_at(0, 0)), 42);
  EXPECT_EQ(UnlistedJoules(Level::kContainer, Unlisted::kDeparted), 0);
}

TEST_F(LedgerTest, ZoneAppended_OldTotalsStay) {
  const Row a = RunAlone(1, 30);
  ledger_.SetZones({{"package", "p", "fake"}, {"dram", "d", "fake"}}, 0);
  Begin();
  ledger_.UseProcess(a, milliseconds(300));
  SettleZones({{Energy::Joules(1), Power::Watts(1), true}, {Energy::Joules(2), Power::Watts(2), true}});
  EXPECT_EQ(Joules(snapshot_.processes.energy_at(0, 0)), 31);
  EXPECT_EQ(Joules(snapshot_.processes.energy_at(0, 1)), 2);
}

TEST_F(LedgerTest, UnattributedTime_TakesItsShare) {
  Begin();
  Ran(1, milliseconds(100));
  ledger_.UseUnattributed(milliseconds(300));
  Settle(40);
  EXPECT_EQ(Joules(snapshot_.unattributed[0]), 30);
  EXPECT_EQ(snapshot_.unattributed_cpu, milliseconds(300));
}

class CappedLedgerTest : public LedgerTest {
 protected:
  explicit CappedLedgerTest(int64_t max = 2) : LedgerTest({minutes(2), Energy::Joules(1), max}) {}
};

TEST_F(CappedLedgerTest, OverTheCap_BestByEnergyStay) {
  Begin();
  std::vector<Row> rows;
  for (int32_t pid = 1; pid <= 4; ++pid) {
    rows.push_back(Process(pid));
    ledger_.UseProcess(rows.back(), milliseconds(pid * 10));
  }
  Settle(100);
  Begin();
  for (const Row row : rows) ledger_.EndProcess(row);
  Settle(0);
  ASSERT_EQ(snapshot_.processes.rows(), 2u);
  std::vector<int64_t> kept = {Joules(snapshot_.processes.energy_at(0, 0)),
                               Joules(snapshot_.processes.energy_at(1, 0))};
  std::ranges::sort(kept);
  EXPECT_EQ(kept, (std::vector<int64_t>{30, 40}));
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kDeparted), 30);
}

class NoTerminatedLedgerTest : public CappedLedgerTest {
 protected:
  NoTerminatedLedgerTest() : CappedLedgerTest(0) {}
};
TEST_F(NoTerminatedLedgerTest, MaxZero_NothingIsListedAfterItsEnd) {
  const Row a = RunAlone(1, 100);
  Begin();
  ledger_.EndProcess(a);
  Settle(0);
  EXPECT_EQ(snapshot_.processes.rows(), 0u);
}

class UnlimitedLedgerTest : public CappedLedgerTest {
 protected:
  UnlimitedLedgerTest() : CappedLedgerTest(-1) {}
};
TEST_F(UnlimitedLedgerTest, NegativeMost_KeepsAll) {
  Begin();
  std::vector<Row> rows;
  for (int32_t pid = 1; pid <= 1000; ++pid) {
    rows.push_back(Process(pid));
    ledger_.UseProcess(rows.back(), milliseconds(1));
  }
  Settle(10'000);
  Begin();
  for (const Row row : rows) ledger_.EndProcess(row);
  Settle(0);
  EXPECT_EQ(snapshot_.processes.rows(), 1000u);
}

}  // namespace
}  // namespace kepler::attribution
