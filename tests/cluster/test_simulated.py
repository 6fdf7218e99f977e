"""A cluster of ten nodes with ten thousand pods, and an agent with the name of one of them."""
import re
import time
import unittest
import urllib.parse

import agents
from harness import wait_until
from running import cluster
from simulated import NAMESPACE, Simulation

PODS_EACH = 1000
CHURN = 200  # pods
SHORTEST_WATCH = 25  # seconds
NEW_WATCH = 8_000  # bytes received, TLS among them


class TenNodes(unittest.TestCase):
    def test_one_agent_hears_of_the_pods_of_its_node_only(self):
        begin = time.monotonic()
        simulation = self.enterContext(Simulation(cluster(), nodes=10, pods_each=PODS_EACH))
        print(f"{10 * PODS_EACH} pods of three containers run after {time.monotonic() - begin:.0f} s")
        own, other = simulation.nodes[3], simulation.nodes[4]
        tree = self.enterContext(agents.meter())
        tree.start()
        name = "of-ten"
        cluster().apply(agents.namespace(), *agents.account(name, agents.ROLES["apiserver"]))
        token = cluster().token(name, agents.NAMESPACE)
        begin = time.monotonic()
        agent = self.enterContext(agents.ProcessAgent(cluster(), token, tree, "apiserver", kubernetes_node=own))
        self.wait_pods(agent, PODS_EACH)
        print(f"{PODS_EACH} pods are known {time.monotonic() - begin:.1f} s after the start, "
              f"RSS {agent.rss_bytes() / 1e6:.0f} MB")

        def requests():
            return int(agent.scrape().value("kepler_pod_informer_requests_total"))
        # What happens on other nodes reaches nobody: no event, no request.
        before, received = requests(), self.received_bytes(agent)
        simulation.delete([simulation.pod_name(other, number) for number in range(CHURN)])
        ticks = int(agent.scrape().value("kepler_ticks_total"))
        wait_until(lambda: agent.scrape().value("kepler_ticks_total") > ticks + 2, "three ticks")
        self.assertLessEqual(self.received_bytes(agent) - received, 2000 + NEW_WATCH * (requests() - before))
        # What happens on its own does, by the same watch.
        simulation.delete([simulation.pod_name(own, number) for number in range(CHURN)])
        self.wait_pods(agent, PODS_EACH - CHURN)
        self.assertGreater(self.received_bytes(agent) - received, 100 * CHURN)
        seconds = time.monotonic() - begin
        self.assertLessEqual(requests() - before, seconds / SHORTEST_WATCH + 1)
        self.assertEqual(agent.scrape().value("kepler_pod_informer_failed_requests_total"), 0)
        self.assertEqual(agent.scrape().value("kepler_missed_ticks_total"), 0)
        asked = cluster().audited(f"system:serviceaccount:{agents.NAMESPACE}:{name}")
        self.assertEqual({line["verb"] for line in asked}, {"get", "list", "watch"})
        self.assertEqual([line["requestURI"] for line in asked if line["verb"] == "get"], [f"/api/v1/nodes/{own}"])
        for line in asked:
            if line["verb"] == "get":
                continue
            query = urllib.parse.parse_qs(line["requestURI"].partition("?")[2])
            self.assertEqual(query["fieldSelector"], [f"spec.nodeName={own}"], line["requestURI"])
        # Each watch has up to two lines: its begin and its end.
        self.assertLessEqual(len(asked), 6 + 2 * (time.monotonic() - begin) / SHORTEST_WATCH, [line["requestURI"] for line in asked])

    @staticmethod
    def wait_pods(agent, count):
        wait_until(lambda: agent.scrape().value("kepler_pod_informer_pods") == count, f"{count} pods of {NAMESPACE}", 60)

    @staticmethod
    def received_bytes(agent):
        """From the API server, as the kernel counts them for the agent's connection."""
        import subprocess
        listed = subprocess.run(["ss", "--tcp", "--info", "--numeric", "--processes", "--oneline", "state", "established",
                                 "dport", "=", ":443"], check=True, capture_output=True, text=True).stdout
        return sum(int(found[1]) for line in listed.splitlines() if f"pid={agent.process.pid}," in line
                   for found in [re.search(r"bytes_received:(\d+)", line)] if found)
