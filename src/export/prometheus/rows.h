#pragma once
// The rows of each family, as the table in families.cc names them.
#include <cstdint>
#include <string>
#include <vector>

#include "export/prometheus/render.h"
#include "export/prometheus/sample_writer.h"

namespace kepler::prometheus {

/// What a family's rows are made from. Lives for one rendering.
struct RowContext {
  RowContext(const snapshot::Snapshot& of, const RenderOptions& with, const RenderInput& input);

  /// The end of a row's labels for a zone: `,zone="core"} `.
  struct ZoneTail {
    size_t index;
    std::string text;
  };

  const snapshot::Snapshot& snapshot;
  const RenderOptions& options;
  const snapshot::SelfStatus* self;
  const snapshot::HttpStatus* http;
  bool stale;
  uint64_t failed;  // renderings
  uint64_t log_lines_dropped;
  std::vector<ZoneTail> zones;
  std::vector<ZoneTail> fresh_zones;  // the watts of the others are unknown
  uint64_t exposed_series = 0;        // samples in the whole exposition; known in the second pass
};

using Rows = void (*)(const RowContext&, SampleWriter&);

// Labels: node_name, path, zone.
void AddNodeJoules(const RowContext& c, SampleWriter& out, Energy snapshot::NodeZone::* member);
void AddNodeWatts(const RowContext& c, SampleWriter& out, Power snapshot::NodeZone::* member);
template <auto kMember>
void NodeJoules(const RowContext& c, SampleWriter& out) {
  AddNodeJoules(c, out, kMember);
}
template <auto kMember>
void NodeWatts(const RowContext& c, SampleWriter& out) {
  AddNodeWatts(c, out, kMember);
}
void NodeUsageRatio(const RowContext& c, SampleWriter& out);
void NodeBusyRatio(const RowContext& c, SampleWriter& out);  // labels: method, node_name
void NodeCpuInfo(const RowContext& c, SampleWriter& out);
void NodeUnattributedJoules(const RowContext& c, SampleWriter& out);
void NodeUnattributedSeconds(const RowContext& c, SampleWriter& out);
void NodeUnlistedJoules(const RowContext& c, SampleWriter& out);
void ConservationError(const RowContext& c, SampleWriter& out);
void EnergySourceInfo(const RowContext& c, SampleWriter& out);

// The labels of the workload's identity and, but for processes, state.
void AddProcessEvents(const RowContext& c, SampleWriter& out, uint64_t HardwareEvents::* member);
void AddContainerEvents(const RowContext& c, SampleWriter& out, uint64_t HardwareEvents::* member);
template <auto kMember>
void ProcessEvents(const RowContext& c, SampleWriter& out) {
  AddProcessEvents(c, out, kMember);
}
template <auto kMember>
void ContainerEvents(const RowContext& c, SampleWriter& out) {
  AddContainerEvents(c, out, kMember);
}

// The labels of the workload's identity, state and zone.
void ProcessJoules(const RowContext& c, SampleWriter& out);
void ProcessWatts(const RowContext& c, SampleWriter& out);
void ProcessSeconds(const RowContext& c, SampleWriter& out);  // no state
void ContainerJoules(const RowContext& c, SampleWriter& out);
void ContainerWatts(const RowContext& c, SampleWriter& out);
void ContainerSeconds(const RowContext& c, SampleWriter& out);
void VmJoules(const RowContext& c, SampleWriter& out);
void VmWatts(const RowContext& c, SampleWriter& out);
void PodJoules(const RowContext& c, SampleWriter& out);
void PodWatts(const RowContext& c, SampleWriter& out);

// The agent itself.
void ActivityAuditLast(const RowContext& c, SampleWriter& out);  // only once there was an audit
void ActivityCpuTimeInfo(const RowContext& c, SampleWriter& out);
void ActivitySourceInfo(const RowContext& c, SampleWriter& out);
void AttributionInfo(const RowContext& c, SampleWriter& out);
void BuildInfoRow(const RowContext& c, SampleWriter& out);
void ExposedSeries(const RowContext& c, SampleWriter& out);
void DeniedHttpRequests(const RowContext& c, SampleWriter& out);  // labels: node_name, reason
void HandlerErrors(const RowContext& c, SampleWriter& out);
void LogLinesDropped(const RowContext& c, SampleWriter& out);
void SnapshotInterval(const RowContext& c, SampleWriter& out);
void SnapshotTimestamp(const RowContext& c, SampleWriter& out);
void SourceUp(const RowContext& c, SampleWriter& out);
void SourceLastSuccess(const RowContext& c, SampleWriter& out);
void SourceFailedReads(const RowContext& c, SampleWriter& out);

/// A figure of each meter; labels node_name, source.
template <auto kMember>
void OfSources(const RowContext& c, SampleWriter& out) {
  for (const auto& source : c.snapshot.sources) out.Add({source.name}, NumberText::Of(source.*kMember));
}
/// Labels: node_name, source, zone.
template <auto kMember>
void OfZoneDomains(const RowContext& c, SampleWriter& out) {
  for (size_t z = 0; z < c.snapshot.domains.size(); ++z)
    out.Add({c.snapshot.zones[z].source, c.snapshot.zones[z].name},
            NumberText::Of(uint64_t{c.snapshot.domains[z].*kMember}));
}
template <auto kMember>
void OfActivity(const RowContext& c, SampleWriter& out) {
  out.Add({}, NumberText::Of(c.snapshot.activity.*kMember));
}
/// Only once there was an audit.
template <auto kMember>
void OfAudit(const RowContext& c, SampleWriter& out) {
  const snapshot::AuditStatus& audit = c.snapshot.activity.audit;
  if (audit.last != BootTime{}) out.Add({}, NumberText::Of(audit.*kMember));
}
/// Only where the source has a kernel side, whose figure it is.
template <auto kMember>
void OfKernelSide(const RowContext& c, SampleWriter& out) {
  if (!c.snapshot.activity.records.empty()) OfActivity<kMember>(c, out);
}
/// Labels: kind, node_name.
template <auto kMember>
void ActivityRecords(const RowContext& c, SampleWriter& out) {
  for (const auto& records : c.snapshot.activity.records) {
    if (kMember == &snapshot::RecordCount::taken && records.only_dropped) continue;
    out.Add({records.kind}, NumberText::Of(records.*kMember));
  }
}
template <auto kMember>
void OfPipeline(const RowContext& c, SampleWriter& out) {
  out.Add({}, NumberText::Of(c.snapshot.pipeline.*kMember));
}
template <auto kMember>
void OfHttp(const RowContext& c, SampleWriter& out) {
  if (c.http != nullptr) out.Add({}, NumberText::Of(c.http->*kMember));
}
template <auto kMember>
void OfHttpWhereKnown(const RowContext& c, SampleWriter& out) {
  if (c.http != nullptr && c.http->*kMember) out.Add({}, NumberText::Of(*(c.http->*kMember)));
}
template <auto kMember>
void OfSelf(const RowContext& c, SampleWriter& out) {
  out.Add({}, NumberText::Of(c.self->*kMember));
}
template <auto kMember>
void OfSelfWhereKnown(const RowContext& c, SampleWriter& out) {
  if (c.self->*kMember) out.Add({}, NumberText::Of(*(c.self->*kMember)));
}

}  // namespace kepler::prometheus
