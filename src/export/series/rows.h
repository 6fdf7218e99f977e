#pragma once
// Functions that emit the rows of each family. The tables of families refer to these functions.
#include <cstdint>
#include <string_view>
#include <vector>

#include "export/series/visit.h"

namespace kepler::series {

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

// The agent itself.
void AgentStart(const Context& c, Visitor& out);
void ActivityAuditLast(const Context& c, Visitor& out);  // only after the first audit
void ActivityCpuTimeInfo(const Context& c, Visitor& out);
void ActivitySourceInfo(const Context& c, Visitor& out);
void AttributionInfo(const Context& c, Visitor& out);
void BuildInfoRow(const Context& c, Visitor& out);
void CutSeries(const Context& c, Visitor& out);           // only if there is a limit; labels: limit, node_name
void RefusedClaims(const Context& c, Visitor& out);       // labels: kind, node_name
void DeniedHttpRequests(const Context& c, Visitor& out);  // labels: node_name, reason
void HandlerErrors(const Context& c, Visitor& out);
/// Number of samples that each process has in the families with the names of 0.7.
[[nodiscard]] size_t LegacySamplesPerProcess(const Context& c);

// Emits rows only if a zone is estimated.
void ModelErrorKnown(const Context& c, Visitor& out);
void ModelErrorRatio(const Context& c, Visitor& out);
void ModelErrorWatts(const Context& c, Visitor& out);
void ModelInfo(const Context& c, Visitor& out);  // labels: kZoneModel
/// Emits rows only with attribution.weights: model; labels: kSharedBy.
void WorkloadModelInfo(const Context& c, Visitor& out);
/// Totals over all estimates.
template <auto kMember>
void OfEstimates(const Context& c, Visitor& out) {
  if (c.snapshot.estimates.empty()) return;
  auto sum = c.snapshot.estimates.front().*kMember;
  for (size_t i = 1; i < c.snapshot.estimates.size(); ++i) sum += c.snapshot.estimates[i].*kMember;
  out.Add({}, Of(sum));
}
/// Emits rows only if trained models are loaded from a file or URL.
template <auto kMember>
void OfModelStoreWhereKnown(const Context& c, Visitor& out) {
  if (!c.snapshot.model_store) return;
  if (const auto& value = (*c.snapshot.model_store).*kMember) out.Add({}, Of(*value));
}
template <auto kMember>
void OfModelStore(const Context& c, Visitor& out) {
  if (c.snapshot.model_store) out.Add({}, Of((*c.snapshot.model_store).*kMember));
}

/// A value of each meter; labels node_name, source.
template <auto kMember>
void OfSources(const Context& c, Visitor& out) {
  for (const auto& source : c.snapshot.sources) out.Add({source.name}, Of(source.*kMember));
}
/// A value that the meters and the activity source have in common.
template <auto kOfMeter, auto kOfActivity>
void OfEverySource(const Context& c, Visitor& out) {
  OfSources<kOfMeter>(c, out);
  const status::ActivityStatus& activity = c.snapshot.activity;
  if (!activity.name.empty()) out.Add({activity.name}, Of(activity.*kOfActivity));
}
/// Labels: node_name, source, zone.
template <auto kMember>
void OfZoneDomains(const Context& c, Visitor& out) {
  for (size_t z = 0; z < c.snapshot.domains.size(); ++z)
    out.Add({c.snapshot.zones[z].source, c.snapshot.zones[z].name}, Of(uint64_t{c.snapshot.domains[z].*kMember}));
}
template <auto kMember>
void OfActivity(const Context& c, Visitor& out) {
  out.Add({}, Of(c.snapshot.activity.*kMember));
}
/// Emits rows only after the first audit.
template <auto kMember>
void OfAudit(const Context& c, Visitor& out) {
  const status::AuditStatus& audit = c.snapshot.activity.audit;
  if (audit.last != BootTime{}) out.Add({}, Of(audit.*kMember));
}
/// Emits rows only if the activity source has a kernel side.
template <auto kMember>
void OfKernelSide(const Context& c, Visitor& out) {
  if (!c.snapshot.activity.records.empty()) OfActivity<kMember>(c, out);
}
/// Labels: kind, node_name.
template <auto kMember>
void ActivityRecords(const Context& c, Visitor& out) {
  for (const auto& records : c.snapshot.activity.records) {
    if (kMember == &status::RecordCount::taken && records.only_dropped) continue;
    out.Add({records.kind}, Of(records.*kMember));
  }
}
template <auto kMember>
void OfPipeline(const Context& c, Visitor& out) {
  out.Add({}, Of(c.snapshot.pipeline.*kMember));
}
/// Labels: kSourceInterface.
void SourceInterfaceInfo(const Context& c, Visitor& out);
/// Emits rows only if pods are named; labels: kModeSource.
void PodInformerInfo(const Context& c, Visitor& out);
template <auto kMember>
void OfPodInformer(const Context& c, Visitor& out) {
  if (c.snapshot.pod_informer) out.Add({}, Of((*c.snapshot.pod_informer).*kMember));
}
/// Labels: kind, node_name.
inline void PodInformerLeftOut(const Context& c, Visitor& out) {
  if (!c.snapshot.pod_informer) return;
  out.Add({"container"}, Of(c.snapshot.pod_informer->left_out_containers));
  out.Add({"pod"}, Of(c.snapshot.pod_informer->left_out_pods));
}
template <auto kMember>
void OfHttp(const Context& c, Visitor& out) {
  if (c.extras.http != nullptr) out.Add({}, Of(c.extras.http->*kMember));
}
template <auto kMember>
void OfHttpWhereKnown(const Context& c, Visitor& out) {
  if (c.extras.http != nullptr && c.extras.http->*kMember) out.Add({}, Of(*(c.extras.http->*kMember)));
}
/// A value of each exporter that pushes; labels: kExporter.
template <auto kMember>
void OfPushes(const Context& c, Visitor& out) {
  for (const status::PushStatus& push : c.extras.pushes) out.Add({push.exporter}, Of(push.*kMember));
}
/// Labels: kExporterReason.
template <class Reason, auto kMember>
void OfPushReasons(const Context& c, Visitor& out) {
  for (const status::PushStatus& push : c.extras.pushes)
    for (size_t i = 0; i < (push.*kMember).size(); ++i)
      out.Add({push.exporter, ToString(static_cast<Reason>(i))}, Of((push.*kMember)[i]));
}
template <auto kMember>
void OfSelf(const Context& c, Visitor& out) {
  out.Add({}, Of(c.extras.self->*kMember));
}
/// A counter of the kernel, which may be as old as the machine's start. Emits a row if it is known.
template <auto kMember>
void OfSelfSinceBoot(const Context& c, Visitor& out) {
  constexpr BootTime kBoot{Nanoseconds(1)};  // {} is the start of the agent
  if (c.extras.self->*kMember) out.Add({}, Of(*(c.extras.self->*kMember)), kBoot);
}

}  // namespace kepler::series
