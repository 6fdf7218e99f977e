#include "export/series/rows.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

namespace kepler::series {

using snapshot::Level;

namespace {

/// The gates of the levels are in the order of the levels.
static_assert(kPod == kProcess << std::to_underlying(Level::kPod));
static_assert(kUser == kProcess << std::to_underlying(Level::kUser));
uint32_t GateOf(Level level) { return kProcess << std::to_underlying(level); }

/// Namespaces and owners are known only if pods are named.
bool IsExported(const Context& c, Level level) {
  const bool needs_names = level == Level::kNamespace || level == Level::kOwner;
  return (c.selection.levels & GateOf(level)) != 0 && (!needs_names || c.snapshot.pod_informer);
}

void AddUnattributed(const Context& c, status::Domain domain, Visitor& out) {
  ForEachZone(c, domain, [&](const auto& zone, size_t z) {
    out.Add({zone.path, zone.name}, Of(c.snapshot.unattributed[z]), c.snapshot.node[z].begin);
  });
}

void AddUnlisted(const Context& c, status::Domain domain, Visitor& out) {
  for (const Level level : snapshot::kAllLevels) {
    if (!IsExported(c, level)) continue;
    if (domain == status::Domain::kIdleCpu && !SharesIdle(c.snapshot, level)) continue;
    for (const auto reason : snapshot::kAllUnlisted) {
      const auto& energy = c.snapshot.unlisted[static_cast<size_t>(level)][static_cast<size_t>(reason)];
      ForEachZone(c, domain, [&](const auto& zone, size_t z) {
        out.Add({ToString(level), zone.path, ToString(reason), zone.name}, Of(energy[z]), c.snapshot.node[z].begin);
      });
    }
  }
}

void AddUnnamed(const Context& c, status::Domain domain, Visitor& out) {
  if (!c.snapshot.pod_informer) return;
  for (const Level level : {Level::kContainer, Level::kPod, Level::kNamespace, Level::kOwner}) {
    if (!IsExported(c, level)) continue;
    const auto& energy = c.snapshot.unnamed[static_cast<size_t>(level)];
    ForEachZone(c, domain,
                [&](const auto& zone, size_t z) { out.Add({ToString(level), zone.path, zone.name}, Of(energy[z])); });
  }
}

}  // namespace

Context::Context(const snapshot::Snapshot& of, const Selection& with, const Extras& more)
    : snapshot(of), selection(with), extras(more) {
  ForEachCpuZone(*this, [&](const auto& zone, size_t z) {
    zones.push_back({z, zone.name});
    if (of.node[z].fresh) fresh_zones.push_back(zones.back());
  });
  ForEachZone(*this, status::Domain::kIdleCpu,
              [&](const auto& zone, size_t z) { idle_zones.push_back({z, zone.name}); });
}

void NodeCpuSeconds(const Context& c, Visitor& out) { out.Add({}, Of(c.snapshot.features.cpu)); }

void NodeSteal(const Context& c, Visitor& out) { out.Add({}, Of(c.snapshot.features.steal)); }

void NodeSoftirqs(const Context& c, Visitor& out) {
  const auto& softirqs = c.snapshot.features.softirqs;
  if (!softirqs) return;
  out.Add({"block"}, Of(softirqs->block));
  out.Add({"net_rx"}, Of(softirqs->net_rx));
  out.Add({"net_tx"}, Of(softirqs->net_tx));
}

void NodeBusyRatio(const Context& c, Visitor& out) {
  using snapshot::RatioMethod;
  out.Add({ToString(RatioMethod::kExact)}, Of(c.snapshot.exact_ratio.value()));
  out.Add({ToString(RatioMethod::kProcStat)}, Of(c.snapshot.proc_stat_ratio.value()));
}

void NodeCpuInfo(const Context& c, Visitor& out) {
  if (!c.snapshot.cpus) return;
  for (const auto& cpu : *c.snapshot.cpus)
    out.Add({cpu.core_id, cpu.model_name, cpu.physical_id, cpu.processor, cpu.vendor_id}, Of(kOne));
}

void NodeIdleBaselineInfo(const Context& c, Visitor& out) {
  if (c.snapshot.idle_baselines.empty()) return;
  ForEachCpuZone(c, [&](const auto& zone, size_t z) {
    out.Add({ToString(c.snapshot.idle_baselines[z].confidence), zone.path, zone.name}, Of(kOne));
  });
}

namespace {

/// Calls add(identity, zone, energy, begin) for every zone of a domain and every row.
template <class Identity, class Add>
void AddRollUp(const Context& c, const snapshot::RollUpTable<Identity>& of, status::Domain domain, const Add& add) {
  for (size_t row = 0; row < of.rows(); ++row)
    ForEachZone(c, domain, [&](const auto& zone, size_t z) {
      add(*of.identity[row], zone, Of(of.energy_at(row, z)), of.begin[row]);
    });
}

void AddNamespaces(const Context& c, status::Domain domain, Visitor& out) {
  if (!c.snapshot.pod_informer) return;
  AddRollUp(c, c.snapshot.namespaces, domain, [&](const auto& owner, const auto& zone, const auto& energy, auto begin) {
    out.Add({owner.name_space, zone.path, zone.name}, energy, begin);
  });
}

void AddOwners(const Context& c, status::Domain domain, Visitor& out) {
  if (!c.snapshot.pod_informer) return;
  AddRollUp(c, c.snapshot.owners, domain, [&](const auto& owner, const auto& zone, const auto& energy, auto begin) {
    out.Add({owner.name_space, owner.kind, owner.name, zone.path, zone.name}, energy, begin);
  });
}

void AddUsers(const Context& c, status::Domain domain, Visitor& out) {
  AddRollUp(c, c.snapshot.users, domain, [&](const auto& user, const auto& zone, const auto& energy, auto begin) {
    std::array<char, 16> uid;
    const char* const end = std::to_chars(uid.begin(), uid.end(), user.uid).ptr;
    out.Add({zone.path, std::string_view(uid.data(), end), user.name, zone.name}, energy, begin);
  });
}

}  // namespace

void NamespaceJoules(const Context& c, Visitor& out) { AddNamespaces(c, status::Domain::kCpu, out); }
void NamespaceIdleJoules(const Context& c, Visitor& out) { AddNamespaces(c, status::Domain::kIdleCpu, out); }
void OwnerJoules(const Context& c, Visitor& out) { AddOwners(c, status::Domain::kCpu, out); }
void OwnerIdleJoules(const Context& c, Visitor& out) { AddOwners(c, status::Domain::kIdleCpu, out); }
void UserJoules(const Context& c, Visitor& out) { AddUsers(c, status::Domain::kCpu, out); }
void UserIdleJoules(const Context& c, Visitor& out) {
  if (SharesIdle(c.snapshot, Level::kUser)) AddUsers(c, status::Domain::kIdleCpu, out);
}
void NodeUnattributedJoules(const Context& c, Visitor& out) { AddUnattributed(c, status::Domain::kCpu, out); }
void NodeUnlistedJoules(const Context& c, Visitor& out) { AddUnlisted(c, status::Domain::kCpu, out); }
void NodeUnnamedJoules(const Context& c, Visitor& out) { AddUnnamed(c, status::Domain::kCpu, out); }
void IdleUnattributedJoules(const Context& c, Visitor& out) { AddUnattributed(c, status::Domain::kIdleCpu, out); }
void IdleUnlistedJoules(const Context& c, Visitor& out) { AddUnlisted(c, status::Domain::kIdleCpu, out); }
void IdleUnnamedJoules(const Context& c, Visitor& out) { AddUnnamed(c, status::Domain::kIdleCpu, out); }

void IdleAttributionInfo(const Context& c, Visitor& out) {
  ForEachZone(c, status::Domain::kIdleCpu,
              [&](const auto& zone, size_t z) { out.Add({ToString(c.snapshot.methods[z]), zone.name}, Of(kOne)); });
}

void ConservationError(const Context& c, Visitor& out) {
  const auto add = [&](std::string_view level, const std::vector<Energy>& error) {
    const auto& zones = c.snapshot.zones;
    for (size_t z = 0; z < error.size(); ++z) {
      // Zones of two meters can have one name, and so can a zone and its idle energy. The first of them gets the sum.
      const auto same = [&](const auto& zone) { return zone.name == zones[z].name; };
      if (std::any_of(zones.begin(), zones.begin() + static_cast<std::ptrdiff_t>(z), same)) continue;
      Energy sum;  // sum of absolute values: errors must not cancel each other
      for (size_t other = z; other < error.size(); ++other)
        if (same(zones[other])) sum += error[other] < Energy{} ? Energy{} - error[other] : error[other];
      out.Add({level, zones[z].name}, Of(sum));
    }
  };
  if ((c.selection.levels & kNode) != 0) add("node", c.snapshot.conservation_error[snapshot::kLevels]);
  for (const Level level : snapshot::kAllLevels)
    if (IsExported(c, level)) add(ToString(level), c.snapshot.conservation_error[static_cast<size_t>(level)]);
}

void EnergySourceInfo(const Context& c, Visitor& out) {
  for (const auto& zone : c.snapshot.zones)
    if (zone.domain != status::Domain::kIdleCpu) out.Add({zone.path, zone.source, zone.name}, Of(kOne));
}

namespace {

void AddPlatform(const status::PlatformReading& reading, const Number& value, Visitor& out) {
  const status::PlatformSensor& sensor = reading.sensor;
  out.Add({sensor.bmc_id, sensor.chassis_id, reading.source, sensor.source_id, sensor.source_name, sensor.source_type},
          value);
}

}  // namespace

void PlatformCounterDifference(const Context& c, Visitor& out) {
  for (const auto& reading : c.snapshot.platform)
    if (reading.check) AddPlatform(reading, Of(reading.check->difference), out);
}

void PlatformCounterRefused(const Context& c, Visitor& out) {
  for (const auto& reading : c.snapshot.platform)
    if (reading.check) AddPlatform(reading, Of(reading.check->refused), out);
}

void PlatformJoules(const Context& c, Visitor& out) {
  for (const auto& reading : c.snapshot.platform) AddPlatform(reading, Of(reading.energy), out);
}

void PlatformWatts(const Context& c, Visitor& out) {
  for (const auto& reading : c.snapshot.platform)
    if (reading.fresh) AddPlatform(reading, Of(reading.power.watts()), out);
}

void PlatformSensorInfo(const Context& c, Visitor& out) {
  for (const auto& reading : c.snapshot.platform)
    if (reading.is_counted) AddPlatform(reading, Of(kOne), out);
}

}  // namespace kepler::series
