"""Joules and names of pods, from their start to their end."""
import json
import time
import unittest

from agents import POLL, PodAgent, judge_rights
from followed import Followed
from harness import wait_until
from running import cluster
from workload_pods import RESOURCES, RunningPod, pod


class Pods(Followed):
    def run_pod(self, *arguments, **more):
        return self.enterContext(RunningPod(cluster(), pod(*arguments, **more)))

    def wait_names(self, running):
        """Each container that the kubelet speaks of, and the pod itself, under their names; what their ids are."""
        self.follower.wait_named(running.uid, (running.namespace, running.name))
        containers = running.containers()
        for identifier, name in containers.items():
            self.follower.wait_named(identifier, name)
        return containers

    def test_agent_has_two_capabilities_and_reads_the_kernel_by_bpf(self):
        judge_rights(self, self.agent.rights())
        sources = [labels["source"] for labels, _ in self.agent.scrape().series("kepler_activity_source_info")]
        self.assertEqual(sources, ["bpf"], self.agent.log()[-2000:])
        self.judge()

    def test_classes_of_service_with_init_containers_and_sidecars(self):
        pods = [self.run_pod(f"class-{name.lower()}", name) for name in RESOURCES]
        for running in pods:
            self.assertEqual(sorted(self.wait_names(running).values()), ["helper", "main", "prepare", "sidecar"])
            self.assertEqual(running.look()["status"]["qosClass"].lower(), running.name.removeprefix("class-"))
        self.follower.wait_ticks(5)
        scrape = self.agent.scrape()
        for running in pods:
            self.assertGreater(self.follower.given[running.uid], 0)
            for identifier, name in running.containers().items():
                states = {labels["state"] for labels, value in scrape.series(
                    "kepler_container_cpu_joules_total", container_id=identifier, container_name=name,
                    pod_id=running.uid, runtime=cluster().node.runtime_label) if value > 0 or labels["state"] == "terminated"}
                # The name may come after the end, to a series that begins at 0.
                self.assertEqual(states, {"terminated" if name == "prepare" else "running"}, (running.name, name))
        # It has as many pods as the kubelet, whose word is taken independently.
        self.assertEqual(int(scrape.value("kepler_pod_informer_pods")),
                         len(json.loads(cluster().kubelet("/pods")[1])["items"]))
        self.judge(10)

    def test_crash_starts_another_container_of_the_same_name(self):
        running = self.run_pod("crashing")
        self.wait_names(running)
        before = running.container("main")
        after = running.crash("main")
        self.follower.wait_named(after, "main")
        self.follower.wait_ticks(3)
        scrape = self.agent.scrape()
        for identifier, state in ((before, "terminated"), (after, "running")):
            found = scrape.series("kepler_container_cpu_joules_total", container_id=identifier, zone="package")
            self.assertEqual([(labels["container_name"], labels["state"]) for labels, _ in found], [("main", state)])
            self.assertGreater(found[0][1], 0)
        running.crash("sidecar")
        self.wait_names(running)
        self.judge()

    def test_pod_of_the_same_name_is_another_pod(self):
        uids = []
        for _ in range(2):
            with RunningPod(cluster(), pod("again", "Burstable")) as running:
                self.wait_names(running)
                uids.append(running.uid)
        self.assertNotEqual(*uids)
        for uid in uids:
            self.assertGreater(self.follower.given[uid], 0)
        # Who is gone has its name still, and its joules.
        for uid in uids:
            wait_until(lambda wanted=uid: self.states(wanted) == {("again", "terminated")}, f"the end of pod {uid}", 10)
        self.judge()

    def states(self, uid):
        return {(labels["pod_name"], labels["state"])
                for labels, _ in self.agent.scrape().series("kepler_pod_cpu_joules_total", pod_id=uid)}

    def test_churn(self):
        count = 12
        names = [f"churn-{number}" for number in range(count)]
        manifests = [pod(name, list(RESOURCES)[number % 3]) for number, name in enumerate(names)]
        for manifest in manifests:
            manifest["spec"]["containers"] = manifest["spec"]["containers"][:1]
        seen = {}
        for first in range(0, count, 3):
            cluster().apply(*manifests[first:first + 3])
            for name in names[first:first + 3]:
                def runs(name=name):
                    found = cluster().find("pod", name)
                    return found if found and found["status"]["phase"] == "Running" else None
                seen[name] = wait_until(runs, f"pod {name} to run", 60, period=0.2)["metadata"]["uid"]
            cluster().kubectl("delete", "pods", "--wait=false", *names[first:first + 3])
        cluster().kubectl("wait", "--for=delete", "--timeout=60s", *(f"pod/{name}" for name in names))
        self.follower.wait_ticks(3)
        for name, uid in seen.items():
            self.assertGreater(self.follower.given[uid], 0, name)
        self.judge()

    def test_labels_of_a_pod_change(self):
        running = self.run_pod("labelled")
        self.wait_names(running)
        for team in ("blue", "green"):
            cluster().kubectl("label", "--overwrite", "pod", running.name, f"team={team}")
            begin = time.monotonic()
            wait_until(lambda wanted=team: {labels["label_team"] for labels, _ in self.agent.scrape().series(
                "kepler_pod_cpu_joules_total", pod_id=running.uid, state="running")} == {wanted},
                f"the label team={team}", POLL + 10)
            self.assertLess(time.monotonic() - begin, POLL + 5)
        self.judge()


class Requests(unittest.TestCase):
    """The kubelet counts them too."""

    def asked(self):
        _, text = cluster().kubelet("/metrics")
        return sum(int(float(line.rpartition(" ")[2])) for line in text.splitlines()
                   if line.startswith("kubelet_http_requests_total{") and 'path="pods"' in line)

    def test_one_per_interval_and_one_per_burst_of_new_containers_none_per_scrape(self):
        with PodAgent(cluster()) as agent:
            def counted():
                return int(agent.scrape().value("kepler_pod_informer_requests_total"))
            wait_until(lambda: agent.scrape().value("kepler_pod_informer_pods") > 0, "the first answer")
            # Its own start was a burst: a container without a name is asked for again after 2, 4 and 8 s.
            wait_until(lambda: self.settled(counted), "the requests to settle", 60)
            begin, before, kubelets = time.monotonic(), counted(), self.asked()
            scrapes = 0
            while time.monotonic() - begin < 4 * POLL:
                agent.scrape()
                scrapes += 1
                time.sleep(0.02)
            calm = counted() - before
            self.assertGreater(scrapes, 200)
            self.assertLessEqual(calm, 5)
            self.assertGreaterEqual(calm, 3)
            self.assertAlmostEqual(self.asked() - kubelets, calm, delta=1)  # one may be on its way
            begin, before, kubelets = time.monotonic(), counted(), self.asked()
            with RunningPod(cluster(), pod("burst")) as running:
                for identifier, name in running.containers().items():
                    wait_until(lambda i=identifier, n=name: agent.scrape().series(
                        "kepler_container_cpu_joules_total", container_id=i, container_name=n), f"the name {name}")
                intervals = (time.monotonic() - begin) / POLL
            burst = counted() - before
            # Sandbox, init container, sidecar and the two others start one after the other: each may be a burst.
            print(f"{calm} requests in {4 * POLL} s with {scrapes} scrapes; {burst} for a pod of four containers, "
                  f"{intervals:.1f} intervals")
            self.assertLessEqual(burst, intervals + 1 + 5)
            self.assertAlmostEqual(self.asked() - kubelets, burst, delta=1)

    @staticmethod
    def settled(counted):
        before = counted()
        time.sleep(2 * POLL)
        return counted() - before <= 2
