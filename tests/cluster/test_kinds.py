"""Containers of every kind that a kubelet starts, in cgroups of either driver: names and joules."""
import json
import os

from agents import PodAgent
from followed import Followed
from harness import wait_until
from node import NODE
from running import cluster
from workload_pods import BUSY, RESOURCES, RunningPod, pod, statuses


class Kinds(Followed):
    def wait_energy(self, identifier, **labels):
        """Of a container, under these labels."""
        wait_until(lambda: any(value > 0 for _, value in self.agent.scrape().series(
            "kepler_container_cpu_joules_total", container_id=identifier, state="running", **labels)),
            f"energy of container {identifier} with {labels}", 60, period=0.2)

    def test_cgroups_are_the_drivers(self):
        """So that a test of the systemd driver is one."""
        node = cluster().node
        manifests = {name: pod(f"cgroup-{name.lower()}", name) for name in RESOURCES}
        cluster().apply(*manifests.values())  # together, which is faster
        for name, manifest in manifests.items():
            running = self.enterContext(RunningPod(cluster(), manifest))
            main = running.container("main")
            with open(f"/proc/{node.process(main)}/cgroup", encoding="ascii") as file:
                lines = file.read().splitlines()
            print(lines[-1])
            self.assertIn(f"0::{node.cgroup_path(running.uid, name, main)}", lines)
            self.assertEqual(len(lines) == 1, os.path.exists("/sys/fs/cgroup/cgroup.controllers"), lines)
            self.wait_energy(main, container_name="main", pod_id=running.uid, runtime=node.runtime_label)
        self.judge()

    def test_ephemeral_container(self):
        running = self.enterContext(RunningPod(cluster(), pod("debugged")))
        probe = running.debug("probe", *BUSY)
        self.assertEqual(sorted(running.containers().values()), ["helper", "main", "prepare", "probe", "sidecar"])
        for identifier, name in running.containers().items():
            self.follower.wait_named(identifier, name)
        self.wait_energy(probe, container_name="probe", pod_id=running.uid)
        self.judge()

    def test_static_pod_has_the_name_of_its_mirror(self):
        """The kubelet runs it by a file, under a UID that the API server does not know; by the pod's annotation it does."""
        others = self.enterContext(PodAgent(cluster(), "apiserver"))
        manifest = pod("static")
        path = os.path.join(cluster().node.static_pods, "static.json")
        with open(path, "w", encoding="ascii") as file:
            json.dump(manifest, file)
        mirror = f"static-{NODE}"
        self.addCleanup(wait_until, lambda: not cluster().find("pod", mirror), "the mirror pod to go", 60, 0.2)
        self.addCleanup(os.remove, path)

        def runs():
            found = cluster().find("pod", mirror)
            ready = [one["ready"] for one in statuses(found)]
            return found if len(ready) == 4 and all(ready) else None
        found = wait_until(runs, f"mirror pod {mirror} to run", 90, period=0.2)
        uid = found["metadata"]["annotations"]["kubernetes.io/config.hash"]
        self.assertNotEqual(uid, found["metadata"]["uid"])
        self.follower.wait_named(uid, ("default", mirror))
        for status in statuses(found):
            self.follower.wait_named(status["containerID"].partition("://")[2], status["name"])
        for agent in (self.agent, others):
            wait_until(lambda agent=agent: [value for _, value in agent.scrape().series(
                "kepler_pod_cpu_joules_total", pod_id=uid, pod_name=mirror, state="running") if value > 0],
                f"energy of the static pod, for the agent with mode {agent.mode}", 60, period=0.2)
            self.assertEqual(agent.scrape().series("kepler_pod_cpu_joules_total", pod_id=found["metadata"]["uid"]), [])
        self.judge()
