#pragma once
// Functions that emit the rows of families about the agent (agent_families.cc): its sources, models, clients and
// exporters.
#include "export/series/rows.h"

namespace kepler::series {

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
