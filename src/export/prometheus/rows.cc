#include "export/prometheus/rows.h"

#include <algorithm>
#include <cstddef>

namespace kepler::prometheus {

using snapshot::Level;

namespace {

constexpr uint64_t kOne = 1;  // the value of info metrics

uint32_t GateOf(Level level) {
  switch (level) {
    case Level::kProcess:
      return kProcess;
    case Level::kContainer:
      return kContainer;
    case Level::kVm:
      return kVm;
    case Level::kPod:
      return kPod;
  }
  return kAlways;
}

/// Calls f(zone, its index) for every zone that the families of the CPU are about.
template <class F>
void ForEachCpuZone(const RowContext& c, const F& f) {
  for (size_t z = 0; z < c.snapshot.zones.size(); ++z)
    if (c.snapshot.zones[z].domain == snapshot::Domain::kCpu) f(c.snapshot.zones[z], z);
}

}  // namespace

RowContext::RowContext(const snapshot::Snapshot& of, const RenderOptions& with, const RenderInput& input)
    : snapshot(of),
      options(with),
      self(input.self),
      http(input.http),
      stale(input.stale),
      failed(input.failed),
      log_lines_dropped(input.log_lines_dropped) {
  ForEachCpuZone(*this, [&](const auto& zone, size_t z) {
    std::string tail = ",zone=\"";
    AppendLabelValue(tail, zone.name);
    tail += "\"} ";
    if (of.node[z].fresh) fresh_zones.push_back({z, tail});
    zones.push_back({z, std::move(tail)});
  });
}

void AddNodeJoules(const RowContext& c, SampleWriter& out, Energy snapshot::NodeZone::* member) {
  ForEachCpuZone(c, [&](const auto& zone, size_t z) {
    out.Add({zone.path, zone.name}, NumberText::Of(c.snapshot.node[z].*member));
  });
}

void AddNodeWatts(const RowContext& c, SampleWriter& out, Power snapshot::NodeZone::* member) {
  ForEachCpuZone(c, [&](const auto& zone, size_t z) {
    const snapshot::NodeZone& node = c.snapshot.node[z];
    if (node.fresh) out.Add({zone.path, zone.name}, NumberText::Of((node.*member).watts()));
  });
}

void NodeUsageRatio(const RowContext& c, SampleWriter& out) {
  out.Add({}, NumberText::Of(c.snapshot.usage_ratio.value()));
}

void NodeBusyRatio(const RowContext& c, SampleWriter& out) {
  using snapshot::RatioMethod;
  out.Add({ToString(RatioMethod::kExact)}, NumberText::Of(c.snapshot.exact_ratio.value()));
  out.Add({ToString(RatioMethod::kProcStat)}, NumberText::Of(c.snapshot.proc_stat_ratio.value()));
}

void NodeCpuInfo(const RowContext& c, SampleWriter& out) {
  if (!c.snapshot.cpus) return;
  for (const auto& cpu : *c.snapshot.cpus)
    out.Add({cpu.core_id, cpu.model_name, cpu.physical_id, cpu.processor, cpu.vendor_id}, NumberText::Of(kOne));
}

void NodeUnattributedJoules(const RowContext& c, SampleWriter& out) {
  ForEachCpuZone(c, [&](const auto& zone, size_t z) {
    out.Add({zone.path, zone.name}, NumberText::Of(c.snapshot.unattributed[z]));
  });
}

void NodeUnattributedSeconds(const RowContext& c, SampleWriter& out) {
  out.Add({}, NumberText::Of(c.snapshot.unattributed_cpu));
}

void NodeUnlistedJoules(const RowContext& c, SampleWriter& out) {
  for (const Level level : snapshot::kAllLevels) {
    if ((c.options.levels & GateOf(level)) == 0) continue;
    for (const auto reason : snapshot::kAllUnlisted) {
      const auto& energy = c.snapshot.unlisted[static_cast<size_t>(level)][static_cast<size_t>(reason)];
      ForEachCpuZone(c, [&](const auto& zone, size_t z) {
        out.Add({ToString(level), zone.path, ToString(reason), zone.name}, NumberText::Of(energy[z]));
      });
    }
  }
}

void ConservationError(const RowContext& c, SampleWriter& out) {
  const auto add = [&](std::string_view level, uint32_t gate, const std::vector<Energy>& error) {
    if ((c.options.levels & gate) == 0) return;
    const auto& zones = c.snapshot.zones;
    for (size_t z = 0; z < error.size(); ++z) {
      // Zones of two meters may have one name: the first says what all of them miss.
      const auto same = [&](const auto& zone) { return zone.name == zones[z].name; };
      if (std::any_of(zones.begin(), zones.begin() + static_cast<std::ptrdiff_t>(z), same)) continue;
      Energy sum;
      for (size_t other = z; other < error.size(); ++other)
        if (same(zones[other])) sum += error[other];
      out.Add({level, zones[z].name}, NumberText::Of(sum));
    }
  };
  add("node", kNode, c.snapshot.conservation_error[snapshot::kLevels]);
  for (const Level level : snapshot::kAllLevels)
    add(ToString(level), GateOf(level), c.snapshot.conservation_error[static_cast<size_t>(level)]);
}

void EnergySourceInfo(const RowContext& c, SampleWriter& out) {
  for (const auto& zone : c.snapshot.zones) out.Add({zone.path, zone.source, zone.name}, NumberText::Of(kOne));
}

void AttributionInfo(const RowContext& c, SampleWriter& out) {
  ForEachCpuZone(c, [&](const auto& zone, size_t z) {
    out.Add({ToString(c.snapshot.methods[z]), ToString(c.snapshot.ratio_method), zone.name}, NumberText::Of(kOne));
  });
}

void ActivityAuditLast(const RowContext& c, SampleWriter& out) {
  const BootTime last = c.snapshot.activity.audit.last;
  if (last != BootTime{}) out.Add({}, NumberText::Of(c.snapshot.WallOf(last)));
}

void ActivityCpuTimeInfo(const RowContext& c, SampleWriter& out) {
  if (!c.snapshot.activity.name.empty())
    out.Add({ToString(c.snapshot.activity.time.interrupts), ToString(c.snapshot.activity.time.steal)},
            NumberText::Of(kOne));
}

void ActivitySourceInfo(const RowContext& c, SampleWriter& out) {
  if (!c.snapshot.activity.name.empty()) out.Add({c.snapshot.activity.name}, NumberText::Of(kOne));
}

void BuildInfoRow(const RowContext& c, SampleWriter& out) {
  const BuildInfo& build = c.options.build;
  out.Add({build.arch, build.branch, build.compiler, build.revision, build.version}, NumberText::Of(kOne));
}

void ExposedSeries(const RowContext& c, SampleWriter& out) { out.Add({}, NumberText::Of(c.exposed_series)); }

void DeniedHttpRequests(const RowContext& c, SampleWriter& out) {
  if (c.http == nullptr) return;
  const snapshot::DeniedRequests& denied = c.http->requests_denied;
  out.Add({"backoff"}, NumberText::Of(denied.backoff));
  out.Add({"busy"}, NumberText::Of(denied.busy));
  out.Add({"no_credentials"}, NumberText::Of(denied.no_credentials));
  out.Add({"password"}, NumberText::Of(denied.password));
  out.Add({"rate_limit"}, NumberText::Of(denied.rate_limit));
}

void LogLinesDropped(const RowContext& c, SampleWriter& out) { out.Add({}, NumberText::Of(c.log_lines_dropped)); }

void HandlerErrors(const RowContext& c, SampleWriter& out) {
  out.Add({"encoding"}, NumberText::Of(c.failed));
  // Nothing is gathered; the series exists because alerts written for upstream select it.
  out.Add({"gathering"}, NumberText::Of(uint64_t{0}));
}

void SnapshotInterval(const RowContext& c, SampleWriter& out) { out.Add({}, NumberText::Of(c.snapshot.interval)); }

void SnapshotTimestamp(const RowContext& c, SampleWriter& out) { out.Add({}, NumberText::Of(c.snapshot.taken_at)); }

namespace {

/// For figures that the meters and the activity source have in common.
template <class F>
void ForEachSource(const RowContext& c, const F& f) {
  for (const auto& source : c.snapshot.sources) f(source);
  if (!c.snapshot.activity.name.empty()) f(c.snapshot.activity);
}

}  // namespace

void SourceUp(const RowContext& c, SampleWriter& out) {
  ForEachSource(c, [&](const auto& source) { out.Add({source.name}, NumberText::Of(source.up)); });
}

void SourceLastSuccess(const RowContext& c, SampleWriter& out) {
  ForEachSource(c, [&](const auto& source) { out.Add({source.name}, NumberText::Of(source.last_success)); });
}

void SourceFailedReads(const RowContext& c, SampleWriter& out) {
  ForEachSource(c, [&](const auto& source) { out.Add({source.name}, NumberText::Of(source.failed_reads)); });
}

}  // namespace kepler::prometheus
