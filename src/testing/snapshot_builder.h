#pragma once
// Snapshots for the tests and benchmarks of what reads them.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "snapshot/snapshot.h"

namespace kepler::testing {

/// A snapshot with `names.size()` fresh zones and nothing in it: every figure is 0, every table empty.
inline snapshot::Snapshot EmptySnapshot(const std::vector<std::string>& names) {
  snapshot::Snapshot s;
  s.sequence = 1;
  s.taken_at = WallTime(std::chrono::seconds(1'700'000'000));
  s.interval = std::chrono::seconds(5);
  for (const auto& name : names) {
    s.zones.push_back({name, "aggregated-" + name, "fake"});
    s.node.emplace_back().fresh = true;
    s.domains.push_back({1, 1});
  }
  const size_t zones = names.size();
  s.processes.zones = s.containers.zones = s.vms.zones = s.pods.zones = zones;
  s.methods.resize(zones);
  s.unattributed.resize(zones);
  for (auto& level : s.unlisted)
    for (auto& reason : level) reason.resize(zones);
  for (auto& level : s.unnamed) level.resize(zones);
  for (auto& level : s.conservation_error) level.resize(zones);
  s.activity.name = "procfs";
  s.activity.up = true;
  s.cpus = std::make_shared<const std::vector<CpuInfo>>();
  return s;
}

/// A process outside of any container, or in the one named.
inline snapshot::ProcessIdentity Process(int32_t pid, std::string comm, std::string exe = {},
                                         std::string container_id = {}) {
  const std::string_view type = container_id.empty() ? "regular" : "container";
  return {pid, std::move(comm), std::move(exe), type, std::move(container_id), {}};
}

/// Appends a row; energy and watts are those of each zone in turn, missing ones 0.
template <class Identity>
void AddRow(snapshot::Table<Identity>& table, Identity identity, std::vector<Energy> energy = {},
            std::vector<double> watts = {}, Nanoseconds cpu = {}, snapshot::State state = snapshot::State::kRunning) {
  energy.resize(table.zones);
  watts.resize(table.zones);
  table.identity.push_back(std::make_shared<const Identity>(std::move(identity)));
  table.state.push_back(state);
  table.cpu.push_back(cpu);
  if (!table.events.empty()) table.events.emplace_back();
  table.energy.insert(table.energy.end(), energy.begin(), energy.end());
  table.watts.insert(table.watts.end(), watts.begin(), watts.end());
}

/// A node as a benchmark wants it: `processes` rows with plausible names and figures, one in ten in a container.
inline snapshot::Snapshot BusySnapshot(const std::vector<std::string>& zones, size_t processes) {
  snapshot::Snapshot s = EmptySnapshot(zones);
  uint64_t random = 88172645463325252;  // xorshift: the same figures every time
  const auto next = [&](uint64_t below) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return random % below;
  };
  for (size_t i = 0; i < processes; ++i) {
    std::vector<Energy> energy;
    std::vector<double> watts;
    for (size_t z = 0; z < zones.size(); ++z) {
      energy.push_back(Energy::Microjoules(static_cast<int64_t>(next(5'000'000'000))));
      watts.push_back(next(3) == 0 ? static_cast<double>(next(40'000'000)) / 7e6 : 0.0);
    }
    const bool contained = i % 10 == 0;
    AddRow(
        s.processes,
        Process(static_cast<int32_t>(1000 + i), fmt::format("worker-{}", next(200)),
                fmt::format("/usr/lib/service-{}/bin/worker", next(200)), contained ? fmt::format("{:064x}", i) : ""),
        std::move(energy), std::move(watts), Nanoseconds(next(100'000'000'000)));
  }
  return s;
}

}  // namespace kepler::testing
