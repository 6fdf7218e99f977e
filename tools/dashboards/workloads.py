"""The dashboards of namespaces and pods, of containers and processes, and of virtual machines."""
from layout import dashboard, panel, variable
from matchers import JOB, JOBS, NODE, NODES, OVERLAP, RULES, ZONE, ZONES

JZ, NZ = f"{JOB},{ZONE}", f"{NODE},{ZONE}"
ENERGY = " Energy is counted in whole minutes, with ended workloads included."

IN_NAMESPACE = "pod_namespace=~`${namespace:regex}`"
PODS = f"{JZ},{IN_NAMESPACE}"
POD = f"{JOB},{IN_NAMESPACE},pod_name=~`${{pod:regex}}`"
# Families of namespaces and owners have another label than those of pods.
NAMESPACE = f"{JZ},namespace=~`${{namespace:regex}}`"
NAMESPACES = dashboard(
    "kepler-namespaces", "Kepler / Namespaces and pods", "Power and energy of namespaces, owners and pods." + RULES,
    [JOBS, ZONES,
     variable("namespace", f"label_values(namespace_zone:kepler_pod_cpu_watts:sum{{{JOB}}}, pod_namespace)", "Namespace",
              multi=True),
     variable("pod", f"label_values(namespace_pod_zone:kepler_pod_cpu_watts:sum{{{JOB},{IN_NAMESPACE}}}, pod_name)", "Pod",
              multi=True, everything=False)],
    [("Namespaces", [
        panel("stat", "Power of pods", "Active power of all pods in the selected namespaces.",
              [(f"sum(namespace_zone:kepler_pod_cpu_watts:sum{{{PODS}}})", "")], width=8, height=5),
        panel("stat", "Energy of pods in the time shown", "Active energy of all pods in the selected namespaces." + ENERGY,
              [(f"sum(sum_over_time(namespace_zone:kepler_pod_cpu_joules:increase1m{{{PODS}}}[$__range]))", "")], "joule", 8, 5),
        panel("stat", "Share of the active power of all nodes", "The rest is used outside of the selected namespaces: by other "
              "pods, the kubelet, the container runtime and the kernel.",
              [(f"""sum(namespace_zone:kepler_pod_cpu_watts:sum{{{PODS}}})
                 / (sum(node_zone:kepler_node_cpu_active_watts:sum{{{JZ}}}) > 0)""", "")], "percentunit", 8, 5),
        panel("timeseries", "Top 10 namespaces", "Active power of the namespaces with the highest power.",
              [(f"topk(10, sum by (pod_namespace) (namespace_zone:kepler_pod_cpu_watts:sum{{{PODS}}}))", "{{pod_namespace}}")]),
        panel("table", "Energy by namespace in the time shown", "Active energy of pods." + ENERGY,
              [(f"""sort_desc(sum by (pod_namespace)
                 (sum_over_time(namespace_zone:kepler_pod_cpu_joules:increase1m{{{PODS}}}[$__range])))""", "")], "joule"),
        panel("timeseries", "Top 10 namespaces, with ended pods", "Active power by the agent's totals of namespaces. It needs "
              "`namespace` in exporter.prometheus.metricsLevel.",
              [(f"topk(10, sum by (namespace) (namespace_zone:kepler_namespace_cpu_joules:rate5m{{{NAMESPACE}}}))",
                "{{namespace}}")]),
        panel("timeseries", "Top 10 owners, with ended pods", "Active power of Deployments, StatefulSets, DaemonSets and Jobs. It "
              "needs `owner` in exporter.prometheus.metricsLevel.",
              [(f"""topk(10, sum by (namespace, owner_kind, owner_name)
                 (namespace_owner_zone:kepler_owner_cpu_joules:rate5m{{{NAMESPACE}}}))""",
                "{{namespace}}/{{owner_kind}}/{{owner_name}}")]),
    ]), ("Pods", [
        panel("timeseries", "Top 10 pods", "Active power of the pods with the highest power in the selected namespaces.",
              [(f"topk(10, sum by (pod_namespace, pod_name) (namespace_pod_zone:kepler_pod_cpu_watts:topk10{{{PODS}}}))",
                "{{pod_namespace}}/{{pod_name}}")]),
        panel("table", "Top 50 pods by energy in the time shown", "Active energy." + ENERGY,
              [(f"""topk(50, sum by (pod_namespace, pod_name)
                 (sum_over_time(namespace_pod_zone:kepler_pod_cpu_joules:increase1m{{{PODS}}}[$__range])))""", "")], "joule"),
        panel("timeseries", "Power of the namespaces by zone", "Active power of all pods in the selected namespaces." + OVERLAP,
              [(f"sum by (zone) (namespace_zone:kepler_pod_cpu_watts:sum{{{JOB},{IN_NAMESPACE}}})", "{{zone}}")]),
        panel("timeseries", "Selected pods by zone", "Active power: the 50 series with the highest power." + OVERLAP,
              [(f"topk(50, namespace_pod_zone:kepler_pod_cpu_watts:sum{{{POD}}})", "{{pod_namespace}}/{{pod_name}} {{zone}}")]),
    ])])

