#include <gtest/gtest.h>

#include "export/prometheus/render_test_util.h"

namespace kepler::prometheus {
namespace {

// Every byte of a small exposition: a change here is a change that every user sees.
TEST(RenderGolden, NodeOnly_ExactText) {
  auto s = kepler::testing::EmptySnapshot({"package"});
  s.node[0].total = Energy::Microjoules(1'500'000);
  s.node[0].power = Power::Watts(0.3);
  s.activity.name = "";
  EXPECT_EQ(Text(s, {.node_name = "n1", .selection = {.levels = series::kNode}}),
            R"(# HELP kepler_activity_failed_cgroup_reads_total Failed reads of cgroup files
# TYPE kepler_activity_failed_cgroup_reads_total counter
kepler_activity_failed_cgroup_reads_total{node_name="n1"} 0
# HELP kepler_activity_vanished_total Processes that ended while they were read, which is normal
# TYPE kepler_activity_vanished_total counter
kepler_activity_vanished_total{node_name="n1"} 0
# HELP kepler_attribution_info Method used to split the active energy of the zone (cpu-time, cycles, cycles-instructions-mix, cache-misses, model), and source of the usage ratio (proc-stat, exact); always 1
# TYPE kepler_attribution_info gauge
kepler_attribution_info{method="cpu-time",node_name="n1",ratio="proc-stat",zone="package"} 1
# HELP kepler_build_info A metric with a constant '1' value labeled with version information
# TYPE kepler_build_info gauge
kepler_build_info{arch="unknown",branch="unknown",goversion="unknown",revision="unknown",version="unknown"} 1
# HELP kepler_conservation_error_joules Difference in the energy balance, always 0. Per level: active energy minus listed, unlisted, unnamed and unattributed energy; for the node: total minus active minus idle energy
# TYPE kepler_conservation_error_joules gauge
kepler_conservation_error_joules{level="node",node_name="n1",zone="package"} 0
# HELP kepler_exposed_series Samples in this scrape, including this one
# TYPE kepler_exposed_series gauge
kepler_exposed_series{node_name="n1"} 38
# HELP kepler_failed_ticks_total Ticks in which processes could not be listed
# TYPE kepler_failed_ticks_total counter
kepler_failed_ticks_total{node_name="n1"} 0
# HELP kepler_log_lines_dropped_total Log lines lost because the log could not be written, or not fast enough
# TYPE kepler_log_lines_dropped_total counter
kepler_log_lines_dropped_total{node_name="n1"} 0
# HELP kepler_missed_ticks_total Ticks skipped because the previous tick was still running or the machine was suspended
# TYPE kepler_missed_ticks_total counter
kepler_missed_ticks_total{node_name="n1"} 0
# HELP kepler_node_cpu_active_joules_total Energy consumption of cpu in active state at node level in joules
# TYPE kepler_node_cpu_active_joules_total counter
kepler_node_cpu_active_joules_total{node_name="n1",path="aggregated-package",zone="package"} 0
# HELP kepler_node_cpu_active_watts Power consumption of cpu in active state at node level in watts
# TYPE kepler_node_cpu_active_watts gauge
kepler_node_cpu_active_watts{node_name="n1",path="aggregated-package",zone="package"} 0
# HELP kepler_node_cpu_busy_ratio CPU usage ratio of the node by method: proc-stat (timer ticks, as upstream), exact (CPU time in nanoseconds)
# TYPE kepler_node_cpu_busy_ratio gauge
kepler_node_cpu_busy_ratio{method="exact",node_name="n1"} 0
kepler_node_cpu_busy_ratio{method="proc-stat",node_name="n1"} 0
# HELP kepler_node_cpu_idle_joules_total Energy consumption of cpu in idle state at node level in joules
# TYPE kepler_node_cpu_idle_joules_total counter
kepler_node_cpu_idle_joules_total{node_name="n1",path="aggregated-package",zone="package"} 0
# HELP kepler_node_cpu_idle_watts Power consumption of cpu in idle state at node level in watts
# TYPE kepler_node_cpu_idle_watts gauge
kepler_node_cpu_idle_watts{node_name="n1",path="aggregated-package",zone="package"} 0
# HELP kepler_node_cpu_joules_total Energy consumption of cpu at node level in joules
# TYPE kepler_node_cpu_joules_total counter
kepler_node_cpu_joules_total{node_name="n1",path="aggregated-package",zone="package"} 1.5
# HELP kepler_node_cpu_seconds_total Busy time of all CPUs, in seconds, from the kernel's timer ticks: user, nice, system, irq, softirq
# TYPE kepler_node_cpu_seconds_total counter
kepler_node_cpu_seconds_total{node_name="n1"} 0
# HELP kepler_node_cpu_steal_seconds_total Time in which a virtual CPU of this guest was ready, but the hypervisor ran others, in seconds
# TYPE kepler_node_cpu_steal_seconds_total counter
kepler_node_cpu_steal_seconds_total{node_name="n1"} 0
# HELP kepler_node_cpu_unattributed_joules_total Active energy that no workload caused or whose owner was lost, in joules
# TYPE kepler_node_cpu_unattributed_joules_total counter
kepler_node_cpu_unattributed_joules_total{node_name="n1",path="aggregated-package",zone="package"} 0
# HELP kepler_node_cpu_unattributed_seconds_total CPU time that no workload used or whose owner was lost, in seconds
# TYPE kepler_node_cpu_unattributed_seconds_total counter
kepler_node_cpu_unattributed_seconds_total{node_name="n1"} 0
# HELP kepler_node_cpu_usage_ratio CPU usage ratio of a node (value between 0.0 and 1.0)
# TYPE kepler_node_cpu_usage_ratio gauge
kepler_node_cpu_usage_ratio{node_name="n1"} 0
# HELP kepler_node_cpu_watts Power consumption of cpu at node level in watts
# TYPE kepler_node_cpu_watts gauge
kepler_node_cpu_watts{node_name="n1",path="aggregated-package",zone="package"} 0.3
# HELP kepler_node_energy_source_info Meter that the zone is read from; path 'model' marks an estimate; always 1
# TYPE kepler_node_energy_source_info gauge
kepler_node_energy_source_info{node_name="n1",path="aggregated-package",source="fake",zone="package"} 1
# HELP kepler_snapshot_interval_seconds Period over which watts are averaged, in seconds
# TYPE kepler_snapshot_interval_seconds gauge
kepler_snapshot_interval_seconds{node_name="n1"} 5
# HELP kepler_snapshot_timestamp_seconds Unix time at which the tick of this data started, in seconds
# TYPE kepler_snapshot_timestamp_seconds gauge
kepler_snapshot_timestamp_seconds{node_name="n1"} 1700000000
# HELP kepler_source_zone_domains Domains of the zone found so far: sockets, dies or sensors
# TYPE kepler_source_zone_domains gauge
kepler_source_zone_domains{node_name="n1",source="fake",zone="package"} 1
# HELP kepler_source_zone_domains_read Domains of the zone read in the last tick. If one is missing and its CPUs are online, the zone has no watts
# TYPE kepler_source_zone_domains_read gauge
kepler_source_zone_domains_read{node_name="n1",source="fake",zone="package"} 1
# HELP kepler_start_timestamp_seconds Unix time at which the agent started and all its totals were 0, in seconds; the same in every scrape until a restart
# TYPE kepler_start_timestamp_seconds gauge
kepler_start_timestamp_seconds{node_name="n1"} 1700000000
# HELP kepler_tick_cpu_seconds_total CPU time of the collection thread in ticks, in seconds
# TYPE kepler_tick_cpu_seconds_total counter
kepler_tick_cpu_seconds_total{node_name="n1"} 0
# HELP kepler_tick_seconds_total Wall time of ticks, in seconds
# TYPE kepler_tick_seconds_total counter
kepler_tick_seconds_total{node_name="n1"} 0
# HELP kepler_tick_skew_seconds Time between the activity reading and the energy reading of the last tick, in seconds
# TYPE kepler_tick_skew_seconds gauge
kepler_tick_skew_seconds{node_name="n1"} 0
# HELP kepler_ticks_total Completed ticks
# TYPE kepler_ticks_total counter
kepler_ticks_total{node_name="n1"} 0
# HELP kepler_unpublished_snapshots_total Ticks without a new snapshot because slow readers held all snapshots
# TYPE kepler_unpublished_snapshots_total counter
kepler_unpublished_snapshots_total{node_name="n1"} 0
# HELP kepler_workload_claims_refused_total Refused claims of an id that belongs to another workload, by kind. container, pod: the cgroup is counted under a separate id; vm: the process is counted as a plain process
# TYPE kepler_workload_claims_refused_total counter
kepler_workload_claims_refused_total{kind="container",node_name="n1"} 0
kepler_workload_claims_refused_total{kind="pod",node_name="n1"} 0
kepler_workload_claims_refused_total{kind="vm",node_name="n1"} 0
# HELP promhttp_metric_handler_errors_total Errors of the /metrics handler by cause
# TYPE promhttp_metric_handler_errors_total counter
promhttp_metric_handler_errors_total{cause="encoding"} 0
promhttp_metric_handler_errors_total{cause="gathering"} 0
)");
}

}  // namespace
}  // namespace kepler::prometheus
