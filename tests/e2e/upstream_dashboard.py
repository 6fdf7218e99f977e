"""Queries and variables of the dashboard that Kepler 0.11 ships (compose/default), in their order of use."""

VARIABLES = {
    "job": "label_values(kepler_node_cpu_watts,job)",
    "namespace": 'label_values(kepler_pod_cpu_watts{job="$job"}, pod_namespace)',
    "pod": 'label_values(kepler_pod_cpu_watts{job="$job", pod_namespace=~"$namespace"},pod_name)',
    "process": 'query_result(label_join( count by (pid, comm) (kepler_process_cpu_watts{job="$job"}), '
               '"process", " | ", "comm", "pid" )\t)',
    "node": 'label_values(kepler_node_cpu_info{job="$job"}, instance)',
    "zone": 'label_values(kepler_node_cpu_watts{job="$job"}, zone)',
    "container": "label_values(kepler_container_cpu_watts,container_name)",
    "vm": 'label_values(kepler_vm_cpu_watts{job="$job"}, vm_name)',
}

QUERIES = (
    'sum by (zone) (kepler_node_cpu_watts{job="$job", zone=~"$zone"})',
    'sum by (zone) (kepler_node_cpu_active_watts{job="$job", zone=~"$zone"})',
    'sum by (zone) (kepler_node_cpu_idle_watts{job="$job", zone=~"$zone"})',
    'count by (instance, model_name)(kepler_node_cpu_info{job="$job"})',
    'group by (node_name,zone)(kepler_node_cpu_watts{job="$job"})',
    'kepler_node_cpu_watts{job="$job", instance=~"$node", zone=~"$zone"}',
    'kepler_node_cpu_active_watts{job="$job", instance=~"$node", zone=~"$zone"}',
    'kepler_node_cpu_idle_watts{job="$job", instance=~"$node", zone=~"$zone"}',
    'topk(10,sum by (comm,zone)(kepler_process_cpu_watts{job="$job", zone=~"$zone"}))',
    'sum by (zone) (kepler_process_cpu_watts{job="$job", zone=~"$zone"})',
    'kepler_process_cpu_watts{job="$job", zone=~"$zone",pid="${process}"}',
    'topk(10,sum by (container_name,zone)(kepler_container_cpu_watts{job="$job", zone=~"$zone"}))',
    'sum by (zone) (kepler_container_cpu_watts{job="$job", zone=~"$zone"})',
    'kepler_container_cpu_watts{job="$job", zone=~"$zone",container_name=~"$container"}',
    'topk(10,sum by (pod_namespace,zone)(kepler_pod_cpu_watts{job="$job", zone=~"$zone"}))',
    'sum by (zone) (kepler_pod_cpu_watts{job="$job", zone=~"$zone", pod_namespace=~"$namespace"})',
    'kepler_pod_cpu_watts{job="$job",pod_namespace=~"$namespace", zone=~"$zone",pod_name=~"$pod"}',
    'topk(10,sum by (vm_name,zone)(kepler_vm_cpu_watts{job="$job", zone=~"$zone"}))',
    'sum by (zone) (kepler_vm_cpu_watts{job="$job", zone=~"$zone"})',
    'kepler_vm_cpu_watts{job="$job", zone=~"$zone",vm_name=~"$vm"}',
)
