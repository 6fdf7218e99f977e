#include "export/series/agent_rows.h"

#include "export/series/legacy_rows.h"

namespace kepler::series {
namespace {

/// Calls f(model) for every model that estimates a zone.
template <class F>
void ForEachModel(const Context& c, const F& f) {
  for (const auto& estimate : c.snapshot.estimates)
    if (!estimate.of_workloads)
      for (const auto& used : *estimate.models) f(used);
}

}  // namespace

void PodInformerInfo(const Context& c, Visitor& out) {
  if (c.snapshot.pod_informer) out.Add({c.snapshot.pod_informer->mode, c.snapshot.pod_informer->source}, Of(kOne));
}

void SourceInterfaceInfo(const Context& c, Visitor& out) {
  for (const status::SourceStatus& source : c.snapshot.sources)
    if (!source.interface.empty()) out.Add({source.interface, source.name}, Of(kOne));
}

void ModelErrorKnown(const Context& c, Visitor& out) {
  ForEachModel(c, [&](const auto& used) { out.Add({used.zone}, Of(!used.basis.empty())); });
}

void ModelErrorRatio(const Context& c, Visitor& out) {
  ForEachModel(c, [&](const auto& used) {
    if (used.error_ratio > 0) out.Add({used.basis, used.zone}, Of(used.error_ratio));
  });
}

void ModelErrorWatts(const Context& c, Visitor& out) {
  ForEachModel(c, [&](const auto& used) {
    if (used.error_watts > 0) out.Add({used.basis, used.zone}, Of(used.error_watts));
  });
}

void ModelInfo(const Context& c, Visitor& out) {
  ForEachModel(c, [&](const auto& used) {
    out.Add({used.features, used.machine, used.mae_watts, used.mape, used.match, used.name,
             used.only_load ? "load" : "machine", used.source, used.trainer, used.zone},
            Of(kOne));
  });
}

void WorkloadModelInfo(const Context& c, Visitor& out) {
  for (const auto& estimate : c.snapshot.estimates) {
    if (!estimate.of_workloads) continue;
    for (const auto& used : *estimate.models)
      out.Add({used.features, used.machine, used.mae_watts, used.mape, used.match, used.name, used.source, used.trainer,
               used.zone},
              Of(kOne));
  }
}

void AttributionInfo(const Context& c, Visitor& out) {
  ForEachCpuZone(c, [&](const auto& zone, size_t z) {
    out.Add({ToString(c.snapshot.methods[z]), ToString(c.snapshot.ratio_method), zone.name}, Of(kOne));
  });
}

void AgentStart(const Context& c, Visitor& out) { out.Add({}, Of(c.snapshot.StartOf({}))); }

void ActivityAuditLast(const Context& c, Visitor& out) {
  const BootTime last = c.snapshot.activity.audit.last;
  if (last != BootTime{}) out.Add({}, Of(c.snapshot.WallOf(last)));
}

void ActivityCpuTimeInfo(const Context& c, Visitor& out) {
  if (!c.snapshot.activity.name.empty())
    out.Add({ToString(c.snapshot.activity.time.interrupts), ToString(c.snapshot.activity.time.steal)}, Of(kOne));
}

void ActivitySourceInfo(const Context& c, Visitor& out) {
  if (!c.snapshot.activity.name.empty()) out.Add({c.snapshot.activity.name}, Of(kOne));
}

void BuildInfoRow(const Context& c, Visitor& out) {
  const BuildInfo& build = c.selection.build;
  out.Add({build.arch, build.branch, build.compiler, build.revision, build.version}, Of(kOne));
}

void CutSeries(const Context& c, Visitor& out) {
  if (!c.snapshot.cut) return;
  // A name that is in both sets is exposed once.
  const bool own_events = c.selection.names == NameSet::kV011 && !c.snapshot.processes.events.empty();
  const size_t of_events = own_events ? 3 : 0;
  const size_t watts = c.extras.stale ? 0 : c.fresh_zones.size();
  const size_t idle = SharesIdle(c.snapshot, snapshot::Level::kProcess) ? c.idle_zones.size() : 0;
  const size_t state = c.selection.state_label ? 0 : 1;
  uint64_t each = c.zones.size() + watts + idle + 1 + of_events + state;
  if (c.selection.names == NameSet::kV07) each = 0;
  if (c.selection.names != NameSet::kV011) each += LegacySamplesPerProcess(c);
  out.Add({"kernel_threads"}, Of(c.snapshot.cut->kernel_threads * each));
  out.Add({"max_processes"}, Of(c.snapshot.cut->max * each));
  out.Add({"min_watts"}, Of(c.snapshot.cut->min_power * each));
}

void RefusedClaims(const Context& c, Visitor& out) {
  const status::RefusedClaims& refused = c.snapshot.pipeline.refused_claims;
  out.Add({"container"}, Of(refused.containers));
  out.Add({"pod"}, Of(refused.pods));
  out.Add({"vm"}, Of(refused.vms));
}

void DeniedHttpRequests(const Context& c, Visitor& out) {
  if (c.extras.http == nullptr) return;
  const status::DeniedRequests& denied = c.extras.http->requests_denied;
  out.Add({"backoff"}, Of(denied.backoff));
  out.Add({"busy"}, Of(denied.busy));
  out.Add({"no_credentials"}, Of(denied.no_credentials));
  out.Add({"overload"}, Of(denied.overload));
  out.Add({"password"}, Of(denied.password));
  out.Add({"rate_limit"}, Of(denied.rate_limit));
}

void HandlerErrors(const Context& c, Visitor& out) {
  out.Add({"encoding"}, Of(c.extras.failed));
  // The agent gathers no families. The series exists because alerts written for upstream select it.
  out.Add({"gathering"}, Of(uint64_t{0}));
}

}  // namespace kepler::series
