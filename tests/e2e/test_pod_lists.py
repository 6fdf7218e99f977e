"""Lists of pods that somebody made large: the agent lives within its memory limit, says what it left out, and gives the
memory back."""
import os
import re
import time
import unittest

from containers import Container
from harness import Agent, end, run_tests, wait_until
from kubernetes import Cluster, Crowd, pod
from workloads import BURN_A_FIFTH, Cgroup

INTERVAL = 0.2  # seconds
FAST = f"--monitor.interval={INTERVAL}s"
LIMIT = 512 << 20  # as in the chart
MOST = 160 << 20  # bytes of RSS at any time: the rest of the limit is for scrapes and the kernel
MAX_KEPT = 12 << 20  # bytes of RSS more than before the list, once it is gone


def peak_rss_bytes(agent):
    with open(f"/proc/{agent.process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"^VmHWM:\s*(\d+) kB$", file.read(), re.M)[1]) << 10


class PodLists(unittest.TestCase):
    def setUp(self):
        self.cluster = self.enterContext(Cluster())
        self.container = self.enterContext(Container())
        self.uid = self.container.path.split("/pod")[1].split("/")[0]
        self.addCleanup(end, self.container.run_script(f"exec /usr/bin/python3 -c '{BURN_A_FIFTH}'"))
        self.cluster.pods = [pod(self.uid, "web", {"server": self.container.id})]
        self.limited = self.enterContext(Cgroup(f"/kepler-lists-{os.getpid()}"))
        self.has_limit = self.limited.limit_memory(LIMIT)

    def named(self, agent):
        wait_until(lambda: [labels for labels, _ in agent.scrape().series(
            "kepler_pod_cpu_joules_total", pod_id=self.uid, state="running") if labels["pod_name"] == "web"], "the pod's name")

    def check(self, mode, crowd):
        with Agent(FAST, config=self.cluster.config(mode=mode), command_prefix=self.limited.command_prefix()) as agent:
            self.named(agent)
            before = agent.rss_bytes()
            self.cluster.crowd = crowd
            if mode == "apiserver":
                self.cluster.forget()  # it lists anew
            scrape = wait_until(lambda: (s := agent.scrape()).value("kepler_pod_informer_left_out_total", kind="container")
                                and s, "containers that are left out", 90)
            agent.wait_log(r"level=WARN .*stay without names.*pods=\d+ containers=\d+ max_name_bytes=\d+")
            wait_until(lambda: agent.scrape().value("kepler_pod_informer_pods") > 10, "the pods that fit")
            peak, loaded = peak_rss_bytes(agent), agent.rss_bytes()
            self.assertLess(peak, MOST)
            missed = float(scrape.value("kepler_missed_ticks_total"))
            self.assertLessEqual(missed * INTERVAL, agent.seconds_without_a_cpu() if missed else 0)
            self.cluster.crowd = None
            if mode == "apiserver":
                self.cluster.forget()
            wait_until(lambda: agent.rss_bytes() - before < MAX_KEPT or self.poke(mode), "the memory to go back", 60, 0.5)
            self.named(agent)
            print(f"{crowd.pods} pods x {crowd.containers} containers, {crowd.size >> 20} MiB, {mode}, "
                  f"{'limit ' + str(LIMIT >> 20) + ' MiB' if self.has_limit else 'no memory controller'}: RSS "
                  f"{before >> 20} MiB, peak {peak >> 20}, with the list {loaded >> 20}, after it {agent.rss_bytes() >> 20}")
            self.assertEqual(agent.stop(), 0)

    def poke(self, mode):
        """A watch receives a pod now and then."""
        if mode == "apiserver":
            self.cluster.pods = [pod(self.uid, "web", {"server": self.container.id}, annotations={"at": str(time.time())})]
        return False

    def test_300_pods_of_1000_containers(self):
        for mode in ("kubelet", "apiserver"):
            with self.subTest(mode):
                self.check(mode, Crowd(300, 1000))

    def test_a_list_just_under_the_largest_answer(self):
        crowd = Crowd(2360, 1000)
        self.assertGreater(crowd.size, 250 << 20)
        self.assertLess(crowd.size, 256 << 20)
        self.check("kubelet", crowd)


if __name__ == "__main__":
    run_tests()
