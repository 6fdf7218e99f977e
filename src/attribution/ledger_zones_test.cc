// Zones that differ in their weights, in the time of their readings, or that appear later.
#include <gtest/gtest.h>

#include "attribution/ledger.h"
#include "attribution/ledger_test_util.h"

namespace kepler::attribution {
namespace {

using snapshot::Level;
using snapshot::Unlisted;
using std::chrono::milliseconds;

const status::Zone kPackage = {"package", "p", "fake"};
const status::Zone kDram = {"dram", "d", "fake"};
const status::Zone kGpu = {"gpu", "g", "fake"};

/// What is used at once, without a list of who ran.
ZoneCharge OfNode(int64_t joules) {
  return {.total = Energy::Joules(joules), .power = Power::Watts(static_cast<double>(joules)), .fresh = true};
}
ZoneCharge Split(int64_t joules, Weights& weights) {
  return SplitByRatio(Energy::Joules(joules), Power::Watts(static_cast<double>(joules)), true, Ratio::Clamped(1),
                      weights);
}

/// A device that says who used it for how long, whoever used the processors.
class LedgerDeviceTest : public LedgerTest {
 protected:
  LedgerDeviceTest() { ledger_.SetZones({kPackage, kGpu}, 0); }
  void UseDevice(Row process, milliseconds time) {
    device_.Add({Usage::Payer::kProcess, process, ledger_.processes().groups(process)}, time);
  }
  const snapshot::Snapshot& SettleBoth(int64_t package, int64_t gpu) {
    const auto& s = SettleCharges({Split(package, *weights_), Split(gpu, device_weights_)});
    device_.Clear();
    return s;
  }
  UsageList device_;
  CpuTimeWeights device_weights_{device_};
};

TEST_F(LedgerDeviceTest, EachZoneIsSplitOverItsOwnUsers) {
  Begin();
  const Row box = ledger_.Container(Box("c1"), kNoRow);
  const Row a = Process(1, {box, kNoRow, kNoRow});
  const Row b = Process(2);
  ledger_.UseProcess(a, milliseconds(10));
  ledger_.UseProcess(b, milliseconds(30));
  UseDevice(a, milliseconds(300));
  UseDevice(b, milliseconds(100));
  const auto& s = SettleBoth(40, 80);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 10);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 1)), 60);
  EXPECT_EQ(Joules(s.containers.energy_at(0, 1)), 60);
  EXPECT_EQ(Joules(s.processes.energy_at(1, 1)), 20);
  EXPECT_DOUBLE_EQ(s.processes.watts_at(1, 1), 20);
  EXPECT_EQ(UnlistedJoules(Level::kContainer, Unlisted::kOutside), 30);
}

TEST_F(LedgerDeviceTest, NobodyUsedTheDevice_ItsEnergyIsUnattributed) {
  Begin();
  Ran(1, milliseconds(10));
  const auto& s = SettleBoth(40, 80);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 40);
  EXPECT_EQ(Joules(s.unattributed[1]), 80);
}

TEST_F(LedgerDeviceTest, DeviceIsUsedWithoutTheProcessors) {
  Begin();
  const Row a = Ran(1, milliseconds(0));
  UseDevice(a, milliseconds(1));
  const auto& s = SettleBoth(7, 80);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 1)), 80);
  EXPECT_EQ(Joules(s.unattributed[0]), 7);
}

TEST_F(LedgerDeviceTest, WhoUsedTheDeviceIsGone_IsFoundOut) {
  Begin();
  const Row a = Process(1);
  UseDevice(a, milliseconds(1));
  ledger_.CloseProcess(a);
  EXPECT_DEATH(SettleBoth(1, 1), "a user of a device must be running");
}

TEST_F(LedgerTest, ZoneWithoutWeights_IsTheNodesAlone) {
  ledger_.SetZones({kPackage, {"platform", "psu", "fake"}}, 0);
  Begin();
  Ran(1, milliseconds(10));
  const auto& s = SettleCharges({Split(40, *weights_), OfNode(100)});
  EXPECT_EQ(Joules(s.node[1].total), 100);
  EXPECT_EQ(s.node[1].power.watts(), 100);
  EXPECT_EQ(s.processes.energy_at(0, 1), Energy{});
  EXPECT_EQ(s.unattributed[1], Energy{});
}

TEST_F(LedgerTest, ZoneThatHasNothingNew_KeepsItsWattsAndCountsNothing) {
  ledger_.SetZones({kPackage, kGpu}, 0);
  Begin();
  const Row a = Process(1);
  const Row b = Process(2);
  ledger_.UseProcess(a, milliseconds(30));
  ledger_.UseProcess(b, milliseconds(10));
  SettleCharges({Split(40, *weights_), Split(80, *weights_)});
  // The ratio is another one by now.
  ZoneCharge old = SplitByRatio(Energy{}, Power::Watts(80), true, Ratio::Clamped(0.1), *weights_);
  old.unchanged = true;
  for (int tick = 0; tick < 3; ++tick) {
    Begin();
    ledger_.UseProcess(a, milliseconds(0));
    ledger_.UseProcess(b, milliseconds(10));
    const auto& s = SettleCharges({Split(4, *weights_), old});
    EXPECT_EQ(s.node[1].power.watts(), 80);
    EXPECT_EQ(s.node[1].active_power.watts(), 80);
    EXPECT_DOUBLE_EQ(s.processes.watts_at(0, 1), 60);
    EXPECT_DOUBLE_EQ(s.processes.watts_at(1, 1), 20);
    EXPECT_EQ(s.processes.watts_at(0, 0), 0) << "the other zone goes on";
    EXPECT_DOUBLE_EQ(s.processes.watts_at(1, 0), 4);
    EXPECT_EQ(Joules(s.processes.energy_at(0, 1)), 60);
  }
  Begin();
  ledger_.UseProcess(b, milliseconds(10));
  const auto& s = SettleCharges({Split(4, *weights_), Split(10, *weights_)});
  EXPECT_EQ(s.processes.watts_at(1, 1), 10);
}

