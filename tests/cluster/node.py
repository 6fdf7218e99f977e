"""The node: containerd, and the kubelet that drives it. Its cgroups are below /kubepods (driver `cgroupfs`) or /kubepods.slice
(driver `systemd`) of this machine."""
import json
import os
import subprocess

import images
import programs
from daemons import Daemon
from namespaces import NODE_ADDRESS, PODS

NODE = "node-a"
KUBELET_PORT = 10250

CONTAINERD = """
version = 2
root = "{directory}/containerd/root"
state = "{directory}/containerd/state"
oom_score = 0
[grpc]
  address = "{directory}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  # The tests' root may be without CAP_SYS_RESOURCE, and cannot lower the score of anybody then.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{directory}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = {systemd_cgroup}
"""
# Each pod has a network of its own, from which the node's addresses are reached; nothing else is there to be reached.
NETWORK = {"cniVersion": "0.4.0", "name": "pods", "plugins": [
    {"type": "ptp", "ipam": {"type": "host-local", "subnet": PODS, "routes": [{"dst": "0.0.0.0/0"}]}}]}


class Node:
    """`authority` vouches for the kubelet, `kubeconfig` has its credentials for the API server. `static_pods`: the directory of
    manifests that the kubelet runs without being asked."""

    def __init__(self, directory, logs, authority, kubeconfig, cgroup_driver):
        self.directory = directory
        self.cgroup_driver = cgroup_driver
        self.static_pods = f"{directory}/static-pods"
        os.makedirs(self.static_pods)
        self.socket = f"{directory}/containerd.sock"
        os.makedirs(f"{directory}/cni")
        with open(f"{directory}/cni/10-pods.conflist", "w", encoding="ascii") as file:
            # Which address is whose is kept in /var/lib by default, for longer than the cluster lives.
            NETWORK["plugins"][0]["ipam"]["dataDir"] = f"{directory}/addresses"
            json.dump(NETWORK, file)
        with open(f"{directory}/containerd.toml", "w", encoding="ascii") as file:
            file.write(CONTAINERD.format(directory=directory, pause=images.PAUSE,
                                         systemd_cgroup=str(cgroup_driver == "systemd").lower()))
        with open(f"{directory}/kubelet.yaml", "w", encoding="ascii") as file:
            json.dump(self.kubelet_configuration(authority), file)
        self.containerd = Daemon("containerd", ["containerd", "--config", f"{directory}/containerd.toml"], logs,
                                 ready=lambda: self.ctr("version", check=False) is not None)
        self.kubelet = Daemon("kubelet", [
            programs.path("kubelet"), f"--config={directory}/kubelet.yaml", f"--kubeconfig={kubeconfig}",
            f"--root-dir={directory}/kubelet", f"--cert-dir={directory}/kubelet-certificates",
            f"--hostname-override={NODE}", f"--node-ip={NODE_ADDRESS}"], logs)

    def kubelet_configuration(self, authority):
        return {
            "kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                               "x509": {"clientCAFile": authority.path("ca.crt")}},
            "authorization": {"mode": "Webhook"},
            "address": NODE_ADDRESS, "port": KUBELET_PORT, "readOnlyPort": 0,
            "tlsCertFile": authority.path("kubelet.crt"), "tlsPrivateKeyFile": authority.path("kubelet.key"),
            "containerRuntimeEndpoint": f"unix://{self.socket}",
            # As this machine's cgroups are: Kubernetes 1.35 and later refuse v1 and hybrid ones by default.
            "cgroupDriver": self.cgroup_driver, "failCgroupV1": False, "failSwapOn": False,
            "staticPodPath": self.static_pods,
            "oomScoreAdj": 0, "protectKernelDefaults": True, "makeIPTablesUtilChains": False,
            "evictionHard": {"memory.available": "10Mi", "nodefs.available": "1Mi", "imagefs.available": "1Mi"},
            "enforceNodeAllocatable": [], "maxPods": 200, "serializeImagePulls": False,
            "syncFrequency": "10s", "nodeStatusUpdateFrequency": "5s",
            "podLogsDir": f"{self.directory}/pod-logs", "volumePluginDir": f"{self.directory}/volume-plugins",
        }

    def ctr(self, *arguments, check=True):
        done = subprocess.run(["ctr", "--address", self.socket, "--namespace", "k8s.io", *arguments],
                              check=False, capture_output=True, text=True)
        if done.returncode != 0:
            if check:
                raise RuntimeError(f"ctr {' '.join(arguments)}: {done.stderr.strip()}")
            return None
        return done.stdout

    def load(self, image):
        path = f"{self.directory}/image.tar"
        image.write(path)
        self.load_archive(path)
        os.remove(path)

    def load_archive(self, path):
        self.ctr("images", "import", path)

    @property
    def runtime_label(self):
        """What the agent calls the runtime: with cgroupfs the path does not name it."""
        return {"cgroupfs": "kubernetes", "systemd": "containerd"}[self.cgroup_driver]

    def cgroup_path(self, uid, service_class, container):
        """Where the kubelet and the runtime put a container."""
        service_class = service_class.lower()
        if self.cgroup_driver == "cgroupfs":
            above = "" if service_class == "guaranteed" else f"/{service_class}"
            return f"/kubepods{above}/pod{uid}/{container}"
        above, infix = "", ""
        if service_class != "guaranteed":
            above, infix = f"/kubepods-{service_class}.slice", f"-{service_class}"
        return f"/kubepods.slice{above}/kubepods{infix}-pod{uid.replace('-', '_')}.slice/cri-containerd-{container}.scope"

    def process(self, container):
        """The pid of its first process."""
        return int(dict(line.split()[:2] for line in self.ctr("tasks", "list").splitlines()[1:])[container])

    def kill_container(self, container):
        """Its first process, as a crash would."""
        self.ctr("tasks", "kill", "--signal", "SIGKILL", container)
