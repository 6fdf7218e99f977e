// What performance counters count: in the accounts, and as weights.
#include <gtest/gtest.h>

#include "attribution/counter_weights.h"
#include "attribution/ledger.h"
#include "attribution/ledger_test_util.h"

namespace kepler::attribution {
namespace {

using snapshot::Level;
using snapshot::Method;
using snapshot::Unlisted;
using std::chrono::milliseconds;

constexpr HardwareEvents kSome = {100, 200, 3};

TEST_F(LedgerTest, NothingCounted_NoEventsInTheTables) {
  Begin();
  Ran(1, milliseconds(10));
  const auto& s = Settle(10);
  EXPECT_TRUE(s.processes.events.empty());
  EXPECT_TRUE(s.containers.events.empty());
  EXPECT_EQ(s.methods, std::vector{Method::kCpuTime});
}

TEST_F(LedgerTest, Events_AddUpAndEndWithTheSeries) {
  Begin();
  const Row box = ledger_.Container(Box("c1"), kNoRow);
  Row a = Process(1, {box, kNoRow, kNoRow});
  const Row quiet = Process(2);
  ledger_.UseProcess(a, milliseconds(10), kSome);
  ledger_.UseProcess(quiet, milliseconds(10));
  Settle(10);
  ASSERT_EQ(snapshot_.processes.events.size(), 2u);
  EXPECT_EQ(snapshot_.processes.events[0], kSome);
  EXPECT_EQ(snapshot_.processes.events[1], HardwareEvents{});

  Begin();
  ledger_.CloseProcess(a);
  a = Process(1, {box, kNoRow, kNoRow}, "other");
  ledger_.UseProcess(a, milliseconds(10), kSome);
  ledger_.UseShortLived({.number = 9, .groups = {box, kNoRow, kNoRow}, .cpu = milliseconds(1), .events = kSome});
  Settle(10);
  ASSERT_EQ(snapshot_.processes.events.size(), 2u);
  EXPECT_EQ(snapshot_.processes.identity[0]->comm, "other");
  EXPECT_EQ(snapshot_.processes.events[0], kSome);
  ASSERT_EQ(snapshot_.containers.events.size(), 1u);
  EXPECT_EQ(snapshot_.containers.events[0], (HardwareEvents{300, 600, 9}));
}

class CountersLedgerTest : public LedgerTest {
 protected:
  CountersLedgerTest() {
    ledger_.SetZones({{"package", "p", "fake"}, {"dram", "d", "fake"}}, 0);
    weights_ = std::make_unique<CounterWeights>(ledger_.cpu_usage());
    weights_->SetZones(ledger_.zones());
  }
  const snapshot::Snapshot& SettleBoth(int64_t joules, bool fresh = true) {
    return SettleZones(std::vector<ZoneUse>(2, {Energy::Joules(joules), Power::Watts(1), fresh}));
  }
};

TEST_F(CountersLedgerTest, EachZoneByItsOwnEvents) {
  Begin();
  const Row a = Process(1);
  const Row b = Process(2);
  ledger_.UseProcess(a, milliseconds(10), {300, 10, 1});
  ledger_.UseProcess(b, milliseconds(10), {100, 10, 4});
  const auto& s = SettleBoth(20);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 15);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 1)), 4);
  EXPECT_EQ(s.methods, (std::vector{Method::kCycles, Method::kCacheMisses}));
}

TEST_F(CountersLedgerTest, NobodyCounts_CpuTimeAndSaysSo) {
  Begin();
  Ran(1, milliseconds(10));
  ledger_.UseUnattributed(milliseconds(30));
  const auto& s = SettleBoth(40);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 10);
  EXPECT_EQ(s.methods, (std::vector{Method::kCpuTime, Method::kCpuTime}));
}

TEST_F(CountersLedgerTest, TimeWithoutEvents_TakesTheMeanWeight) {
  Begin();
  const Row a = Process(1);
  ledger_.UseProcess(a, milliseconds(10), kSome);
  ledger_.UseUnattributed(milliseconds(30));
  ledger_.UseResidual({}, milliseconds(40));
  const auto& s = SettleBoth(80);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 10);
  EXPECT_EQ(Joules(s.unattributed[1]), 30);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kUnseen), 40);
}

TEST_F(CountersLedgerTest, EnoughTicks_MixIsFittedAndPublished) {
  // One joule per thousand cycles and two per thousand instructions.
  Begin();
  const Row a = Process(1);
  const Row b = Process(2);
  for (uint64_t tick = 0; tick < 20; ++tick) {
    const uint64_t instructions = 1000 * (1 + tick % 3);
    ledger_.UseProcess(a, milliseconds(10), {1000, instructions, 1});
    SettleBoth(static_cast<int64_t>(1 + 2 * instructions / 1000));
    Begin();
  }
  ledger_.UseProcess(a, milliseconds(10), {1000, 1000, 1});
  ledger_.UseProcess(b, milliseconds(10), {1000, 2000, 1});
  const Energy before = snapshot_.processes.energy_at(0, 0);
  const auto& s = SettleBoth(8);
  EXPECT_EQ(s.methods[0], Method::kCyclesInstructionsMix);
  EXPECT_NEAR(static_cast<double>((s.processes.energy_at(0, 0) - before).microjoules()), 3e6, 100);
  EXPECT_NEAR(static_cast<double>(s.processes.energy_at(1, 0).microjoules()), 5e6, 100);
}

TEST_F(CountersLedgerTest, ZoneThatWasNotRead_TeachesNothing) {
  Begin();
  const Row a = Process(1);
  for (uint64_t tick = 0; tick < 40; ++tick) {
    const uint64_t instructions = 1000 * (1 + tick % 3);
    ledger_.UseProcess(a, milliseconds(10), {1000, instructions, 1});
    // Every other reading is missing: each amount is that of two ticks, or of none.
    SettleBoth(9, tick % 2 == 0);
    Begin();
  }
  ledger_.UseProcess(a, milliseconds(10), {1000, 1000, 1});
  EXPECT_EQ(SettleBoth(8).methods[0], Method::kCycles);
}

}  // namespace
}  // namespace kepler::attribution
