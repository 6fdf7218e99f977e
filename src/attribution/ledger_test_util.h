#pragma once
// For the tests of the ledger.
#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attribution/ledger.h"

namespace kepler::attribution {

/// What one zone used since the last tick.
struct ZoneUse {
  Energy energy;
  Power power;
  bool fresh = false;
};

inline std::vector<ZoneCharge> Charges(std::span<const ZoneUse> zones, double busy, Weights& weights) {
  std::vector<ZoneCharge> charges;
  for (const ZoneUse& zone : zones)
    charges.push_back(SplitByRatio(zone.energy, zone.power, zone.fresh, Ratio::Clamped(busy), weights));
  return charges;
}

/// A ledger with one zone, ticked once a second; its energy is split by CPU time.
class LedgerTest : public ::testing::Test {
 protected:
  explicit LedgerTest(RetentionPolicy policy = {std::chrono::minutes(2), Energy::Joules(10), 500},
                      const ProcessLimits& limits = {}, bool shows_pods = false)
      : ledger_(policy, limits, shows_pods) {
    ledger_.SetZones({{"package", "p", "fake"}}, 0);
  }

  void Begin() {
    now_ += std::chrono::seconds(1);
    ledger_.BeginTick(now_);
  }
  const snapshot::Snapshot& Settle(int64_t joules, double ratio = 1.0) {
    return SettleZones({{Energy::Joules(joules), Power::Watts(static_cast<double>(joules)), true}}, ratio);
  }
  const snapshot::Snapshot& SettleZones(const std::vector<ZoneUse>& zones, double ratio = 1, Scan scan = Scan::kDone) {
    return SettleCharges(Charges(zones, ratio, *weights_), scan);
  }
  const snapshot::Snapshot& SettleCharges(const std::vector<ZoneCharge>& charges, Scan scan = Scan::kDone) {
    ledger_.Settle(charges, scan, Identify);
    ledger_.Publish(snapshot_);
    for (const auto& errors : snapshot_.conservation_error)
      for (const Energy error : errors) EXPECT_EQ(error, Energy{});
    return snapshot_;
  }
  static std::shared_ptr<const snapshot::ProcessIdentity> Identify(size_t pid) {
    return std::make_shared<const snapshot::ProcessIdentity>(
        snapshot::ProcessIdentity{static_cast<int32_t>(pid), "work", "", "regular", "", ""});
  }
  Row Process(int32_t pid, Groups groups = {}, std::string comm = "work") {
    snapshot::ProcessIdentity identity = *Identify(static_cast<size_t>(pid));
    identity.comm = std::move(comm);
    return ledger_.OpenProcess(std::make_shared<const snapshot::ProcessIdentity>(identity), groups);
  }
  /// A process that ran for that long in this tick.
  Row Ran(int32_t pid, Nanoseconds cpu, const Groups& groups = {}) {
    const Row row = Process(pid, groups);
    ledger_.UseProcess(row, cpu);
    return row;
  }
  /// A tick in which only this new process runs.
  Row RunAlone(int32_t pid, int64_t joules) {
    Begin();
    const Row row = Ran(pid, std::chrono::milliseconds(300));
    Settle(joules);
    return row;
  }
  /// A tick without energy.
  void Idle() {
    Begin();
    Settle(0);
  }
  static snapshot::ContainerIdentity Box(std::string id, std::string name = "") {
    return {std::move(id), std::move(name), "docker", ""};
  }
  /// A tick in which only the container uses energy.
  const snapshot::Snapshot& ChargeBox(const snapshot::ContainerIdentity& identity, int64_t joules) {
    Begin();
    ledger_.UseResidual({ledger_.Container(identity, kNoRow), kNoRow, kNoRow}, std::chrono::milliseconds(10));
    return Settle(joules);
  }
  int64_t UnlistedJoules(snapshot::Level level, snapshot::Unlisted reason) const {
    return snapshot_.unlisted[std::to_underlying(level)][std::to_underlying(reason)][0].microjoules() / 1'000'000;
  }
  static int64_t Joules(Energy energy) { return energy.microjoules() / 1'000'000; }

  Ledger ledger_;
  std::unique_ptr<Weights> weights_ = std::make_unique<CpuTimeWeights>(ledger_.cpu_usage());
  snapshot::Snapshot snapshot_;
  BootTime now_{};
};

}  // namespace kepler::attribution
