"""docs/teams.md: a team behind prom-label-proxy sees its own namespace, and no other."""
import contextlib
import json
import os
import re
import shlex
import subprocess
import unittest
import urllib.parse
import urllib.request

from doc_pages import code_blocks
from harness import end, free_port, require, run_tests, wait_until
from kubernetes import NODE, Cluster, pod
from pod_churn import BURSTABLE, RunningPod
from powercap import PowercapTree, metered_agent
from prometheus import Prometheus, replace_once
from workloads import Cgroup

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PROXY = os.path.join(ROOT, "build", "cluster", "bin", "prom-label-proxy-0.11.1")
TEAMS = {"shop": RunningPod(11), "bank": RunningPod(12)}


def page(language):
    return code_blocks("teams.md", language)


def page_queries():
    text, = page("promql")
    return [re.sub(r"\[(5m|1d)\]", "[1m]", query) for query in text.splitlines()]


class Proxy(contextlib.AbstractContextManager):
    """The page's command, in front of that Prometheus."""

    def __init__(self, server):
        require(os.access(PROXY, os.X_OK), "the proxy is not built: tests/cluster/programs.py prom-label-proxy")
        self.port = free_port()
        command, = page("sh")
        for written, actual in (("localhost:9090", f"127.0.0.1:{server.port}"), ("127.0.0.1:8080", f"127.0.0.1:{self.port}")):
            command = replace_once(command, written, actual)
        self.command = [PROXY, *shlex.split(command)[1:]]
        self.process = None

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self.is_ready, "the proxy", 30)
        return self

    def __exit__(self, *_):
        end(self.process)

    def is_ready(self):
        with contextlib.suppress(OSError):
            return self.query("shop", "vector(1)")
        return False

    def query(self, team, expression):
        """The labels of each result."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": expression}), headers={"X-Namespace": team})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return [result["metric"] for result in json.load(answer)["data"]["result"]]


@contextlib.contextmanager
def scraped(config):
    """Prometheus with that configuration, of an agent with the page's and a pod of each team that computes."""
    with contextlib.ExitStack() as stack:
        tree = stack.enter_context(PowercapTree())
        stack.enter_context(Cgroup(BURSTABLE))
        cluster = stack.enter_context(Cluster())
        agent_config = replace_once(page("yaml")[0], "  enabled: true\n", "  enabled: true\n  podInformer: {pollInterval: 1s}\n")
        agent = stack.enter_context(metered_agent(
            tree, f"--kube.config={cluster.kubeconfig}", f"--kube.node-name={NODE}", config=agent_config))
        tree.start()
        for one in TEAMS.values():
            stack.enter_context(one)
        cluster.pods = [pod(one.uid, one.name, {"main": one.container}, namespace=team) for team, one in TEAMS.items()]
        yield stack.enter_context(Prometheus(agent.port, config="global: {scrape_interval: 1s}\n" + config))


class Teams(unittest.TestCase):
    def test_each_team_sees_its_own_namespace_only(self):
        with scraped(page("yaml")[1]) as server, Proxy(server) as proxy:
            for team, one in TEAMS.items():
                for query in page_queries():
                    found = wait_until(lambda query=query, team=team: proxy.query(team, query), f"{query} of {team}", 60, period=0.5)
                    self.assertLessEqual({labels.get("namespace", team) for labels in found}, {team}, query)
                self.assertEqual(proxy.query(team, page_queries()[0]), [{"namespace": team, "pod": one.name}])
                everything = proxy.query(team, '{__name__=~"kepler_.*"}')
                self.assertEqual({labels["namespace"] for labels in everything}, {team})
                self.assertEqual({labels["pod"] for labels in everything if "pod_id" in labels}, {one.name})
                self.assertEqual({labels["container_id"] for labels in everything if "container_name" in labels}, {one.container})
            self.assertEqual(proxy.query("shop", 'kepler_node_cpu_joules_total'), [])
            self.assertNotEqual(proxy.query("kepler", 'kepler_node_cpu_joules_total'), [])

    def test_without_honor_labels_a_team_sees_nothing(self):
        target = replace_once(page("yaml")[1], "    honor_labels: true\n", "")
        with scraped(target) as server, Proxy(server) as proxy:
            wait_until(lambda: server.query('kepler_pod_cpu_joules_total{exported_namespace="shop"}'), "scrapes", 60, period=0.5)
            self.assertEqual(proxy.query("shop", "kepler_pod_cpu_joules_total"), [])


if __name__ == "__main__":
    run_tests()
