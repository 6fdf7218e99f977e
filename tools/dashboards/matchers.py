"""Variables and label matchers that the dashboards share.

A matcher has the form label=~`${variable:regex}`: Grafana escapes the value for a regular expression, and nothing else is
special in a string between backticks. So each name works in it, except one with a backtick.
"""
from layout import variable

JOB = "job=~`${job:regex}`"
NODE = JOB + ",node_name=~`${node:regex}`"
ZONE = "zone=~`${zone:regex}`"

JOBS = variable("job", "label_values(kepler_build_info, job)", "Job")
NODES = variable("node", f"label_values(kepler_snapshot_timestamp_seconds{{{JOB}}}, node_name)", "Node", multi=True)
ZONES = variable("zone", f"label_values(kepler_node_cpu_watts{{{JOB}}}, zone)", "Zone", default="package")

RULES = " The recording rules of deploy/rules give its data."
OVERLAP = " Zones overlap (package includes core): never add them up."
