#pragma once
// Functions that emit the rows of families about the node and its energy (energy_families.cc), and the data of a visit.
#include <cstdint>
#include <string_view>
#include <vector>

#include "export/series/visit.h"

namespace kepler::series {

inline constexpr uint64_t kOne = 1;  // the value of info metrics

/// Data for the rows of a family. Lives for one visit.
struct Context {
  Context(const snapshot::Snapshot& of, const Selection& with, const Extras& more);

  const snapshot::Snapshot& snapshot;
  const Selection& selection;
  const Extras& extras;
  std::vector<ZoneLabel> zones;        // zones that workloads share by CPU time
  std::vector<ZoneLabel> fresh_zones;  // the zones of `zones` with known watts
  std::vector<ZoneLabel> idle_zones;   // idle energy of `zones`, if workloads share idle energy

  [[nodiscard]] bool HasKubernetesLabels() const { return selection.labels == LabelSet::kKubernetes; }
};

/// Returns true if workloads of `level` share idle energy. A split by requests covers only containers and their pods.
[[nodiscard]] inline bool SharesIdle(const snapshot::Snapshot& snapshot, snapshot::Level level) {
  using snapshot::Level;
  return snapshot.idle_payers == snapshot::IdlePayers::kByUse || level == Level::kContainer || level == Level::kPod;
}

/// Calls f(zone, its index) for every zone of a domain.
template <class F>
void ForEachZone(const Context& c, status::Domain domain, const F& f) {
  for (size_t z = 0; z < c.snapshot.zones.size(); ++z)
    if (c.snapshot.zones[z].domain == domain) f(c.snapshot.zones[z], z);
}

/// Calls f(zone, its index) for every zone in the CPU families.
template <class F>
void ForEachCpuZone(const Context& c, const F& f) {
  ForEachZone(c, status::Domain::kCpu, f);
}

// Labels: node_name, path, zone.
template <auto kMember, status::Domain kDomain = status::Domain::kCpu>
void NodeJoules(const Context& c, Visitor& out) {
  ForEachZone(c, kDomain, [&](const auto& zone, size_t z) {
    out.Add({zone.path, zone.name}, Of(c.snapshot.node[z].*kMember), c.snapshot.node[z].begin);
  });
}
template <auto kMember, status::Domain kDomain = status::Domain::kCpu>
void NodeWatts(const Context& c, Visitor& out) {
  ForEachZone(c, kDomain, [&](const auto& zone, size_t z) {
    const snapshot::NodeZone& node = c.snapshot.node[z];
    if (node.fresh) out.Add({zone.path, zone.name}, Of((node.*kMember).watts()));
  });
}
/// A value of the snapshot; label node_name.
template <auto kMember>
void OfSnapshot(const Context& c, Visitor& out) {
  out.Add({}, Of(c.snapshot.*kMember));
}
template <auto kMember>
void OfExtras(const Context& c, Visitor& out) {
  out.Add({}, Of(c.extras.*kMember));
}
void NodeCpuSeconds(const Context& c, Visitor& out);
/// Emits a row if the value is known.
template <auto kMember>
void NodeFeature(const Context& c, Visitor& out) {
  if (c.snapshot.features.*kMember) out.Add({}, Of(*(c.snapshot.features.*kMember)));
}
void NodeSteal(const Context& c, Visitor& out);
void NodeSoftirqs(const Context& c, Visitor& out);  // only if they are known; labels: node_name, type
/// Emits rows only if hardware events are counted.
template <auto kMember>
void NodeEvents(const Context& c, Visitor& out) {
  if (c.snapshot.features.events) out.Add({}, Of((*c.snapshot.features.events).*kMember));
}
void NodeBusyRatio(const Context& c, Visitor& out);  // labels: method, node_name
void NodeCpuInfo(const Context& c, Visitor& out);
/// Emits a row per zone with a baseline and known watts; labels: node_name, path, zone.
template <auto kMember>
void NodeIdleBaseline(const Context& c, Visitor& out) {
  if (c.snapshot.idle_baselines.empty()) return;
  ForEachCpuZone(c, [&](const auto& zone, size_t z) {
    const snapshot::IdleBaseline& baseline = c.snapshot.idle_baselines[z];
    if (c.snapshot.node[z].fresh && baseline.confidence != snapshot::Confidence::kLearning)
      out.Add({zone.path, zone.name}, Of((baseline.*kMember).watts()));
  });
}
void NodeIdleBaselineInfo(const Context& c, Visitor& out);  // labels: confidence, node_name, path, zone
void NodeUnattributedJoules(const Context& c, Visitor& out);
void NodeUnlistedJoules(const Context& c, Visitor& out);
/// Emits rows only if pods are named; labels: kNodeUnnamed.
void NodeUnnamedJoules(const Context& c, Visitor& out);
// Emits rows only if pods are named.
void NamespaceJoules(const Context& c, Visitor& out);      // labels: kNamespaceZone
void NamespaceIdleJoules(const Context& c, Visitor& out);  // labels: kNamespaceZone
void OwnerJoules(const Context& c, Visitor& out);          // labels: kOwnerZone
void OwnerIdleJoules(const Context& c, Visitor& out);      // labels: kOwnerZone
void UserJoules(const Context& c, Visitor& out);           // labels: kUserZone
void UserIdleJoules(const Context& c, Visitor& out);       // labels: kUserZone
// Emits rows only if workloads share idle energy.
void IdleUnattributedJoules(const Context& c, Visitor& out);
void IdleUnlistedJoules(const Context& c, Visitor& out);
void IdleUnnamedJoules(const Context& c, Visitor& out);
void IdleAttributionInfo(const Context& c, Visitor& out);  // labels: method, node_name, zone
void ConservationError(const Context& c, Visitor& out);
void EnergySourceInfo(const Context& c, Visitor& out);
// Labels: kPlatformSensor.
void PlatformCounterDifference(const Context& c, Visitor& out);  // sensors with an energy counter of their own
void PlatformCounterRefused(const Context& c, Visitor& out);
void PlatformJoules(const Context& c, Visitor& out);
void PlatformWatts(const Context& c, Visitor& out);
void PlatformSensorInfo(const Context& c, Visitor& out);  // sensors of the total of the machine
/// Emits a row only with a platform meter and a CPU meter.
template <auto kMember>
void OtherJoules(const Context& c, Visitor& out) {
  if (c.snapshot.other) out.Add({}, Of((*c.snapshot.other).*kMember));
}

}  // namespace kepler::series
