"""The dashboard of meters, models and the agent. It works without recording rules."""
from layout import dashboard, panel
from matchers import JOB, JOBS, NODE, NODES, ZONE, ZONES

N, NZ = NODE, f"{NODE},{ZONE}"
RATE = "[$__rate_interval]"
# Metrics of the process and of the scrape have no node_name.
OF_NODE = f"on (job, instance) group_left (node_name) kepler_activity_source_info{{{N}}}"

AGENTS = [
    panel("stat", "Agents", "Number of agents that answer.",
          [(f"count(kepler_snapshot_timestamp_seconds{{{N}}})", "")], "short", 5, 5),
    panel("stat", "Oldest reading", "Age of the oldest reading of all selected nodes.",
          [(f"max(time() - kepler_snapshot_timestamp_seconds{{{N}}})", "")], "s", 5, 5),
    panel("stat", "Conservation error", "Largest difference between a total and the sum of its parts. Always 0; "
          "another value is a bug of the agent.", [(f"max(abs(kepler_conservation_error_joules{{{N}}}))", "")], "joule", 5, 5),
    panel("table", "Versions", "Number of agents by version. The node filter has no effect here.",
          [(f"count by (version, revision, arch) (kepler_build_info{{{JOB}}})", "")], "short", 9, 5),
    panel("timeseries", "CPU time of the agent", "CPUs in use: ticks, and the whole process with scrapes.",
          [(f"sum by (node_name) (rate(kepler_tick_cpu_seconds_total{{{N}}}{RATE}))", "{{node_name}} ticks"),
           (f"rate(process_cpu_seconds_total{{{JOB}}}{RATE}) * {OF_NODE}", "{{node_name}} process")], "percentunit"),
    panel("timeseries", "Memory of the agent", "Resident memory.",
          [(f"process_resident_memory_bytes{{{JOB}}} * {OF_NODE}", "{{node_name}}")], "bytes"),
    panel("timeseries", "Duration of a scrape", "Measured by Prometheus.",
          [(f"scrape_duration_seconds{{{JOB}}} * {OF_NODE}", "{{node_name}}")], "s", 8),
    panel("timeseries", "Duration of a tick", "Wall time of one measurement of all workloads.",
          [(f"""sum by (node_name) (rate(kepler_tick_seconds_total{{{N}}}{RATE}))
             / sum by (node_name) (rate(kepler_ticks_total{{{N}}}{RATE}))""", "{{node_name}}")], "s", 8),
    panel("timeseries", "Series", "Samples in a scrape.", [(f"kepler_exposed_series{{{N}}}", "{{node_name}}")], "short", 8),
]
METERS = [
    panel("table", "Meters in use", "Meter of each zone. The path `model` marks an estimate.",
          [(f"max by (node_name, zone, source, path) (kepler_node_energy_source_info{{{N}}})", "")], "short"),
    panel("timeseries", "Meters that answer", "1: the last read succeeded. A meter that was tried, but is not in use, may be 0.",
          [(f"kepler_source_up{{{N}}}", "{{node_name}} {{source}}")], "short", lineInterpolation="stepAfter"),
    panel("timeseries", "Age of readings", "Time since the last tick.",
          [(f"time() - kepler_snapshot_timestamp_seconds{{{N}}}", "{{node_name}}")], "s", 8),
    panel("timeseries", "Failed reads", "Failed reads of a meter per second.",
          [(f"sum by (node_name, source) (rate(kepler_source_failed_reads_total{{{N}}}{RATE}))", "{{node_name}} {{source}}")],
          "short", 8),
    panel("timeseries", "Rejected readings, resets and unknown wraps",
          "In the hour before each point. Rejected: physically impossible. Reset: the counter decreased. Unknown wrap: the reading "
          "was so late that energy may be missing.",
          [(f"sum by (node_name, source) (increase(kepler_source_{name}_total{{{N}}}[1h]))",
            "{{node_name}} {{source}} " + label)
           for name, label in (("rejected_readings", "rejected"), ("resets", "reset"), ("unknown_wraps", "unknown wrap"))],
          "short", 8),
    panel("timeseries", "Energy without an owner", "Share of the active energy that no workload caused, or whose owner was lost.",
          [(f"""sum by (node_name) (rate(kepler_node_cpu_unattributed_joules_total{{{NZ}}}{RATE}))
             / (sum by (node_name) (rate(kepler_node_cpu_active_joules_total{{{NZ}}}{RATE})) > 0)""", "{{node_name}}")],
          "percentunit"),
    panel("timeseries", "Power without a series, by reason", "Active power at level process. capped: most short-lived processes; "
          "unseen: unknown processes; outside: not part of a workload.",
          [(f"""sum by (reason) (rate(kepler_node_cpu_unlisted_joules_total{{{NZ},level="process",reason!="departed"}}{RATE}))""",
            "{{reason}}")]),
]
NO_LINE = {"id": "custom.lineWidth", "value": 0}
BAND = [{"matcher": {"id": "byName", "options": "upper"}, "properties": [
            {"id": "custom.fillBelowTo", "value": "lower"}, {"id": "custom.fillOpacity", "value": 20}, NO_LINE]},
        {"matcher": {"id": "byName", "options": "lower"}, "properties": [NO_LINE]}]
