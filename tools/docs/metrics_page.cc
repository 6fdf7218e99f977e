#include "tools/docs/metrics_page.h"

#include <fmt/format.h>

#include <string_view>

#include "export/series/family.h"

namespace kepler::docs {

using namespace series;

namespace {

constexpr std::string_view kMetricsIntroduction =
    R"(# Metrics

Generated from `src/export/series/*_families.cc` by `kepler_metrics_docs > docs/metrics.md`; a test compares the two.

* `/metrics` answers in Prometheus text 0.0.4 or OpenMetrics 1.0.0 by `Accept`, gzip by `Accept-Encoding`.
* Every series has the `node_name`, but for `kepler_build_info`, `kepler_node_cpu_info`, `process_*` and `promhttp_*`.
  Labels are sorted by name, families by the name of their series.
* Joules and seconds are printed from whole microjoules and nanoseconds, so sums over one scrape are exact. Every total
  starts at 0 with the agent and never falls while it runs.
* Watts are the mean over `kepler_snapshot_interval_seconds`, after a failed read over the time since the last good one.
  Those of a zone of which any part was not read in the last tick are left out, and all watts are once the snapshot is
  older than it should be: `kepler_snapshot_timestamp_seconds` says how old.
* Zones overlap (psys holds package, package holds core): never add them up. `zone` in a query is not optional.
* `state` is `running` or `terminated`; a terminated workload keeps its joules, shows 0 W and stays listed for
  `monitor.terminatedRetention`. That is another series: across an end, the increase of an hour is
  `increase((max without (state) (kepler_process_cpu_joules_total{zone="package"}))[1h:])`.
* `kepler_source_up` is there for every source that was tried. Of the one in use:
  `kepler_source_up == 0 and on (node_name, source) kepler_node_energy_source_info`.
* Of an estimated zone (`path="model"`) `kepler_model_info` says by which model, and what its watts are: `scope="machine"`
  with idle power, `scope="load"` only what load adds, all of it active ([default-model.md](default-model.md)).
* `kepler_node_cpu_seconds_total`, `kepler_node_softirqs_total` and the node's cycles, instructions and cache misses are read
  beside the joules, since the agent's first tick: what models are trained on ([model.md](model.md)).
* A process is attributed by the name of its cgroup and by its command line. Both are claims: users and containers can copy
  those of others. So `container_id` and `pod_id` begin with `uid<UID>/` or with the id of a container where a user, or root of
  that container, made the cgroup. Of two processes with the id of one virtual machine the one with better evidence is it.
  `kepler_workload_claims_refused_total` counts claims of ids that belong to others ([claims](decisions/0022-claims.md)).
* Where `kepler_node_energy_source_info` has `path="model"` for a zone, its joules and watts are estimated, those of workloads
  too, whose series have no label for it: `... * on (node_name, zone) group_left (source) kepler_node_energy_source_info`.
* Cycles, instructions and cache misses are there only while `activity.counters` counts. With `dev.software-events`
  they are events of the kernel in their place, for tests: they say nothing about the processor.
* In one scrape, for each zone and each level in process, container, vm, pod: `kepler_node_cpu_active_joules_total` =
  the joules listed at the level + `kepler_node_cpu_unlisted_joules_total{level=…}` +
  `kepler_node_cpu_unnamed_joules{level=…}` (container and pod) + `kepler_node_cpu_unattributed_joules_total`. `kepler_conservation_error_joules` is the difference, and reads 0.
)";

struct Section {
  std::string_view title;
  bool (*holds)(const Family&);
};

bool IsCollector(const Family& f) { return f.gates == kProcessCollector; }
bool IsNode(const Family& f) {
  return f.name.starts_with("kepler_node_") || f.name == "kepler_conservation_error_joules";
}
bool IsSelf(const Family& f) { return f.gates == kAlways && !IsNode(f); }

constexpr Section kSections[] = {
    {"Node", IsNode},
    {"Process", [](const Family& f) { return f.gates == kProcess; }},
    {"Container", [](const Family& f) { return f.gates == kContainer; }},
    {"Virtual machine", [](const Family& f) { return f.gates == kVm; }},
    {"Pod", [](const Family& f) { return f.gates == kPod; }},
    {"The agent's own work", IsSelf},
    {"The agent's process (`debugCollectors: [process]`; `go` is accepted and adds nothing)", IsCollector},
};

std::string_view OriginText(series::Origin origin) {
  switch (origin) {
    case series::Origin::kUpstream:
      return "Kepler 0.11";
    case series::Origin::kOwn:
      return "0.1";
    case series::Origin::kCommon:
      return "client library";
  }
  return "";
}

std::string LevelText(uint32_t gates) {
  if (gates == kAlways) return "always";
  if (gates == kAllLevels) return "any";
  std::string text;
  for (const auto& [gate, name] :
       {std::pair{kNode, "node"}, std::pair{kProcess, "process"}, std::pair{kContainer, "container"},
        std::pair{kVm, "vm"}, std::pair{kPod, "pod"}, std::pair{kProcessCollector, "collector"}})
    if ((gates & gate) != 0) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::string LabelsText(const Family& family) {
  std::string text;
  for (const std::string_view label : family.labels) text += fmt::format("{}`{}`", text.empty() ? "" : ", ", label);
  return text.empty() ? "–" : text;
}

}  // namespace

std::string MetricsPage() {
  std::string page(kMetricsIntroduction);
  for (const Section& section : kSections) {
    page += fmt::format("\n## {}\n\n| Name | Type | Labels | Level | Since | Meaning |\n|---|---|---|---|---|---|\n",
                        section.title);
    for (const Family& family : Families())
      if (section.holds(family))
        page += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", family.name, ToString(family.type),
                            LabelsText(family), LevelText(family.gates), OriginText(family.origin), family.help);
  }
  return page;
}

}  // namespace kepler::docs