# One node at first: a cluster has too many containers and processes for one dashboard.
ONE_NODE = variable("node", NODES["definition"], "Node", multi=True, everything=False)
CONTAINER = "container_name=~`${container:regex}`"
WORKLOADS = dashboard(
    "kepler-workloads", "Kepler / Containers and processes", "Power and energy of containers and programs." + RULES,
    [JOBS, ONE_NODE, ZONES,
     variable("container", f"label_values(node_container_zone:kepler_container_cpu_watts:sum{{{NODE}}}, container_name)",
              "Container", multi=True),
     variable("process", f"query_result(topk(200, sum by (pid, comm) (kepler_process_cpu_watts{{{NZ}}})))", "Process",
              regex='/pid="(?<value>[^"]+)|comm="(?<text>[^"]+)/g')],
    [("Containers", [
        panel("timeseries", "Top 10 containers", "Active power of containers by name.",
              [(f"topk(10, sum by (container_name) (node_container_zone:kepler_container_cpu_watts:sum{{{NZ}}}))",
                "{{container_name}}")]),
        panel("table", "Top 50 containers by energy in the time shown", "Active energy of containers by name." + ENERGY,
              [(f"""topk(50, sum by (container_name)
                 (sum_over_time(node_container_zone:kepler_container_cpu_joules:increase1m{{{NZ}}}[$__range])))""", "")], "joule"),
        panel("timeseries", "All containers by zone", "Active power." + OVERLAP,
              [(f"sum by (zone) (node_container_zone:kepler_container_cpu_watts:sum{{{NODE}}})", "{{zone}}")]),
        panel("timeseries", "Selected containers by zone", "Active power: the 50 series with the highest power." + OVERLAP,
              [(f"""topk(50, sum by (container_name, zone)
                 (node_container_zone:kepler_container_cpu_watts:sum{{{NODE},{CONTAINER}}}))""", "{{container_name}} {{zone}}")]),
    ]), ("Processes", [
        panel("timeseries", "Top 10 programs", "Active power of processes by the name of their program. The node filter has no "
              "effect here.",
              [(f"topk(10, sum by (comm) (comm_zone:kepler_process_cpu_watts:sum{{{JZ}}}))", "{{comm}}")]),
        panel("timeseries", "All processes by zone", "Active power of processes with a series. The node filter has no effect here."
              + OVERLAP, [(f"sum by (zone) (comm_zone:kepler_process_cpu_watts:sum{{{JOB}}})", "{{zone}}")]),
        panel("timeseries", "Selected process by zone", "Active power of the processes with the selected pid." + OVERLAP,
              [(f"kepler_process_cpu_watts{{{NODE},pid=~`${{process:regex}}`}}", "{{node_name}} {{comm}} {{zone}}")]),
        panel("timeseries", "Active power without a series", "By level: most short-lived processes at level process, everything "
              "outside of containers at level container. Unattributed power has no owner at any level.",
              [(f"sum by (level) (node_level_zone:kepler_node_cpu_unlisted_joules:rate5m{{{NZ}}})", "{{level}}"),
               (f"sum(node_zone:kepler_node_cpu_unattributed_joules:rate5m{{{NZ}}})", "unattributed")]),
    ])])

MACHINE = "vm_name=~`${vm:regex}`"
MACHINES = dashboard(
    "kepler-vms", "Kepler / Virtual machines", "Power and energy of virtual machines on their hosts." + RULES,
    [JOBS, NODES, ZONES,
     variable("vm", f"label_values(node_vm_zone:kepler_vm_cpu_watts:sum{{{NODE}}}, vm_name)", "Virtual machine", multi=True)],
    [("Virtual machines", [
        panel("stat", "Power", "Active power of the selected virtual machines.",
              [(f"sum(node_vm_zone:kepler_vm_cpu_watts:sum{{{NZ},{MACHINE}}})", "")], width=12, height=5),
        panel("stat", "Energy in the time shown", "Active energy of the selected virtual machines." + ENERGY,
              [(f"sum(sum_over_time(node_vm_zone:kepler_vm_cpu_joules:increase1m{{{NZ},{MACHINE}}}[$__range]))", "")],
              "joule", 12, 5),
        panel("timeseries", "Top 10 virtual machines", "Active power.",
              [(f"topk(10, sum by (node_name, vm_name) (node_vm_zone:kepler_vm_cpu_watts:sum{{{NZ}}}))",
                "{{node_name}} {{vm_name}}")]),
        panel("table", "Top 50 virtual machines by energy in the time shown", "Active energy." + ENERGY,
              [(f"""topk(50, sum by (node_name, vm_name, vm_id)
                 (sum_over_time(node_vm_zone:kepler_vm_cpu_joules:increase1m{{{NZ},{MACHINE}}}[$__range])))""", "")], "joule"),
        panel("timeseries", "Virtual machines by node", "Active power: the 20 nodes with the highest power.",
              [(f"topk(20, sum by (node_name) (node_vm_zone:kepler_vm_cpu_watts:sum{{{NZ}}}))", "{{node_name}}")]),
        panel("timeseries", "Selected virtual machines by zone", "Active power: the 50 series with the highest power." + OVERLAP,
              [(f"topk(50, node_vm_zone:kepler_vm_cpu_watts:sum{{{NODE},{MACHINE}}})", "{{vm_name}} {{zone}}")]),
    ])])
