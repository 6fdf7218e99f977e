"""Pods that use CPU time, of each class of service, with init containers and sidecars."""
import contextlib
import json

import images
from harness import PATIENCE, wait_until
from node import NODE

BUSY = (f"{15 / PATIENCE:g}",)  # percent of a CPU, as long as the container lives
# Long enough for the kubelet to tell its name: who ends before that stays without one.
SHORT = ("50", "2")  # seconds of CPU time
RESOURCES = {
    "BestEffort": {},
    "Burstable": {"requests": {"cpu": "10m", "memory": "8Mi"}, "limits": {"cpu": "500m"}},
    "Guaranteed": {"requests": {"cpu": "200m", "memory": "32Mi"}, "limits": {"cpu": "200m", "memory": "32Mi"}},
}


def container(name, arguments, service_class, **more):
    return {"name": name, "image": images.WORK, "imagePullPolicy": "Never", "args": list(arguments),
            "resources": RESOURCES[service_class], **more}


def pod(name, service_class="BestEffort", namespace="default", labels=None, **spec):
    """An init container that ends, one that goes on as a sidecar, and two others."""
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace, "labels": labels or {"team": "blue"}},
            "spec": {"terminationGracePeriodSeconds": 1, "nodeName": NODE, "automountServiceAccountToken": False,
                     "tolerations": [{"operator": "Exists"}],
                     "initContainers": [container("prepare", SHORT, service_class),
                                        container("sidecar", BUSY, service_class, restartPolicy="Always")],
                     "containers": [container("main", BUSY, service_class), container("helper", BUSY, service_class)],
                     **spec}}


def statuses(found):
    status = found["status"] if found else {}
    return [one for kind in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
            for one in status.get(kind, ())]


class RunningPod(contextlib.AbstractContextManager):
    """Deleted at the end."""

    def __init__(self, cluster, manifest):
        self.cluster, self.manifest = cluster, manifest
        self.name, self.namespace = manifest["metadata"]["name"], manifest["metadata"]["namespace"]
        self.uid = None

    def __enter__(self):
        self.cluster.apply(self.manifest)
        try:
            wait_until(self.runs, f"pod {self.name} to run", 60, period=0.2)
        except AssertionError as error:
            error.add_note(json.dumps(self.look() and self.look()["status"], indent=1)[:4000])
            self.__exit__()
            raise
        self.uid = self.look()["metadata"]["uid"]
        return self

    def __exit__(self, *_):
        self.cluster.kubectl("delete", "pod", self.name, "--namespace", self.namespace, "--ignore-not-found",
                             "--timeout=60s", "--wait=true")

    def look(self):
        return self.cluster.find("pod", self.name, self.namespace)

    def runs(self):
        found = self.look()
        wanted = len(self.manifest["spec"]["containers"])
        return found and sum(status["ready"] for status in found["status"].get("containerStatuses", ())) == wanted

    def containers(self):
        """{id: name}, of all that the kubelet speaks of now."""
        return {status["containerID"].partition("://")[2]: status["name"] for status in statuses(self.look())
                if "containerID" in status}

    def debug(self, name, *arguments):
        """Adds an ephemeral container; its id, once it runs."""
        self.cluster.kubectl("debug", self.name, "--namespace", self.namespace, f"--container={name}", "--profile=general",
                             f"--image={images.WORK}", "--image-pull-policy=Never", "--", "/work", *arguments)

        def runs():
            return next((status["containerID"].partition("://")[2] for status in statuses(self.look())
                         if status["name"] == name and "running" in status["state"]), None)
        return wait_until(runs, f"ephemeral container {name} of pod {self.name} to run", 60, period=0.2)

    def container(self, name):
        return next(identifier for identifier, other in self.containers().items() if other == name)

    def crash(self, name):
        """Kills a container and waits until the kubelet has started the next one; its id."""
        before = self.container(name)
        self.cluster.node.kill_container(before)

        def next_one():
            for status in statuses(self.look()):
                if status["name"] == name and status["restartCount"] and "running" in status["state"]:
                    identifier = status["containerID"].partition("://")[2]
                    return identifier if identifier != before else None
            return None
        return wait_until(next_one, f"container {name} of pod {self.name} to be started again", 60, period=0.2)
