"""The dashboard of nodes. It reads few series for each node, and works without recording rules."""
from layout import dashboard, panel
from matchers import JOB, JOBS, NODE, NODES, OVERLAP, ZONE, ZONES

N, NZ = NODE, f"{NODE},{ZONE}"

TOTAL = [
    panel("stat", "Power", "Power of the selected zone, idle and active, of all selected nodes.",
          [(f"sum(kepler_node_cpu_watts{{{NZ}}})", "")], width=5, height=5),
    panel("stat", "Energy in the time shown", "Energy of the selected zone in the selected time.",
          [(f"sum(increase(kepler_node_cpu_joules_total{{{NZ}}}[$__range]))", "")], "joule", 5, 5),
    panel("stat", "Whole machines", "Power at the power supplies, measured or estimated.",
          [(f"sum(kepler_node_platform_watts{{{N}}})", "")], width=5, height=5),
    panel("stat", "Energy without an owner", "Share of the active energy that no workload caused, or whose owner was lost.",
          [(f"""sum(rate(kepler_node_cpu_unattributed_joules_total{{{NZ}}}[$__rate_interval]))
             / (sum(rate(kepler_node_cpu_active_joules_total{{{NZ}}}[$__rate_interval])) > 0)""", "")], "percentunit", 4, 5),
    panel("table", "Nodes by meter", "Number of nodes for each meter of the selected zone. `model` is an estimate.",
          [(f"count by (source) (kepler_node_energy_source_info{{{NZ}}})", "")], "short", 5, 5),
    panel("timeseries", "Active and idle power", "Active power is used by workloads. Idle power is used without work.",
          [(f"sum(kepler_node_cpu_active_watts{{{NZ}}})", "active"), (f"sum(kepler_node_cpu_idle_watts{{{NZ}}})", "idle")],
          stacking={"mode": "normal"}),
    panel("timeseries", "Power by zone", "Power of each zone, of all selected nodes." + OVERLAP,
          [(f"sum by (zone) (kepler_node_cpu_watts{{{N}}})", "{{zone}}")]),
]
EACH = [
    panel("timeseries", "Power by node", "The 20 nodes with the highest power in the selected zone.",
          [(f"topk(20, sum by (node_name) (kepler_node_cpu_watts{{{NZ}}}))", "{{node_name}}")]),
    panel("timeseries", "Active power by node", "The 20 nodes with the highest active power in the selected zone.",
          [(f"topk(20, sum by (node_name) (kepler_node_cpu_active_watts{{{NZ}}}))", "{{node_name}}")]),
    panel("timeseries", "Idle power by node", "The 20 nodes with the highest idle power in the selected zone.",
          [(f"topk(20, sum by (node_name) (kepler_node_cpu_idle_watts{{{NZ}}}))", "{{node_name}}")]),
    panel("timeseries", "Whole machine by node", "Power at the power supply: the 20 nodes with the highest power.",
          [(f"topk(20, sum by (node_name) (kepler_node_platform_watts{{{N}}}))", "{{node_name}}")]),
    panel("timeseries", "CPU usage by node", "Share of the CPU time in use: the 20 busiest nodes.",
          [(f"topk(20, kepler_node_cpu_usage_ratio{{{N}}})", "{{node_name}}")], "percentunit"),
    panel("timeseries", "Energy by node and hour", "Energy of the hour before each point: the 20 nodes with the highest energy.",
          [(f"topk(20, sum by (node_name) (increase(kepler_node_cpu_joules_total{{{NZ}}}[1h])))", "{{node_name}}")], "joule"),
    panel("table", "Processors", "Number of CPUs by model. The node filter has no effect here.",
          [(f"count by (instance, model_name) (kepler_node_cpu_info{{{JOB}}})", "")], "short", 24, 6),
]
OVERVIEW = dashboard(
    "kepler-overview", "Kepler / Nodes", "Power and energy of nodes. Works without recording rules.", [JOBS, NODES, ZONES],
    [("All selected nodes", TOTAL), ("Each node", EACH)])
