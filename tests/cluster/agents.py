"""The agent in the cluster: as a DaemonSet's pod, and as a process with the rights of one."""
import contextlib
import http.client
import json
import os

import images
from cluster import LOGS
from harness import PATIENCE, Agent, wait_until
from node import NODE
from powercap import PowercapTree
from rights import SETS, ProcessRights, bits

NAMESPACE = "monitoring"
PORT = 28282
TICK = PATIENCE  # seconds
POLL = 5  # seconds between two requests for the pods
# Of the mode `kubelet`, and of `apiserver`: what docs/pod-names.md says is enough.
ROLES = {"kubelet": [{"apiGroups": [""], "resources": ["nodes", "nodes/pods"], "verbs": ["get"]}],
         "apiserver": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]}]}
CAPABILITIES = ("BPF", "PERFMON")


def judge_rights(test, rights, uid=0, capabilities=bits(CAPABILITIES), no_new_privileges=True):
    """They are those, and there is no way to more; `rights` as the kernel tells them."""
    test.assertEqual(rights.capabilities, {**dict.fromkeys(SETS, capabilities), "CapInh": 0, "CapAmb": 0})
    test.assertEqual((rights.uids, rights.no_new_privileges), ({uid}, no_new_privileges))


def namespace(name=NAMESPACE, level="privileged"):
    """Pods that see the host's processes are what `baseline` refuses."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": name, "labels": {"pod-security.kubernetes.io/enforce": level}}}


def account(name, rules):
    """A service account, and what it may do in the whole cluster."""
    return [{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": NAMESPACE}},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": f"{name}-e2e"},
             "rules": rules},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
             "metadata": {"name": f"{name}-e2e"},
             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": f"{name}-e2e"},
             "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}]}]


def config(mode, **kube):
    """Of ended workloads all stay listed, however little they used: what ends is added up too."""
    return {"log": {"level": "debug"},
            "monitor": {"interval": f"{TICK:g}s", "maxTerminated": -1, "minTerminatedEnergyThreshold": 0},
            "kube": {"enabled": True, "nodeName": NODE, **kube,
                     "podInformer": {"mode": mode, "pollInterval": f"{POLL}s", "labels": ["team"]}}}


def meter():
    """Stands for the host's /sys, in which the host's cgroups are mounted."""
    tree = PowercapTree()
    os.makedirs(f"{tree.root}/fs/cgroup")
    return tree


def pod_of(tree, mode):
    """As the chart's profile `exact` makes it: uid 0 without a capability but those for BPF."""
    return {
        "serviceAccountName": f"kepler-{mode}", "hostPID": True, "terminationGracePeriodSeconds": 10,
        "tolerations": [{"operator": "Exists"}], "nodeSelector": {"kubernetes.io/hostname": NODE},
        "containers": [{
            "name": "kepler", "image": images.AGENT, "imagePullPolicy": "Never",
            "args": ["--config.file=/etc/kepler/config.yaml", "--host.sysfs=/host/sys", "--meter.require",
                     f"--web.listen-address=:{PORT}"],
            "securityContext": {
                "runAsUser": 0, "privileged": False, "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"], "add": list(CAPABILITIES)}},
            "readinessProbe": {"httpGet": {"path": "/-/ready", "port": PORT}, "periodSeconds": 1},
            "volumeMounts": [{"name": "config", "mountPath": "/etc/kepler", "readOnly": True},
                             {"name": "sys", "mountPath": "/host/sys", "readOnly": True},
                             {"name": "cgroup", "mountPath": "/host/sys/fs/cgroup", "readOnly": True}]}],
        "volumes": [{"name": "config", "configMap": {"name": f"kepler-{mode}"}},
                    {"name": "sys", "hostPath": {"path": tree.root}},
                    {"name": "cgroup", "hostPath": {"path": "/sys/fs/cgroup"}}]}


class PodAgent(Agent):
    """One pod per node, here is one node. The mode is in its name, and in that of its account: each has a role of its own."""

    def __init__(self, cluster, mode="kubelet"):  # pylint: disable=super-init-not-called
        self.cluster, self.mode = cluster, mode
        self.name = f"kepler-{mode}"
        self.stack = contextlib.ExitStack()
        self.address = self.uid = self.pod = None

    def __enter__(self):
        with self.stack as stack:
            tree = stack.enter_context(meter())
            tree.start()
            stack.callback(self.cluster.kubectl, "delete", "daemonset", self.name, "--namespace", NAMESPACE,
                           "--ignore-not-found", "--cascade=foreground", "--timeout=60s", check=False)
            labels = {"app.kubernetes.io/name": self.name}
            self.cluster.apply(
                namespace(), *account(self.name, ROLES[self.mode]),
                {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": self.name, "namespace": NAMESPACE},
                 "data": {"config.yaml": json.dumps(config(self.mode))}},
                {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": self.name, "namespace": NAMESPACE},
                 "spec": {"selector": {"matchLabels": labels},
                          "template": {"metadata": {"labels": labels}, "spec": pod_of(tree, self.mode)}}})
            wait_until(self.is_ready, f"the pod of DaemonSet {self.name} to be ready", 60, period=0.2)
            self.stack = stack.pop_all()
        return self

    def is_ready(self):
        for pod in self.cluster.pods(NAMESPACE, f"app.kubernetes.io/name={self.name}"):
            for status in pod["status"].get("containerStatuses", ()):
                if status["restartCount"]:
                    raise AssertionError(f"the agent ended: {status['lastState']}\n{self.log_of(pod, '--previous')}")
                if status["ready"]:
                    self.pod, self.uid, self.address = pod, pod["metadata"]["uid"], pod["status"]["podIP"]
                    return True
        return False

    def __exit__(self, kind, value, trace):
        with open(os.path.join(LOGS, f"{self.name}.log"), "a", encoding="utf-8") as file:
            file.write(self.log())
        self.stack.close()

    def rights(self):
        """As the runtime has made them, which is what the pod asks for."""
        container = self.pod["status"]["containerStatuses"][0]["containerID"].partition("://")[2]
        return ProcessRights(self.cluster.node.process(container))

    def log_of(self, pod, *options):
        name = pod["metadata"]["name"]
        return self.cluster.kubectl("logs", name, "--namespace", NAMESPACE, *options, check=False) or ""

    def log(self):
        return self.log_of(self.pod)

    def http(self, source=None, seconds=60):
        return http.client.HTTPConnection(self.address, PORT, timeout=seconds)


class ProcessAgent(Agent):
    """Outside of a pod with a token, in a kubeconfig; the capabilities of the pod, and as little chance to get others."""

    PREFIX = ("setpriv", "--bounding-set=" + ",".join(["-all", *(f"+{name.lower()}" for name in CAPABILITIES)]),
              "--inh-caps=-all", "--no-new-privs")

    def __init__(self, cluster, token, tree, mode="kubelet", kubernetes_node=NODE, name="agent"):
        kubeconfig = cluster.write_kubeconfig(name, {"token": token})
        settings = config(mode, config=kubeconfig)
        settings["kube"]["nodeName"] = kubernetes_node
        super().__init__("--host.sysfs", tree.root, "--meter.require", config=json.dumps(settings),
                         command_prefix=self.PREFIX)
