"""The rendered chart as objects, and what the Pod Security levels of Kubernetes say of its pods."""
import json
import os
import pathlib

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy/helm/kepler"
PROFILES = ("exact", "proc", "nonroot", "privileged")


class Loader(yaml.SafeLoader):
    """A key twice in one mapping is an error, as it is to the API server."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        if len(keys) != len(set(keys)):
            raise AssertionError(f"a key twice: {sorted(keys)}")
        return super().construct_mapping(node, deep)


class Rendering:
    """The objects of one file, by kind."""

    def __init__(self, path):
        self.text = pathlib.Path(path).read_text()
        self.objects = [item for item in yaml.load_all(self.text, Loader) if item]

    def all(self, kind):
        return [item for item in self.objects if item["kind"] == kind]

    def one(self, kind):
        found = self.all(kind)
        if len(found) != 1:
            raise AssertionError(f"{len(found)} of kind {kind}")
        return found[0]

    @property
    def pod(self):
        return self.one("DaemonSet")["spec"]["template"]["spec"]

    @property
    def agent(self):
        return next(item for item in self.pod["containers"] if item["name"] == "kepler")

    @property
    def config_text(self):
        return next(item for item in self.all("ConfigMap") if "config.yaml" in item["data"])["data"]["config.yaml"]

    @property
    def config(self):
        return yaml.safe_load(self.config_text)


def manifest(profile):
    return Rendering(ROOT / f"deploy/manifests/{profile}.yaml")


def renderings():
    """What tools/chart.sh rendered, by name."""
    found = {path.stem: Rendering(path) for path in sorted((ROOT / os.environ["KEPLER_CHART_RENDERED"]).glob("*.yaml"))}
    if not found:
        raise AssertionError("nothing is rendered: tools/chart.sh runs this")
    return found


def host_mounts(rendering):
    """[(directory of the host, where it is in the container)]"""
    volumes = {volume["name"]: volume["hostPath"]["path"] for volume in rendering.pod["volumes"] if "hostPath" in volume}
    return [(volumes[mount["name"]], mount["mountPath"]) for mount in rendering.agent["volumeMounts"]
            if mount["name"] in volumes]


# https://kubernetes.io/docs/concepts/security/pod-security-standards/ of 1.34
BASELINE_CAPABILITIES = {"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE",
                         "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"}
RESTRICTED_VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected",
                      "secret"}
SELINUX_TYPES = {"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}


# What a pod has is called as docs/deploy-kubernetes.md calls it.
def baseline_violations(pod, container):
    security, pod_wide = container.get("securityContext", {}), pod.get("securityContext", {})
    for key in ("hostPID", "hostIPC", "hostNetwork"):
        if pod.get(key):
            yield key
    if security.get("privileged"):
        yield "privileged: true"
    for name in set(security.get("capabilities", {}).get("add", [])) - BASELINE_CAPABILITIES:
        yield f"capabilities.add {name}"
    for volume in pod.get("volumes", []):
        if "hostPath" in volume:
            yield f"hostPath {volume['hostPath']['path']}"
    for port in container.get("ports", []):
        if port.get("hostPort"):
            yield "hostPort"
    for context in (security, pod_wide):
        for kind in ("seccompProfile", "appArmorProfile"):
            if context.get(kind, {}).get("type") == "Unconfined":
                yield f"{kind} Unconfined"
        if context.get("seLinuxOptions", {}).get("type", "") not in SELINUX_TYPES:
            yield "seLinuxOptions"
        if context.get("sysctls"):
            yield "sysctls"
    if security.get("procMount", "Default") != "Default":
        yield "procMount"


def restricted_violations(pod, container):
    """Beyond those of baseline; a volume that baseline refuses is named there."""
    security = {**pod.get("securityContext", {}), **container.get("securityContext", {})}
    for volume in pod.get("volumes", []):
        for kind in set(volume) - {"name", "hostPath"} - RESTRICTED_VOLUMES:
            yield f"volume {kind}"
    if security.get("allowPrivilegeEscalation") is not False:
        yield "allowPrivilegeEscalation: true"
    if security.get("runAsNonRoot") is not True:
        yield "runAsNonRoot: false"
    if security.get("runAsUser") == 0:
        yield "runAsUser: 0"
    if security.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
        yield "seccompProfile"
    capabilities = security.get("capabilities", {})
    if "ALL" not in capabilities.get("drop", []):
        yield "capabilities.drop without ALL"


def settings(rendering):
    """What the page's fields say of a pod, as it is."""
    pod, security = rendering.pod, rendering.agent["securityContext"]
    capabilities = security.get("capabilities", {})
    found = {"hostPID"} if pod["hostPID"] else set()
    found |= {f"hostPath {volume['hostPath']['path']}" for volume in pod["volumes"] if "hostPath" in volume}
    found |= {f"capabilities.add {name}" for name in capabilities.get("add", [])}
    found.add(f"capabilities.drop: [{', '.join(capabilities.get('drop', []))}]")
    found.add(f"seccompProfile: {pod['securityContext']['seccompProfile']['type']}")
    # Kubernetes' default.
    security = {"allowPrivilegeEscalation": True, **security}
    return found | {f"{key}: {json.dumps(value)}" for key, value in security.items() if key != "capabilities"}


def violations(rendering):
    pod, agent = rendering.pod, rendering.agent
    return set(baseline_violations(pod, agent)), set(restricted_violations(pod, agent))