TEST_F(LedgerTest, ZonesInAnotherOrder_EachKeepsWhatItHas) {
  ledger_.SetZones({kPackage, kDram}, 0);
  Begin();
  const Row a = Process(1);
  Row gone = Process(2);
  ledger_.UseProcess(a, milliseconds(10));
  ledger_.UseProcess(gone, milliseconds(10));
  SettleCharges({Split(40, *weights_), Split(8, *weights_)});
  Begin();
  ledger_.CloseProcess(gone);
  ledger_.UseResidual({}, milliseconds(1));
  SettleCharges({Split(2, *weights_), Split(1, *weights_)});
  ledger_.SetZones({kDram, kGpu, kPackage}, 2);
  Begin();
  ledger_.UseProcess(a, milliseconds(10));
  const auto& s = SettleCharges({Split(100, *weights_), Split(200, *weights_), Split(300, *weights_)});
  const auto joules = [&](auto of_zone) {
    return std::vector{Joules(of_zone(0)), Joules(of_zone(1)), Joules(of_zone(2))};
  };
  using Three = std::vector<int64_t>;
  EXPECT_EQ(joules([&](size_t z) { return s.processes.energy_at(0, z); }), (Three{104, 200, 320}));
  EXPECT_EQ(joules([&](size_t z) { return s.node[z].total; }), (Three{109, 200, 342}));
  const auto& unlisted = s.unlisted[std::to_underlying(Level::kProcess)];
  EXPECT_EQ(joules([&](size_t z) { return unlisted[std::to_underlying(Unlisted::kDeparted)][z]; }), (Three{4, 0, 20}));
  EXPECT_EQ(joules([&](size_t z) { return unlisted[std::to_underlying(Unlisted::kUnseen)][z]; }), (Three{1, 0, 2}));
}

TEST_F(LedgerTest, ZoneThatWasNeverCharged_MayGo) {
  ledger_.SetZones({kPackage, kDram}, 0);
  Begin();
  ledger_.UseUnattributed(milliseconds(1));
  SettleCharges({Split(0, *weights_), Split(8, *weights_)});
  ledger_.SetZones({kDram}, 0);
  Begin();
  const auto& s = SettleCharges({Split(1, *weights_)});
  EXPECT_EQ(Joules(s.node[0].total), 9);
  EXPECT_DEATH(ledger_.SetZones({kPackage}, 0), "a charged zone must not be removed");
}

status::Zone Machine() {
  status::Zone zone = {"platform", "meter", "acpi"};
  zone.domain = status::Domain::kPlatform;
  return zone;
}

TEST_F(LedgerTest, ZoneOfTheMachine_AtTheEndHasNoColumnPerWorkload) {
  ledger_.SetZones({kPackage, Machine()}, 0);
  Begin();
  const Row box = ledger_.Container(Box("c1"), kNoRow);
  ledger_.UseProcess(Process(1, {box, kNoRow, kNoRow}), milliseconds(10));
  const auto& s = SettleCharges({Split(40, *weights_), OfNode(90)});
  EXPECT_EQ(s.processes.zones, 1);
  EXPECT_EQ(s.containers.energy.size(), 1);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 40);
  EXPECT_EQ(Joules(s.node[1].total), 90);
  EXPECT_EQ(Joules(s.unattributed[1]), 0);
}

TEST_F(LedgerTest, ZoneOfTheMachine_FollowedByAnother_GetsAColumnAndLosesItAgain) {
  ledger_.SetZones({kPackage, Machine()}, 0);
  Begin();
  const Row a = Ran(1, milliseconds(10));
  SettleCharges({Split(40, *weights_), OfNode(90)});
  ledger_.SetZones({kPackage, Machine(), kDram}, 0);
  Begin();
  ledger_.UseProcess(a, milliseconds(10));
  const auto& s = SettleCharges({Split(2, *weights_), OfNode(5), Split(3, *weights_)});
  EXPECT_EQ(s.processes.zones, 3);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 0)), 42);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 1)), 0);
  EXPECT_EQ(Joules(s.processes.energy_at(0, 2)), 3);
  ledger_.SetZones({kPackage, kDram, Machine()}, 0);
  Begin();
  ledger_.UseProcess(a, milliseconds(10));
  const auto& t = SettleCharges({Split(1, *weights_), Split(1, *weights_), OfNode(5)});
  EXPECT_EQ(t.processes.zones, 2);
  EXPECT_EQ(Joules(t.processes.energy_at(0, 0)), 43);
  EXPECT_EQ(Joules(t.processes.energy_at(0, 1)), 4);
  EXPECT_EQ(Joules(t.node[2].total), 100);
}

}  // namespace
}  // namespace kepler::attribution
