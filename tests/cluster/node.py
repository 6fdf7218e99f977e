"""The node: containerd, and the kubelet that drives it. cgroups by cgroupfs, under /kubepods of this machine."""
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
"""
# Each pod has a network of its own, from which the node's addresses are reached; nothing else is there to be reached.
NETWORK = {"cniVersion": "0.4.0", "name": "pods", "plugins": [
    {"type": "ptp", "ipam": {"type": "host-local", "subnet": PODS, "routes": [{"dst": "0.0.0.0/0"}]}}]}


class Node:
    """`authority` vouches for the kubelet, `kubeconfig` is by whom it asks the API server."""

    def __init__(self, directory, logs, authority, kubeconfig):
        self.directory = directory
        self.socket = f"{directory}/containerd.sock"
        os.makedirs(f"{directory}/cni")
        with open(f"{directory}/cni/10-pods.conflist", "w", encoding="ascii") as file:
            # Which address is whose is kept in /var/lib by default, for longer than the cluster lives.
            NETWORK["plugins"][0]["ipam"]["dataDir"] = f"{directory}/addresses"
            json.dump(NETWORK, file)
        with open(f"{directory}/containerd.toml", "w", encoding="ascii") as file:
            file.write(CONTAINERD.format(directory=directory, pause=images.PAUSE))
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
            "cgroupDriver": "cgroupfs", "failCgroupV1": False, "failSwapOn": False,
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
        self.ctr("images", "import", path)
        os.remove(path)

    def process(self, container):
        """The pid of its first process."""
        return int(dict(line.split()[:2] for line in self.ctr("tasks", "list").splitlines()[1:])[container])

    def kill_container(self, container):
        """Its first process, as a crash would."""
        self.ctr("tasks", "kill", "--signal", "SIGKILL", container)