OF_MODEL = "max by (job, node_name, zone) (kepler_model_error_ratio)"
ESTIMATE = f'kepler_node_cpu_watts{{{NZ},path="model"}}'
MODELS = [
    panel("timeseries", "Estimated power and its mean error", "Nodes without a meter whose model states its error. If the basis of "
          "the error is training_machine, the error here is larger.",
          [(f"sum({ESTIMATE} * on (job, node_name, zone) group_left () (1 + {OF_MODEL}))", "upper"),
           (f"sum({ESTIMATE} and on (job, node_name, zone) {OF_MODEL})", "estimate"),
           (f"sum({ESTIMATE} * on (job, node_name, zone) group_left () (1 - clamp_max({OF_MODEL}, 1)))", "lower")],
          overrides=BAND),
    panel("table", "Models in use", "Number of nodes by model. mape: stated mean error in percent.",
          [(f"count by (zone, name, match, scope, mape, source) (kepler_model_info{{{N}}})", "")], "short"),
    panel("timeseries", "Predictions outside the training range", "Share of all predictions. There the stated error does not hold.",
          [(f"""sum by (node_name) (rate(kepler_model_extrapolated_total{{{N}}}{RATE}))
             / (sum by (node_name) (rate(kepler_model_predictions_total{{{N}}}{RATE})) > 0)""", "{{node_name}}")],
          "percentunit"),
    panel("timeseries", "Stated error", "Mean relative error that the model states, and the machines on which it was measured.",
          [(f"max by (node_name, zone, basis) (kepler_model_error_ratio{{{N}}})", "{{node_name}} {{zone}} ({{basis}})")],
          "percentunit"),
]
NAMES = [
    panel("timeseries", "Age of pod names", "Time since the pods of a node were last read.",
          [(f"time() - kepler_pod_informer_last_success_timestamp_seconds{{{N}}} > 0", "{{node_name}}")], "s", 8),
    panel("timeseries", "Events that the kernel did not report", "Events per second. Their CPU time is charged to their cgroups.",
          [(f"sum by (kind) (rate(kepler_activity_dropped_total{{{N}}}{RATE}))", "{{kind}}")], "short", 8),
    panel("table", "Source of CPU time", "bpf: exact. procfs: clock ticks.",
          [(f"max by (node_name, source) (kepler_activity_source_info{{{N}}})", "")], "short", 8),
]
HEALTH = dashboard(
    "kepler-health", "Kepler / Meters, models and agents", "State of meters, models and agents. Works without recording rules.",
    [JOBS, NODES, ZONES], [("Agents", AGENTS), ("Meters", METERS), ("Models", MODELS), ("Names and processes", NAMES)])
