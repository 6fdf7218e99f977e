#include <algorithm>
#include <utility>

#include "attribution/ledger.h"

// Ledger: writes the totals and accounts into a snapshot.

namespace kepler::attribution {

using snapshot::Level;

void Ledger::Publish(snapshot::Snapshot& out) {
  out.zones = zones_;
  out.node = node_;
  out.methods = methods_;
  processes_.Publish(watts_per_uj_, out.processes);
  containers_.Publish(watts_per_uj_, out.containers);
  vms_.Publish(watts_per_uj_, out.vms);
  pods_.Publish(watts_per_uj_, out.pods);
  out.unattributed = unattributed_;
  out.unattributed_cpu = unattributed_cpu_;
  out.cut = listing_.cut();
  PublishUnlisted(out);
  PublishUnnamed(out);
  PublishRollUps(out);
  CheckSums(out);
  listing_.Published(processes_);
}

void Ledger::PublishUnlisted(snapshot::Snapshot& out) const {
  out.unlisted = unlisted_;
  const auto add = [&](Level level, const auto& accounts) {
    auto& reasons = out.unlisted[std::to_underlying(level)];
    std::ranges::copy(accounts.departed(), reasons[std::to_underlying(snapshot::Unlisted::kDeparted)].begin());
    std::ranges::copy(accounts.capped(), reasons[std::to_underlying(snapshot::Unlisted::kCapped)].begin());
  };
  add(Level::kProcess, processes_);
  add(Level::kContainer, containers_);
  add(Level::kVm, vms_);
  add(Level::kPod, pods_);
}

void Ledger::PublishUnnamed(snapshot::Snapshot& out) const {
  for (ByZone& level : out.unnamed) level.assign(zones_.size(), Energy{});
  containers_.AddPending(out.unnamed[std::to_underlying(Level::kContainer)]);
  pods_.AddPending(out.unnamed[std::to_underlying(Level::kPod)]);
}

void Ledger::PublishRollUps(snapshot::Snapshot& out) {
  roll_ups_.Publish(out);
  users_.Publish(out);
  const auto outside = std::to_underlying(snapshot::Unlisted::kOutside);
  for (const Level level : {Level::kNamespace, Level::kOwner})
    out.unlisted[std::to_underlying(level)][outside] = out.unlisted[std::to_underlying(Level::kPod)][outside];
}

/// Computes the sums from the snapshot only, as a reader of the snapshot would.
void Ledger::CheckSums(snapshot::Snapshot& out) {
  const size_t zones = out.zones.size();
  const auto level = [&](Level which, const auto& table) {
    ByZone& error = out.conservation_error[std::to_underlying(which)];
    error.assign(zones, Energy{});
    for (size_t z = 0; z < zones; ++z) {
      error[z] = out.node[z].active - out.unattributed[z] - out.unnamed[std::to_underlying(which)][z];
      for (const ByZone& reason : out.unlisted[std::to_underlying(which)]) error[z] -= reason[z];
    }
    for (size_t row = 0; row < table.rows(); ++row)
      for (size_t z = 0; z < table.zones; ++z) error[z] -= table.energy_at(row, z);
  };
  level(Level::kProcess, out.processes);
  level(Level::kContainer, out.containers);
  level(Level::kVm, out.vms);
  level(Level::kPod, out.pods);
  level(Level::kNamespace, out.namespaces);
  level(Level::kOwner, out.owners);
  level(Level::kUser, out.users);
  ByZone& node = out.conservation_error[snapshot::kLevels];
  node.assign(zones, Energy{});
  for (size_t z = 0; z < zones; ++z) {
    node[z] = out.node[z].total - out.node[z].active - out.node[z].idle;
    if (out.zones[z].domain != status::Domain::kIdleCpu) continue;
    status::Zone of = out.zones[z];  // whose idle energy it is
    of.domain = status::Domain::kCpu;
    const auto found = std::ranges::find(out.zones, of);
    if (found != out.zones.end())
      node[z] += out.node[static_cast<size_t>(found - out.zones.begin())].idle - out.node[z].total;
  }
}

}  // namespace kepler::attribution
