"""Nodes and pods that only the API server knows: kwok plays their kubelets."""
import concurrent.futures
import contextlib
import http.client
import json
import ssl
import threading

import images
import programs
from cluster import API_PORT, LOGS
from daemons import Daemon
from namespaces import API_ADDRESS
from harness import wait_until

NAMESPACE = "simulated"


def node(name):
    """kwok manages who carries the annotation; the taint keeps others' pods off it."""
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"},
                         "labels": {"kubernetes.io/hostname": name, "type": "kwok"}},
            "spec": {"taints": [{"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"}]},
            "status": {"allocatable": {"cpu": "64", "memory": "256Gi", "pods": "5000"},
                       "capacity": {"cpu": "64", "memory": "256Gi", "pods": "5000"}}}


def pod(name, on):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"team": "blue", "app": name}},
            "spec": {"nodeName": on, "automountServiceAccountToken": False,
                     "containers": [{"name": other, "image": images.WORK} for other in ("main", "proxy", "logger")]}}


class Simulation(contextlib.AbstractContextManager):
    """`nodes` nodes, each with `pods_each` pods of three containers, all running."""

    THREADS = 8

    def __init__(self, cluster, nodes=10, pods_each=1000):
        self.cluster = cluster
        self.nodes = [f"simulated-{number}" for number in range(nodes)]
        self.pods_each = pods_each
        self.kwok = Daemon("kwok", [
            programs.path("kwok"), f"--kubeconfig={cluster.path('admin.kubeconfig')}",
            f"--config={programs.kwok_stages()}",
            "--manage-all-nodes=false", "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
            "--node-lease-duration-seconds=40"], LOGS)
        self.connection = threading.local()
        self.connections = []

    def __enter__(self):
        try:
            self.kwok.start()
            self.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
                               *map(node, self.nodes))
            wait_until(lambda: self.cluster.find("serviceaccount", "default", NAMESPACE), "the service account", 60)
            self.create(pod(self.pod_name(on, number), on) for on in self.nodes for number in range(self.pods_each))
            wait_until(lambda: all(self.running(on) == self.pods_each for on in self.nodes), "all pods to run", 300, 1)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        """kwok goes first, for no kubelet need agree to what follows."""
        self.kwok.stop()
        for on in self.nodes:
            selected = f"gracePeriodSeconds=0&fieldSelector=spec.nodeName%3D{on}"
            self.ask("DELETE", f"/api/v1/namespaces/{NAMESPACE}/pods?{selected}")
        self.cluster.kubectl("delete", "nodes", "--selector=type=kwok", check=False)
        for connection in self.connections:
            connection.close()

    @staticmethod
    def pod_name(on, number):
        return f"{on}-{number}"

    def running(self, on):
        return len(self.cluster.kubectl(
            "get", "pods", "--namespace", NAMESPACE, "--output=name",
            f"--field-selector=spec.nodeName={on},status.phase=Running").splitlines())

    def ask(self, method, path, body=None):
        """By the administrator, on one connection per thread: ten thousand times kubectl takes an hour."""
        connection = getattr(self.connection, "open", None)
        if connection is None:
            path_of = self.cluster.authority.path
            context = ssl.create_default_context(cafile=path_of("ca.crt"))
            context.load_cert_chain(path_of("admin.crt"), path_of("admin.key"))
            connection = http.client.HTTPSConnection(API_ADDRESS, API_PORT, timeout=120, context=context)
            self.connection.open = connection
            self.connections.append(connection)
        connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise AssertionError(f"{method} {path}: {answer.status} {text[:300]!r}")

    def each(self, step, those):
        with concurrent.futures.ThreadPoolExecutor(self.THREADS) as executor:
            list(executor.map(step, those))

    def create(self, pods):
        self.each(lambda one: self.ask("POST", f"/api/v1/namespaces/{NAMESPACE}/pods", one), pods)

    def delete(self, names):
        self.each(lambda name: self.ask(
            "DELETE", f"/api/v1/namespaces/{NAMESPACE}/pods/{name}?gracePeriodSeconds=0"), names)
