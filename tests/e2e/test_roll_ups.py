"""Energy per namespace and per owner while pods come and go: the rows, and what has no row, are the node's active energy to the
microjoule at every scrape; no row falls; what short-lived pods used stays in their rows. KEPLER_E2E_CHURN=60 runs it for 60 s."""
import contextlib
import json
import os
import random
import time
import unittest

from exposition import ScrapeChecker, microjoules
from harness import Repeater, run_tests, wait_until
from kubernetes import Cluster, pod
from pod_churn import BURSTABLE, RunningPod
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from workloads import Cgroup

SECONDS = float(os.environ.get("KEPLER_E2E_CHURN", "8"))
RATE = 20  # pods a second
MOST = 60  # that run at a time, about three times what RATE needs
KEPT = 400  # ended pods that the cluster still lists
OWNERS = [("StatefulSet", "db-{}", 3), ("ReplicaSet", "web-{}-6d4c", 4), ("Job", "once-{}", 10 ** 9), ("DaemonSet", "log-{}", 2)]
LEVELS = ("namespace", "owner")


def listed(one, number):
    """The pod as the cluster lists it."""
    kind, name, names = OWNERS[number % len(OWNERS)]
    listing = pod(one.uid, one.name, {"main": one.container}, namespace=f"team-{number % 5}")
    if kind == "ReplicaSet":
        listing["metadata"]["labels"]["pod-template-hash"] = "6d4c"
    listing["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": kind, "name": name.format(number % names), "uid": "x",
                                               "controller": True}]
    return listing


def total(scrape, family, **labels):
    return sum(microjoules(value) for _, value in scrape.series(family, zone="package", **labels))


class Books(Repeater):
    """Adds up a scrape every 0.5 s until the end of `with`. More scrapes delay the pods: parsing holds the lock of Python."""

    def __init__(self, agent):
        super().__init__(pause=0.5)
        self.agent, self.checker = agent, ScrapeChecker(pids_return=lambda labels: True)
        self.last, self.fallen, self.errors, self.scrapes = {}, [], [], 0
        self.give_up = time.monotonic() + SECONDS + 5

    def step(self):
        self.look(self.agent.scrape())

    def look(self, scrape):
        self.checker.check(scrape)
        self.scrapes += 1
        rows = {(level, tuple(sorted(labels.items()))): microjoules(value) for level in LEVELS
                for labels, value in scrape.series(f"kepler_{level}_cpu_joules_total", zone="package")}
        self.fallen += [key for key, value in self.last.items() if rows.get(key, -1) < value]
        self.last = rows
        for level in LEVELS:
            rest = total(scrape, "kepler_node_cpu_unlisted_joules_total", level=level) + self.unnamed(scrape, level)
            error = (total(scrape, "kepler_node_cpu_active_joules_total") - rest
                     - total(scrape, f"kepler_{level}_cpu_joules_total")
                     - total(scrape, "kepler_node_cpu_unattributed_joules_total"))
            if error:
                self.errors.append((level, error))
        return scrape

    @staticmethod
    def unnamed(scrape, level):
        return total(scrape, "kepler_node_cpu_unnamed_joules", level=level)

    def look_for_names(self):
        """A scrape in which nearly all energy of pods is in the rows. Pods of other tests may run: nobody names those."""
        scrape = self.look(self.agent.scrape_after())
        rows = total(scrape, "kepler_namespace_cpu_joules_total")
        return scrape if rows and (rows > 10 * self.unnamed(scrape, "namespace") or time.monotonic() > self.give_up) else None


def run_pods(cluster):
    """RATE pods a second for SECONDS, each for up to two seconds; how many there were."""
    dice, running, lists, count = random.Random(1), [], [], 0
    begin = time.monotonic()
    with contextlib.ExitStack() as pods:
        while running or time.monotonic() < begin + SECONDS:
            now = time.monotonic()
            while now < begin + SECONDS and count < (now - begin) * RATE and len(running) < MOST:
                one = pods.enter_context(contextlib.closing(Ending(count)))
                running.append((one, now + dice.uniform(0.2, 2)))
                cluster.pods = lists = [*lists, listed(one.pod, count)][-KEPT:]
                count += 1
            for ended in [each for each in running if each[1] < now]:
                ended[0].close()
                running.remove(ended)
            time.sleep(0.01)
    return count


class RollUps(unittest.TestCase):
    def churn(self, mode):
        with contextlib.ExitStack() as stack:
            tree = stack.enter_context(PowercapTree(ONE_PACKAGE))
            stack.enter_context(Cgroup(BURSTABLE))
            cluster = stack.enter_context(Cluster())
            config = json.loads(cluster.config(mode=mode)) | {"exporter": {"prometheus": {"metricsLevel": "all"}}}
            agent = stack.enter_context(metered_agent(tree, interval="500ms", config=json.dumps(config)))
            tree.start()
            with Books(agent) as books:
                count = run_pods(cluster)
            scrape = wait_until(books.look_for_names, "names of pods", 120, 0.5)
            rows = {level: total(scrape, f"kepler_{level}_cpu_joules_total") for level in LEVELS}
            print(f"{mode}: {count} pods in {SECONDS:g} s, {books.scrapes} scrapes, {rows['namespace'] / 1e6:.3f} J in namespaces, "
                  f"{rows['owner'] / 1e6:.3f} J of owners", flush=True)
            self.assertEqual((books.errors, books.fallen, books.checker.problems), ([], [], []))
            self.assertGreater(count, 20)  # a busy machine starts fewer than RATE; the line above shows how many
            self.assertEqual(rows["namespace"], rows["owner"])
            self.assertGreater(rows["namespace"], 0)

    def test_pods_that_the_kubelet_lists(self):
        self.churn("kubelet")

    def test_pods_that_a_watch_reports(self):
        self.churn("apiserver")


class Ending:
    """A pod that runs until close(), once."""

    def __init__(self, number):
        self.pod, self.open = RunningPod(number, steps=10_000), True
        self.pod.__enter__()

    def __getattr__(self, name):
        return getattr(self.pod, name)

    def close(self):
        if self.open:
            self.open = False
            self.pod.__exit__()


if __name__ == "__main__":
    run_tests()
