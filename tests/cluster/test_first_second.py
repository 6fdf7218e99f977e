"""What short pods use, from their first moment on, is under their own names."""
import collections
import unittest

from agents import PodAgent
from exposition import microjoules
from follower import Follower
from harness import wait_until
from running import cluster
from workload_pods import container, pod

PODS = 50
AT_ONCE = 10
WORK = ("100", "1")  # percent of a CPU, seconds of CPU time
MIN_SHARE = 0.99


def short_pod(name):
    manifest = pod(name, labels={"kind": "short"}, restartPolicy="Never", initContainers=[])
    # Work of the machine outside of the cluster leaves almost nothing to pods without a request.
    manifest["spec"]["containers"] = [{**container("main", WORK, "BestEffort"), "resources": {"requests": {"cpu": "100m"}}}]
    return manifest


class FirstSecond(unittest.TestCase):
    def test_energy_of_short_pods_is_under_their_names(self):
        agent = self.enterContext(PodAgent(cluster()))
        follower = self.enterContext(Follower(agent))
        follower.wait_ticks(2)
        self.addCleanup(cluster().kubectl, "delete", "pods", "--selector=kind=short", "--timeout=60s")
        for first in range(0, PODS, AT_ONCE):
            cluster().apply(*(short_pod(f"short-{number}") for number in range(first, first + AT_ONCE)))
            wait_until(lambda count=first + AT_ONCE: self.ended() == count, "the pods to end", 90, period=0.5)
        follower.wait_ticks(3)
        names = {one["metadata"]["uid"]: one["metadata"]["name"] for one in cluster().pods("default", "kind=short")}
        named = collections.Counter()
        for labels, value in agent.scrape().series("kepler_pod_cpu_joules_total"):
            if labels["pod_name"] and labels["pod_name"] == names.get(labels["pod_id"]):
                named[labels["pod_id"]] += microjoules(value)
        # Energy under another name is not shown any more: it was, in the ticks before.
        other = {uid: follower.given[uid] - follower.named[uid] for uid in names}
        share = named.total() / (named.total() + sum(other.values()))
        print(f"{len(names)} pods of {WORK[1]} s of CPU time: {named.total()} µJ under their names, {sum(other.values())} µJ "
              f"of {sum(map(bool, other.values()))} pods are not: {100 * share:.2f} %; {follower.ticks} ticks, "
              f"{follower.gaps} not seen")
        # Ten pods that start at once keep all CPUs busy, and the follower waits for its turn.
        follower.judge(self, 10, max_gaps=0.5)
        self.assertEqual([names[uid] for uid in names if not follower.given[uid]], [], "pods that no scrape has shown")
        self.assertEqual(len([uid for uid in names if named[uid] > 0]), PODS)
        self.assertGreaterEqual(share, MIN_SHARE)

    @staticmethod
    def ended():
        return sum(one["status"]["phase"] == "Succeeded" for one in cluster().pods("default", "kind=short"))
