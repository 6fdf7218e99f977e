"""A cluster of one node that speaks the protocol: API server and kubelet over TLS, with tokens."""
import contextlib
import json
import os
import shutil
import subprocess
import threading
import time
import urllib.parse

from harness import require, scratch_directory
from http_double import Handler, HttpServer

NODE = "node-1"


def make_certificates(directory):
    """ca.crt, and server.crt with server.key for 127.0.0.1, in there."""
    require(shutil.which("openssl"), "openssl makes the certificates")

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True)
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=cluster", "-keyout", "ca.key", "-out", "ca.crt")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=node",
            "-keyout", "server.key", "-out", "server.csr")
    with open(f"{directory}/names", "w", encoding="ascii") as file:
        file.write("subjectAltName=IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "names", "-out", "server.crt")


class Crowd:
    """A list of many pods as text, made piece by piece: every pod as long as any other."""

    def __init__(self, pods, containers):
        self.pods, self.containers = pods, containers
        self.statuses = ",".join(
            f'{{"name":"c{n:06}","containerID":"containerd://POD{n:061x}"}}' for n in range(containers))
        self.head = b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%020d"},"items":[{}'
        self.tail = b"]}"
        self.size = sum(map(len, self.pieces(0)))

    def pieces(self, version):
        yield self.head % version
        for n in range(self.pods):
            yield (f',{{"metadata":{{"uid":"crowd-{n:08}","name":"crowd-{n:08}","namespace":"crowd"}},"status":'
                   f'{{"containerStatuses":[{self.statuses.replace("POD", f"{n:03x}")}]}}}}').encode()
        yield self.tail


class Cluster(contextlib.AbstractContextManager):
    """`pods` is what both answer, and what watches say of; `crowd`, where it is not None, is what lists are instead; `fault`
    what is done instead to who asks for pods: a status, "hang", "cut", or None; `kubelet_fault` the same of the kubelet alone."""

    def __init__(self):
        self.directory = scratch_directory()
        self.fault = self.kubelet_fault = self.crowd = None
        self.token = "t0k"
        self.asked = []  # (Unix time, path)
        self.done = threading.Event()
        self.changed = threading.Condition()
        self.events = []  # (type, pod); the version behind the n-th is n + 1
        self.kept_from = 1  # events of versions before are forgotten
        self.cuts = 0
        self._pods = []

    def __enter__(self):
        make_certificates(self.directory)
        self.write_token(self.token)
        cluster = self

        class Answer(Handler):
            def do_GET(self):  # pylint: disable=invalid-name
                cluster.answer(self)
        self.server = HttpServer(Answer, (f"{self.directory}/server.crt", f"{self.directory}/server.key")).__enter__()
        with open(self.kubeconfig, "w", encoding="ascii") as file:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "e2e",
                       "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "agent"}}],
                       "clusters": [{"name": "e2e", "cluster": {
                           "server": self.server.url, "certificate-authority": "ca.crt"}}],
                       "users": [{"name": "agent", "user": {"tokenFile": "token"}}]}, file)
        return self

    def __exit__(self, *_):
        self.done.set()
        self.cut_watches()
        self.server.__exit__()
        shutil.rmtree(self.directory)

    @property
    def pods(self):
        return self._pods

    @pods.setter
    def pods(self, pods):
        def by_uid(some):
            return {one["metadata"]["uid"]: one for one in some}
        before, after = by_uid(self._pods), by_uid(pods)
        with self.changed:
            self._pods = pods
            self.events += [("DELETED", old) for uid, old in before.items() if uid not in after]
            self.events += [("MODIFIED" if uid in before else "ADDED", new) for uid, new in after.items()
                            if before.get(uid) != new]
            self.changed.notify_all()

    @property
    def version(self):
        return 1 + len(self.events)

    def forget(self):
        """What has happened so far: a watch from before gets 410."""
        with self.changed:
            self.events += [("BOOKMARK", None)]
            self.kept_from = self.version
        self.cut_watches()

    def cut_watches(self):
        with self.changed:
            self.cuts += 1
            self.changed.notify_all()

    @property
    def kubeconfig(self):
        return os.path.join(self.directory, "config")

    def write_token(self, token):
        self.token = token
        with open(f"{self.directory}/token", "w", encoding="ascii") as file:
            file.write(token + "\n")

    def config(self, **informer):
        """The agent's, as YAML."""
        return json.dumps({"kube": {"enabled": True, "config": self.kubeconfig, "nodeName": NODE,
                                    "podInformer": {"pollInterval": "1s", **informer}}})

    def requests(self, path="/pods", watch=None):
        """When they were asked, of that path; `watch`: only those that are one, or are none."""
        return [when for when, asked in self.asked
                if asked.split("?")[0] == path and watch in (None, "watch=" in asked)]

    def answer(self, request):
        self.asked.append((time.time(), request.path))
        if request.headers["Authorization"] != f"Bearer {self.token}":
            return self.send(request, 401, {"kind": "Status", "message": "Unauthorized"})
        if request.path == f"/api/v1/nodes/{NODE}":
            return self.send(request, 200, {"kind": "Node", "status": {
                "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": self.server.port}}}})
        path, _, query = request.path.partition("?")
        wanted = urllib.parse.parse_qs(query)
        if path not in ("/pods", "/api/v1/pods"):
            return self.send(request, 404, {"kind": "Status", "message": f"{request.path} not found"})
        fault = self.kubelet_fault if path == "/pods" and self.kubelet_fault else self.fault
        if fault == "hang":
            self.done.wait()
            return None
        if isinstance(fault, int):
            return self.send(request, fault, {"kind": "Status", "message": "as the test wants it"})
        if "watch" in wanted:
            return self.watch(request, int(wanted["resourceVersion"][0]), int(wanted["timeoutSeconds"][0]))
        if self.crowd is not None:
            return self.send_crowd(request, self.crowd)
        # The API server knows pods of any node name, and has none of a node that is not there.
        mine = path == "/pods" or wanted["fieldSelector"] == [f"spec.nodeName={NODE}"]
        return self.send(request, 200, {"kind": "PodList", "apiVersion": "v1", "items": self.pods if mine else [],
                                        "metadata": {"resourceVersion": str(self.version)}}, cut=fault == "cut")

    def watch(self, request, version, seconds):
        """Says what happens after that version for so long, or until it is cut: in the middle of a chunk, as a server that
        dies. A server that hangs by then does neither."""
        def say(kind, what):
            text = json.dumps({"type": kind, "object": what}).encode() + b"\n"
            request.wfile.write(f"{len(text):x}\r\n".encode() + text + b"\r\n")
        with contextlib.suppress(OSError):  # the agent is stopped
            request.protocol_version = "HTTP/1.1"
            request.send_response(200)
            request.send_header("Content-Type", "application/json")
            request.send_header("Transfer-Encoding", "chunked")
            request.end_headers()
            if version < self.kept_from:
                say("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"})
                request.wfile.write(b"0\r\n\r\n")
                return
            cuts, end = self.cuts, time.monotonic() + seconds
            while True:
                with self.changed:
                    self.changed.wait_for(lambda: self.cuts != cuts or self.version > version, end - time.monotonic())
                    if self.cuts != cuts:
                        break
                    events = self.events[version - 1:]
                if self.fault == "hang":
                    self.done.wait()
                for kind, what in events:
                    version += 1
                    meta = {"resourceVersion": str(version)}
                    say(kind, {**(what or {"kind": "Pod"}), "metadata": {**(what or {}).get("metadata", {}), **meta}})
                if time.monotonic() >= end:
                    request.wfile.write(b"0\r\n\r\n")
                    return
            request.wfile.write(b"ff\r\n{")

    def send_crowd(self, request, crowd):
        with contextlib.suppress(OSError):  # the agent is stopped
            request.send_response(200)
            request.send_header("Content-Type", "application/json")
            request.send_header("Content-Length", str(crowd.size))
            request.end_headers()
            for piece in crowd.pieces(self.version):
                request.wfile.write(piece)

    @staticmethod
    def send(request, status, what, cut=False):
        body = json.dumps(what).encode()
        with contextlib.suppress(OSError):  # the agent is stopped
            request.send_response(status)
            request.send_header("Content-Type", "application/json")
            request.send_header("Content-Length", str(len(body)))
            request.end_headers()
            request.wfile.write(body[:len(body) // 2] if cut else body)


def pod(uid, name, containers, namespace="shop", requests=None, annotations=None):
    """As the API shows it, of a Deployment with the pod's name; `containers`: name to id, `requests`: of each of them."""
    return {"metadata": {"uid": uid, "name": name, "namespace": namespace,
                         "labels": {"app": name, "pod-template-hash": "5d9f"}, "annotations": annotations or {},
                         "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{name}-5d9f",
                                              "uid": "2c1e", "controller": True}]},
            "spec": {"nodeName": NODE, "containers": [
                {"name": container, "resources": {"requests": requests or {}}} for container in containers]},
            "status": {"phase": "Running", "containerStatuses": [
                {"name": container, "containerID": f"containerd://{identifier}"}
                for container, identifier in containers.items()]}}
