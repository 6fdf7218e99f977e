"""A real cluster of one node: etcd, API server, controller manager, scheduler, containerd, kubelet."""
import contextlib
import http.client
import json
import os
import shutil
import ssl
import subprocess
import tempfile
import time
import urllib.parse

import images
import namespaces
import programs
from certificates import Authority
from daemons import Daemon
from harness import wait_until
from namespaces import API_ADDRESS, NODE_ADDRESS, SERVICES
from node import KUBELET_PORT, NODE, Node

LOGS = os.path.join(programs.PLACE, "logs")
API_PORT = 443  # where the service `kubernetes` is
ETCD = "http://127.0.0.1:2379"
# Who asks for what is the API server's to say: a line of JSON for each request.
AUDIT = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
         "rules": [{"level": "Metadata", "resources": [{"resources": ["pods", "nodes", "nodes/*"]}],
                    "userGroups": ["system:serviceaccounts"]}, {"level": "None"}]}


class Cluster(contextlib.AbstractContextManager):
    """`archives`: paths of the images, which are made of `agent_program` where there are none. `cgroup_driver`: as the
    kubelet names it."""

    def __init__(self, agent_program, archives=(), cgroup_driver="cgroupfs"):
        self.agent_program = agent_program
        self.archives = archives
        self.cgroup_driver = cgroup_driver
        self.directory = tempfile.mkdtemp(prefix="kepler-cluster-", dir="/var/tmp")  # overlayfs wants a disk below it
        shutil.rmtree(LOGS, ignore_errors=True)
        os.makedirs(LOGS, exist_ok=True)  # may be a mount point, which stays
        self.daemons = []

    def path(self, *parts):
        return os.path.join(self.directory, *parts)

    def __enter__(self):
        begin = time.monotonic()

        def at(what):
            print(f"{time.monotonic() - begin:5.1f} s  {what}", flush=True)
        try:
            namespaces.furnish(self.path("sysctls"))
            self.authority = self.make_authority()
            self.write_kubeconfig("admin")
            self.write_kubeconfig("node")
            self.start(Daemon("etcd", [
                programs.path("etcd"), "--data-dir", self.path("etcd"), "--listen-client-urls", ETCD,
                "--advertise-client-urls", ETCD, "--unsafe-no-fsync"], LOGS))
            self.node = Node(self.directory, LOGS, self.authority, self.path("node.kubeconfig"), self.cgroup_driver)
            self.start(self.node.containerd)
            self.api = self.start(self.api_server())
            self.node.containerd.wait_ready()
            for archive in self.archives or images.write_all(self.agent_program, self.directory):
                self.node.load_archive(archive)
            at("containerd has the images")
            self.api.wait_ready()
            at("the API server is ready")
            self.start(self.kube("kube-controller-manager", f"--root-ca-file={self.authority.path('ca.crt')}",
                                 f"--service-account-private-key-file={self.authority.path('service-accounts.key')}",
                                 "--controllers=*,-node-ipam-controller,-cloud-node-lifecycle-controller"))
            self.start(self.kube("kube-scheduler"))
            self.start(self.node.kubelet)
            self.node.kubelet.ready = self.node_is_ready
            self.node.kubelet.wait_ready(120)
            at("the node is ready")
            # Without it no pod is accepted.
            wait_until(lambda: self.find("serviceaccount", "default"), "the service account `default`", 60, period=0.1)
            at("the cluster takes pods")
        except BaseException as error:
            for daemon in self.daemons:
                error.add_note(f"{daemon.name} ended: {daemon.log()}" if daemon.process.poll() is not None else "")
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        """Whatever the daemons leave behind, containers first of all, is tools/e2e_kubernetes.sh's to sweep."""
        for daemon in reversed(self.daemons):
            daemon.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def start(self, daemon):
        self.daemons.append(daemon.start())
        return daemon

    def make_authority(self):
        authority = Authority(self.path("certificates"))
        authority.issue("api", "/CN=kube-apiserver", ["127.0.0.1", NODE_ADDRESS, API_ADDRESS],
                        ["localhost", "kubernetes.default.svc"])
        authority.issue("admin", "/O=system:masters/CN=admin")
        authority.issue("node", f"/O=system:nodes/CN=system:node:{NODE}")
        authority.issue("kubelet", f"/CN={NODE}", [NODE_ADDRESS], [NODE])
        authority.service_account_key()
        return authority

    def api_server(self):
        with open(self.path("audit.yaml"), "w", encoding="ascii") as file:
            json.dump(AUDIT, file)
        path = self.authority.path
        return Daemon("kube-apiserver", [
            programs.path("kube-apiserver"), f"--etcd-servers={ETCD}", "--bind-address=0.0.0.0",
            f"--advertise-address={NODE_ADDRESS}", f"--secure-port={API_PORT}", f"--service-cluster-ip-range={SERVICES}",
            f"--tls-cert-file={path('api.crt')}", f"--tls-private-key-file={path('api.key')}",
            f"--client-ca-file={path('ca.crt')}", "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={path('service-accounts.key')}",
            f"--service-account-signing-key-file={path('service-accounts.key')}",
            "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
            f"--kubelet-client-certificate={path('admin.crt')}", f"--kubelet-client-key={path('admin.key')}",
            f"--kubelet-certificate-authority={path('ca.crt')}", "--kubelet-preferred-address-types=InternalIP",
            f"--audit-policy-file={self.path('audit.yaml')}", f"--audit-log-path={self.path('audit.log')}",
            f"--cert-dir={self.path('api-certificates')}"], LOGS,
            ready=lambda: self.ask("/readyz") == (200, "ok"))

    def kube(self, name, *arguments):
        return Daemon(name, [programs.path(name), f"--kubeconfig={self.path('admin.kubeconfig')}", "--leader-elect=false",
                             "--bind-address=127.0.0.1", f"--cert-dir={self.path(name)}", *arguments], LOGS)

    def write_kubeconfig(self, name, user=None):
        """For the certificate of that name, or for another user; returns its path."""
        user = user or {"client-certificate": self.authority.path(f"{name}.crt"),
                        "client-key": self.authority.path(f"{name}.key")}
        with open(self.path(f"{name}.kubeconfig"), "w", encoding="ascii") as file:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "e2e",
                       "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": name}}],
                       "clusters": [{"name": "e2e", "cluster": {
                           "server": f"https://{API_ADDRESS}:{API_PORT}",
                           "certificate-authority": self.authority.path("ca.crt")}}],
                       "users": [{"name": name, "user": user}]}, file)
        return self.path(f"{name}.kubeconfig")

    def node_is_ready(self):
        node = self.find("node", NODE)
        return node and any(condition["type"] == "Ready" and condition["status"] == "True"
                            for condition in node["status"].get("conditions", ()))

    def tool(self, name, *arguments, check=True, given=None, seconds=120):
        """What kubectl or helm prints; None where it fails and that is not an error."""
        done = subprocess.run([programs.path(name), *arguments], check=False, capture_output=True, text=True, input=given,
                              timeout=seconds, env={**os.environ, "KUBECONFIG": self.path("admin.kubeconfig"),
                                                    "HOME": self.directory})
        if done.returncode == 0:
            return done.stdout
        if check:
            raise AssertionError(f"{name} {' '.join(arguments)}: {done.stderr.strip() or done.stdout.strip()}")
        return None

    def kubectl(self, *arguments, **options):
        return self.tool("kubectl", *arguments, **options)

    def apply(self, *objects):
        self.kubectl("apply", "-f", "-", given=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def find(self, kind, name, namespace="default"):
        """An object, or None. Asked often: to start kubectl takes a second of a slow machine."""
        place = "" if kind == "node" else f"/namespaces/{namespace}"
        status, text = self.ask(f"/api/v1{place}/{kind}s/{name}")
        return json.loads(text) if status == 200 else None

    def pods(self, namespace, label):
        """Those with a label, as in kind=short."""
        status, text = self.ask(f"/api/v1/namespaces/{namespace}/pods?labelSelector={urllib.parse.quote(label)}")
        return json.loads(text)["items"] if status == 200 else []

    def ask(self, path):
        """(status, body) of a request to the API server by the administrator; status 0 where it does not answer."""
        try:
            return self.get(API_ADDRESS, API_PORT, path)
        except OSError:
            return 0, ""

    def token(self, account, namespace, duration="1h"):
        return self.kubectl("create", "token", account, "--namespace", namespace, f"--duration={duration}").strip()

    def kubelet(self, path, token=None):
        """(status, body) of a request to the kubelet, by the administrator or with a token."""
        return self.get(NODE_ADDRESS, KUBELET_PORT, path, token)

    def get(self, address, port, path, token=None):
        context = ssl.create_default_context(cafile=self.authority.path("ca.crt"))
        if token is None:
            context.load_cert_chain(self.authority.path("admin.crt"), self.authority.path("admin.key"))
        connection = http.client.HTTPSConnection(address, port, timeout=30, context=context)
        with contextlib.closing(connection):
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def audited(self, user):
        """What a user has asked the API server for: its lines of the audit log."""
        with open(self.path("audit.log"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.endswith("\n")]
        return [line for line in lines if line["user"]["username"] == user]
