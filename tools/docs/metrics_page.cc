#include "tools/docs/metrics_page.h"

#include <fmt/format.h>

#include <string_view>

#include "export/series/family.h"

namespace kepler::docs {

using namespace series;

namespace {

constexpr std::string_view kMetricsIntroduction =
    R"(# Metrics

<!-- Made by kepler_metrics_docs from src/export/series/*_families.cc; a test compares the two. -->

For those who write queries, alerts and dashboards.

```sh
curl -s http://localhost:28282/metrics | grep kepler_node_cpu_watts
```
```
kepler_node_cpu_watts{node_name="vm",path="model",zone="package"} 1.9452749390530704
```

| Task | Query |
|---|---|
| power of the ten busiest processes | `topk(10, sum by (comm) (kepler_process_cpu_watts{zone="package"}))` |
| energy per container in the last hour | `sum by (container_name) (increase(kepler_container_cpu_joules_total{zone="package"}[1h]))` |
| energy of processes, including ended ones | `increase((max without (state) (kepler_process_cpu_joules_total{zone="package"}))[1h:])` |
| a source in use that cannot be read | `kepler_source_up == 0 and on (node_name, source) kepler_node_energy_source_info` |
| measured or estimated? | `... * on (node_name, zone) group_left (source) kepler_node_energy_source_info` |

**Totals over time**: `increase()` extrapolates, and misses what a series had before its first scrape. For reports and bills:
[exact totals in Prometheus](exact-totals.md).

**Zones overlap**: psys includes package, package includes core. Always select a `zone`, and never add zones up.

## Format

* `/metrics` answers in Prometheus text 0.0.4, OpenMetrics 1.0.0 or Prometheus protobuf, by the `Accept` header. It uses gzip by
  `Accept-Encoding`.
* In protobuf every counter has its created timestamp: the time at which the counter was 0. It stays the same for the life of the
  series, also if the clock is set. OpenMetrics has it with `exporter.prometheus.createdLines`.
* Every series has the label `node_name`, except `kepler_build_info`, `kepler_node_cpu_info`, `process_*` and `promhttp_*`.
* Labels are sorted by name. Families are sorted by the name of their series.
* Joules and seconds are printed from whole microjoules and nanoseconds. Sums over one scrape are therefore exact.
* Every total starts at 0 with the agent and never decreases while the agent runs.

## Meaning

* **Watts** are the mean over `kepler_snapshot_interval_seconds`. After a failed read they are the mean since the last good read.
* **Missing watts**: a zone has no watts if a part of it was not read in the last tick. No zone has watts if the snapshot is too
  old (`kepler_snapshot_timestamp_seconds`).
* **`state`** is `running` or `terminated`. A terminated workload keeps its joules, has 0 W, and stays listed for
  `monitor.terminatedRetention`. Its terminated series is separate from its running series. With
  `exporter.prometheus.exactTotals` a workload has one series without `state` ([exact-totals.md](exact-totals.md)).
* **`pod_name`, `pod_namespace`** are `pod` and `namespace` with `exporter.prometheus.labelNames: kubernetes`. Containers then have
  them too ([teams.md](teams.md)).
* **Estimates** have `path="model"`. The energy of workloads in such a zone is estimated too, but has no label for it.
  `kepler_model_info` names the model. With `scope="machine"` the estimate includes idle power. With `scope="load"` it is only
  the power that load adds; all of that power is active ([default-model.md](default-model.md)).
* **Energy balance**: in each scrape, for each zone and each of the levels process, container, vm, pod and user:
  `kepler_node_cpu_active_joules_total` = joules listed at the level + `kepler_node_cpu_unlisted_joules_total{level=…}` +
  `kepler_node_cpu_unnamed_joules{level=…}` (container and pod) + `kepler_node_cpu_unattributed_joules_total`.
  `kepler_conservation_error_joules` is the difference and is always 0.
* **Model inputs**: the node's CPU and steal seconds, software interrupts, context switches, page faults, cycles, instructions
  and cache misses count from the agent's first tick. Models are trained on them ([model.md](model.md)).

## Limits

* Cycles, instructions and cache misses exist only if `activity.counters` is on. With `dev.software-events` they are software
  events of the kernel, for tests; they say nothing about the processor.
* The agent identifies workloads by cgroup names and command lines. Users and containers can copy those of others:
  * If a user, or root in a container, made a cgroup, its `container_id` and `pod_id` begin with `uid<UID>/` or a container id.
  * If two processes claim the id of one virtual machine, the process with the better evidence gets it.
  * `kepler_workload_claims_refused_total` counts claims of ids that belong to others ([claims](decisions/0022-claims.md)).
* `kepler_source_up` exists for every source that was tried, not only for the source in use.
)";

struct Section {
  std::string_view title;
  bool (*holds)(const Family&);
};

bool IsCollector(const Family& f) { return f.gates == kProcessCollector; }
bool IsNode(const Family& f) {
  return f.name.starts_with("kepler_node_") || f.name.starts_with("kepler_platform_") ||
         f.name == "kepler_conservation_error_joules";
}
bool IsSelf(const Family& f) { return f.gates == kAlways && !IsNode(f); }

constexpr Section kSections[] = {
    {"Node", IsNode},
    {"Process", [](const Family& f) { return f.gates == kProcess; }},
    {"Container", [](const Family& f) { return f.gates == kContainer; }},
    {"Virtual machine", [](const Family& f) { return f.gates == kVm; }},
    {"Pod", [](const Family& f) { return f.gates == kPod; }},
    {"Namespace and owner (only with `kube.enabled`; not in the default of `metricsLevel`)",
     [](const Family& f) { return f.gates == kNamespace || f.gates == kOwner; }},
    {"Unix user (not in the default of `metricsLevel`)", [](const Family& f) { return f.gates == kUser; }},
    {"Agent", IsSelf},
    {"Agent process (only with `debugCollectors: [process]`)", IsCollector},
};

std::string_view OriginText(series::Origin origin) {
  switch (origin) {
    case series::Origin::kUpstream:
      return "Kepler 0.11";
    case series::Origin::kLegacy:
      return "Kepler 0.7";
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
        std::pair{kVm, "vm"}, std::pair{kPod, "pod"}, std::pair{kNamespace, "namespace"}, std::pair{kOwner, "owner"},
        std::pair{kUser, "user"}, std::pair{kProcessCollector, "collector"}})
    if ((gates & gate) != 0) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::string LabelsText(const Family& family) {
  std::string text;
  for (const std::string_view label : family.labels) text += fmt::format("{}`{}`", text.empty() ? "" : ", ", label);
  return text.empty() ? "–" : text;
}

constexpr std::string_view kTableHead =
    "| Name | Type | Labels | Level | Since | Meaning |\n|---|---|---|---|---|---|\n";

constexpr std::string_view kLegacyIntroduction = R"(
## Names of Kepler 0.7

With `exporter.prometheus.names: v07` these families replace those of processes, containers, virtual machines and pods. With
`both` the page has all families; of two with the same name it has the one below. [Upgrade from Kepler 0.7](from-0.7.md)
describes their labels.

)";

std::string RowText(const Family& family) {
  return fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", family.name, TypeOf(family), LabelsText(family),
                     LevelText(family.gates), OriginText(family.origin), family.help);
}

}  // namespace

std::string MetricsPage() {
  std::string page(kMetricsIntroduction);
  for (const Section& section : kSections) {
    page += fmt::format("\n## {}\n\n{}", section.title, kTableHead);
    for (const Family& family : Families())
      if (section.holds(family)) page += RowText(family);
  }
  page += kLegacyIntroduction;
  page += kTableHead;
  for (const Family& family : Families(NameSet::kV07))
    if (family.origin == series::Origin::kLegacy) page += RowText(family);
  return page;
}

}  // namespace kepler::docs
