"""Names of Kepler 0.7: what its dashboards and rules ask of a real Prometheus, and the same joules as with the names of 0.11."""
import contextlib
import shutil
import subprocess
import unittest

import scenarios
from doc_pages import code_blocks
from exposition import microjoules
from harness import OPENMETRICS, require, run_tests, wait_until
from kubernetes import NODE, Cluster
from pod_churn import BURSTABLE, RunningPod
from powercap import PowercapTree, metered_agent
from prometheus import Prometheus, replace_once, strict_openmetrics
from workloads import Cgroup

# The dashboard's variables are all namespaces and pods. Its ranges are [24h:1m]: the test does not run for a day.
OF = '{container_namespace=~"shop|system", pod_name=~".*"}'
KWH = "* 0.000000277777777777778"
OLD = [
    f"(sum(increase((kepler_container_joules_total{OF}[2m:1s]))) {KWH}) * 2.23",
    f"sum by (container_namespace) (increase((kepler_container_joules_total{OF}[2m:1s]))) {KWH}",
    *(query % part for part in ("package", "dram") for query in (
        f"sum by (pod_name, container_namespace) (irate(kepler_container_%s_joules_total{OF}[1m]))",
        f"sum(irate(kepler_container_%s_joules_total{OF}[1m]))",
        f"sum(increase((kepler_container_%s_joules_total{OF}[2m:1s]))) {KWH}",
        "sum by (pod_name, container_namespace) (irate(kepler_container_%s_joules_total[2m]))")),
    "count by (container_namespace) (kepler_container_package_joules_total)",
    "sum by (pod_name, container_name, container_namespace, node) (irate(kepler_container_joules_total[1m]))",
    'sum by (pod_name) (rate(kepler_container_package_joules_total{container_namespace="shop", mode="dynamic"}[1m]))',
    'sum by (pod_name) (rate(kepler_container_package_joules_total{container_namespace="shop", mode="idle"}[1m]))',
    *(f"sum(rate(kepler_{level}_{part}_joules_total{{{selector}}}[1m]))" for part in ("package", "core", "dram")
      for level, selector in (("node", 'mode="dynamic"'), ("node", 'mode="idle"'), ("process", 'command="perl"'))),
    f'rate(kepler_node_package_joules_total{{exported_instance="{NODE}"}}[1m])',
    "sum by (command) (rate(kepler_process_bpf_cpu_time_ms_total[1m]))",
    "sum by (pod_name) (rate(kepler_container_bpf_cpu_time_ms_total[1m]))",
    'kepler_node_info{components_power_source="rapl-sysfs"}',
    "kepler_exporter_build_info",
]
NEW = [
    'topk(10, sum by (comm) (kepler_process_cpu_watts{zone="package"}))',
    'sum by (container_name) (rate(kepler_container_cpu_joules_total{zone="package"}[1m]))',
    'sum by (pod_namespace, pod_name) (rate(kepler_pod_cpu_joules_total{zone="package", state="running"}[1m]))',
    'sum by (zone) (kepler_node_cpu_watts)',
    'rate(kepler_node_cpu_active_joules_total[1m])',
    'rate(kepler_node_cpu_idle_joules_total[1m])',
    'kepler_build_info',
]


def page_config():
    config, = code_blocks("from-0.7.md", "yaml")
    return config


@contextlib.contextmanager
def running(names, *others):
    """An agent with the page's configuration for each of these names, and a pod that computes."""
    with contextlib.ExitStack() as stack:
        tree = stack.enter_context(PowercapTree())
        stack.enter_context(Cgroup(BURSTABLE))
        cluster = stack.enter_context(Cluster())
        agents = []
        for name in (names, *others):
            config = replace_once(page_config(), "names: v07 ", f"names: {name} ")
            config = replace_once(config, "  enabled: true ", "  podInformer: {pollInterval: 1s}\n  enabled: true ")
            agents.append(stack.enter_context(metered_agent(
                tree, f"--kube.config={cluster.kubeconfig}", f"--kube.node-name={NODE}", config=config)))
        tree.start()
        pod = stack.enter_context(RunningPod(1))
        cluster.pods = [pod.listed()]
        yield agents


def unanswered(server, queries):
    return [query for query in queries if not server.query(query)]


class LegacyNames(unittest.TestCase):
    def test_queries_of_both_versions_return_data(self):
        with running("v07", "both", "v011") as agents:
            for agent, queries, absent in zip(agents, (OLD, OLD + NEW, NEW), (NEW[:3], [], OLD)):
                with self.subTest(agent.args), Prometheus(agent.port) as server:
                    wait_until(lambda: not unanswered(server, queries), "an answer to each query", 60, period=0.5)
                    self.assertEqual(unanswered(server, absent), absent)
                    self.assertEqual(server.failed_scrapes(), 0)
                    self.assertEqual(set(server.dropped_samples().values()), {0})

    def test_sums_are_those_of_the_other_names(self):
        def named(agent):
            scrape = agent.scrape_after()
            return scrape if scrape.series("kepler_container_joules_total", pod_name="runs-1", mode="idle") else None
        with running("both") as (agent,):
            scrape = wait_until(lambda: named(agent), "the name of the pod")
        outside = {"level": "container", "reason": "outside"}
        for zone in ("package", "core", "dram"):
            for mode, kind, node in (("dynamic", "", "active_"), ("idle", "idle_", "idle_")):
                def old(level):
                    return microjoules(scrape.sum(f"kepler_{level}_{zone}_joules_total", mode=mode))
                def new(family, **labels):
                    return microjoules(scrape.sum(f"kepler_{family}joules_total", zone=zone, **labels))
                self.assertEqual(old("node"), new(f"node_cpu_{node}"))
                self.assertEqual(old("process"), new(f"process_cpu_{kind}"))
                self.assertEqual(old("container"), new(f"container_cpu_{kind}") + new(f"node_cpu_{kind}unlisted_", **outside))
                if mode == "dynamic":  # a busy machine may have no idle energy
                    self.assertGreater(old("container"), 0)
        for level in ("process", "container"):
            self.assertEqual(scrape.sum(f"kepler_{level}_joules_total"),
                             sum(scrape.sum(f"kepler_{level}_{zone}_joules_total") for zone in ("package", "dram")))

    def test_promtool_and_strict_parsers_accept_them(self):
        require(shutil.which("promtool"), "promtool is not installed")
        with running("v07", "both") as agents:
            for agent in agents:
                # A container's series begins again when its pod gets its name.
                wait_until(lambda: agent.scrape().series("kepler_container_joules_total", pod_name="runs-1"), "the name of the pod")
                lint = subprocess.run(["promtool", "check", "metrics"], input=agent.scrape_after().text, check=False, timeout=60,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                # The unit is a part of 0.7's name.
                told = [line for line in lint.stdout.splitlines() if "_bpf_cpu_time_ms_total" not in line]
                self.assertEqual(told, [])
                self.assertGreater(len(strict_openmetrics(agent.text(OPENMETRICS))), 50)
                self.assertEqual(scenarios.protobuf_differences(agent), [])


if __name__ == "__main__":
    run_tests()
