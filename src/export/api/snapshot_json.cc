#include "export/api/snapshot_json.h"

#include <fmt/format.h>

#include <cstdlib>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "export/api/workloads.h"
#include "export/series/figure_text.h"
#include "export/series/number.h"
#include "export/series/rows.h"
#include "status/zone_origin.h"

namespace kepler::api {
namespace {

using series::AsDouble;
using series::JoulesText;
using series::TimeText;
using snapshot::Level;
using status::Domain;

std::string_view ToString(Domain domain) {
  switch (domain) {
    case Domain::kGpu:
      return "gpu";
    case Domain::kPlatform:
      return "platform";
    case Domain::kOther:
      return "other";
    default:
      return "cpu";
  }
}

class Writer {
 public:
  Writer(const snapshot::Snapshot& snapshot, bool stale, const Query& query, const Source& source)
      : snapshot_(snapshot), stale_(stale), query_(query), source_(source), workloads_(snapshot, query.level) {}

  [[nodiscard]] std::string Write() && {
    Put(R"({{"api":{},"time":"{}","interval_seconds":{},"stale":{})", kVersion, TimeText(snapshot_.taken_at),
        ToSeconds(snapshot_.interval), stale_);
    Put(R"(,"agent":{{"version":{},"node":{},"started":"{}"}})", QuoteJson(source_.version), QuoteJson(source_.node),
        TimeText(snapshot_.StartOf({})));
    Put(R"(,"conservation_error_microjoules":{},"zones":[)", ConservationError(snapshot_).microjoules());
    Zones();
    out_ += R"(],"meters":[)";
    bool first = true;
    for (const MeterState& meter : MetersOf(snapshot_)) {
      Put(R"({}{{"name":{},"state":"{}")", std::exchange(first, false) ? "" : ",", QuoteJson(meter.name), meter.state);
      Text("reason", meter.reason);
      out_ += '}';
    }
    out_ += ']';
    WorkloadList();
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  void Zones() {
    bool first = true;
    for (size_t z = 0; z < snapshot_.node.size(); ++z) {
      const status::Zone& zone = snapshot_.zones[z];
      if (zone.domain == Domain::kIdleCpu) continue;  // a part of another zone
      const snapshot::NodeZone& node = snapshot_.node[z];
      Put(R"({}{{"zone":{},"path":{},"domain":"{}","source":{},"metered":{})", std::exchange(first, false) ? "" : ",",
          QuoteJson(zone.name), QuoteJson(zone.path), ToString(zone.domain), QuoteJson(zone.source),
          status::OriginOf(zone.source) == status::Origin::kMeasured);
      const bool is_split = zone.domain == Domain::kCpu;
      if (node.fresh && !stale_) {
        Put(R"(,"watts":{})", node.power.watts());
        if (is_split) Put(R"(,"active_watts":{},"idle_watts":{})", node.active_power.watts(), node.idle_power.watts());
      }
      Put(R"(,"joules":{})", JoulesText(node.total));
      if (is_split) Put(R"(,"active_joules":{},"idle_joules":{})", JoulesText(node.active), JoulesText(node.idle));
      out_ += '}';
    }
  }

  void WorkloadList() {
    const size_t zone = snapshot_.primary;
    if (zone >= workloads_.zones()) return;  // no meter, and no estimate
    if (!IsShown(query_.level, source_.gates)) return;
    const Workloads::Found found = workloads_.Find(query_);
    Energy listed;
    for (size_t row = 0; row < workloads_.rows(); ++row) listed += workloads_.energy(row, zone);
    Put(R"(,"workloads":{{"level":"{}","sort":"{}","zone":{},"total":{},"matching":{},"rows":[)",
        snapshot::ToString(query_.level), api::ToString(query_.sort), QuoteJson(snapshot_.zones[zone].name),
        workloads_.rows(), found.matching);
    bool first = true;
    for (const size_t row : found.rows) {
      if (!std::exchange(first, false)) out_ += ',';
      Row(row, zone);
    }
    Put(R"(],"listed_joules":{},"unlisted_joules":{},"unattributed_joules":{}}})", JoulesText(listed),
        JoulesText(UnlistedOf(snapshot_, query_.level)), JoulesText(snapshot_.unattributed[zone]));
  }

  void Row(size_t row, size_t zone) {
    const Names names = workloads_.NamesOf(row);
    Put(R"({{"id":{})", QuoteJson(names.id));
    Text("name", names.name);
    Text("namespace", names.name_space);
    Text("pod", names.pod);
    Text("pod_id", names.pod_id);
    Text("container", names.container);
    Text("container_id", names.container_id);
    Text("vm_id", names.vm_id);
    Text("instance", names.instance);
    Text("project", names.project);
    Text("project_id", names.project_id);
    if (names.pid != 0) Put(R"(,"pid":{},"comm":{})", names.pid, QuoteJson(names.name));
    Text("exe", names.exe);
    Text("runtime", names.runtime);
    const bool runs = workloads_.IsRunning(row);
    if (workloads_.has_cpu()) Put(R"(,"running":{},"cpu_seconds":{})", runs, AsDouble(workloads_.cpu(row)));
    const bool with_watts = runs && !stale_;
    if (with_watts) Put(R"(,"watts":{})", AsDouble(workloads_.watts(row, zone)));
    Put(R"(,"joules":{},"zones":{{)", JoulesText(workloads_.energy(row, zone)));
    bool first = true;
    for (size_t z = 0; z < workloads_.zones(); ++z) {
      if (snapshot_.zones[z].domain != Domain::kCpu) continue;
      Put("{}{}:{{", std::exchange(first, false) ? "" : ",", QuoteJson(snapshot_.zones[z].name));
      if (with_watts) Put(R"("watts":{},)", AsDouble(workloads_.watts(row, z)));
      Put(R"("joules":{})", JoulesText(workloads_.energy(row, z)));
      IdleJoules(row, snapshot_.zones[z]);
      out_ += '}';
    }
    out_ += "}}";
  }

  /// Idle energy of the zone is in a zone of its own that has the same name.
  void IdleJoules(size_t row, const status::Zone& of) {
    if (!series::SharesIdle(snapshot_, query_.level)) return;
    for (size_t z = 0; z < workloads_.zones(); ++z)
      if (snapshot_.zones[z].domain == Domain::kIdleCpu && snapshot_.zones[z].name == of.name)
        Put(R"(,"idle_joules":{})", JoulesText(workloads_.energy(row, z)));
  }

  void Text(std::string_view key, std::string_view text) {
    if (!text.empty()) Put(R"(,"{}":{})", key, QuoteJson(text));
  }
  template <class... Args>
  void Put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  const snapshot::Snapshot& snapshot_;
  const bool stale_;
  const Query& query_;
  const Source& source_;
  const Workloads workloads_;
  std::string out_;
};

}  // namespace

std::vector<MeterState> MetersOf(const snapshot::Snapshot& snapshot) {
  std::vector<MeterState> meters;
  for (const status::SourceStatus& source : snapshot.sources) {
    MeterState meter{source.interface.empty() ? source.name : fmt::format("{} ({})", source.name, source.interface),
                     source.up ? "in use" : "failed", source.problem ? source.problem->message : source.doubt};
    if (source.restart_needed) {
      meter.state = "not used";
      meter.reason = "it became readable only after startup; restart the agent to use it";
    } else if (!source.up && meter.reason.empty()) {
      meter.reason = "it gives no reading";
    } else if (source.up && meter.reason.empty() && !source.has_moved) {
      meter.reason = "all its readings are 0 W";
    }
    meters.push_back(std::move(meter));
  }
  if (std::ranges::all_of(snapshot.estimates, &status::EstimateStatus::of_workloads)) return meters;
  const bool is_cpu_metered = std::ranges::any_of(snapshot.zones, [](const status::Zone& zone) {
    return zone.domain == status::Domain::kCpu && status::OriginOf(zone.source) != status::Origin::kEstimated;
  });
  auto model = std::ranges::find(meters, "model", &MeterState::name);
  if (model == meters.end()) model = meters.insert(model, {"model", "in use", ""});
  model->reason = status::WhyEstimated(is_cpu_metered ? Domain::kPlatform : Domain::kCpu);
  return meters;
}

Energy ConservationError(const snapshot::Snapshot& snapshot) {
  Energy sum;
  for (const auto& level : snapshot.conservation_error)
    for (const Energy error : level) sum += Energy::Microjoules(std::abs(error.microjoules()));
  return sum;
}

Energy UnlistedOf(const snapshot::Snapshot& snapshot, Level level) {
  const auto index = static_cast<size_t>(level);
  Energy sum = snapshot.unnamed[index][snapshot.primary];
  for (const auto& reason : snapshot.unlisted[index]) sum += reason[snapshot.primary];
  return sum;
}

std::string SnapshotJson(const snapshot::Snapshot& snapshot, bool stale, const Query& query, const Source& source) {
  return Writer(snapshot, stale, query, source).Write();
}

}  // namespace kepler::api
