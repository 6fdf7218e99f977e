"""API server and kubelet that hang or die: joules go on, to the microjoule; names of what is new come late."""
import time
import unittest

from agents import TICK, PodAgent
from daemons import dead, frozen
from follower import Follower
from harness import wait_until
from running import cluster
from workload_pods import RunningPod, pod

OUTAGE = 60  # seconds


class Outages(unittest.TestCase):
    def setUp(self):
        # Their own pods are among those they look at.
        self.agents = {mode: self.enterContext(PodAgent(cluster(), mode)) for mode in ("kubelet", "apiserver")}
        self.followers = {mode: self.enterContext(Follower(agent)) for mode, agent in self.agents.items()}
        self.running = self.enterContext(RunningPod(cluster(), pod("through-it")))
        for follower in self.followers.values():
            self.wait_names(follower, self.running)
        self.before = {mode: agent.scrape() for mode, agent in self.agents.items()}
        self.addCleanup(self.wait_cluster)

    def wait_cluster(self):
        cluster().api.wait_ready()
        wait_until(cluster().node_is_ready, "the node to become ready again", 90, period=0.5)

    @staticmethod
    def wait_names(follower, running):
        follower.wait_named(running.uid, (running.namespace, running.name))
        for identifier, name in running.containers().items():
            follower.wait_named(identifier, name)

    def judge(self, mode, least_ticks):
        follower, agent, before = self.followers[mode], self.agents[mode], self.before[mode]
        follower.wait_ticks(2)
        follower.judge(self, least_ticks)
        seconds = sorted(follower.scrape_seconds)
        self.assertLess(seconds[len(seconds) * 95 // 100], 0.1)
        after = agent.scrape()
        self.assertEqual(after.value("kepler_missed_ticks_total"), before.value("kepler_missed_ticks_total"))
        asked, failed = (int(after.value(name) - before.value(name)) for name in (
            "kepler_pod_informer_requests_total", "kepler_pod_informer_failed_requests_total"))
        print(f"{mode}: {follower.ticks} ticks, {follower.gaps} not seen; {len(seconds)} scrapes, median "
              f"{1000 * seconds[len(seconds) // 2]:.0f} ms, slowest {1000 * seconds[-1]:.0f} ms; {asked} requests, "
              f"{failed} failed; unseen in pods {dict(follower.unlisted_microjoules)} µJ")

    def pod_names(self, agent):
        return {(labels["pod_namespace"], labels["pod_name"]) for labels, _ in agent.scrape().series(
            "kepler_pod_cpu_joules_total", pod_id=self.running.uid, state="running")}

    def test_api_server_hangs_and_dies(self):
        begin = time.monotonic()

        def wait_out(share):
            time.sleep(max(0, begin + share * OUTAGE - time.monotonic()))
        crashed = self.running.container("main")
        with frozen(cluster().api):
            # A kubelet whose API server hangs starts it again afterwards only.
            cluster().node.kill_container(crashed)
            wait_out(0.5)
            with dead(cluster().api):
                wait_out(1)
        self.wait_cluster()
        wait_until(lambda: self.mains() - {crashed}, "the next container of the name", 60, period=0.2)
        for mode, follower in self.followers.items():
            self.assertEqual(self.pod_names(self.agents[mode]), {("default", "through-it")}, mode)
            self.wait_names(follower, self.running)
            self.judge(mode, OUTAGE / TICK * 0.9)
        # And what is new has its name: the watch goes on.
        with RunningPod(cluster(), pod("after-it")) as later:
            for follower in self.followers.values():
                self.wait_names(follower, later)

    def mains(self):
        """The containers `main` that the agent of the mode `kubelet` lists."""
        return {labels["container_id"] for labels, _ in self.agents["kubelet"].scrape().series(
            "kepler_container_cpu_joules_total", pod_id=self.running.uid, container_name="main")}

    def test_kubelet_hangs(self):
        seconds = 20
        with frozen(cluster().node.kubelet):
            for follower in self.followers.values():
                follower.wait_ticks(int(seconds / TICK), 2 * seconds)
            for mode, agent in self.agents.items():
                self.assertEqual(self.pod_names(agent), {("default", "through-it")}, mode)
        self.wait_cluster()
        for mode in self.agents:
            self.judge(mode, seconds / TICK)
        failed = {mode: agent.scrape().value("kepler_pod_informer_failed_requests_total")
                  - self.before[mode].value("kepler_pod_informer_failed_requests_total")
                  for mode, agent in self.agents.items()}
        self.assertGreater(failed["kubelet"], 0)
        self.assertEqual(failed["apiserver"], 0)
        with RunningPod(cluster(), pod("after-it")) as later:
            for follower in self.followers.values():
                self.wait_names(follower, later)
