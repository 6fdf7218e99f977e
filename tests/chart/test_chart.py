"""The rendered chart: who may do what. Without helm, over deploy/manifests; test_renderings.py has other values."""
import hashlib
import pathlib
import re
import sys
import unittest

import yaml

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import deploy_page  # noqa: E402
from harness import run_tests  # noqa: E402
from manifests import CHART, PROFILES, ROOT, manifest, settings, violations  # noqa: E402
from shipped_agent import refusal  # noqa: E402


# Of every profile: metrics for alerts about the agent's CPU time and memory, and names of pods from either server.
EVERYWHERE = {"exporter": {"prometheus": {"debugCollectors": ["process"]}}, "kube": {"podInformer": {"mode": "auto"}}}


def chart_digest():
    """As chart_digest() of tools/chart.sh has it."""
    files = sorted(f"./{path.relative_to(CHART)}" for path in CHART.rglob("*") if path.is_file())
    lines = "".join(f"{hashlib.sha256((CHART / name).read_bytes()).hexdigest()}  {name}\n" for name in files)
    return hashlib.sha256(lines.encode()).hexdigest()


class EveryProfile(unittest.TestCase):
    def test_manifests_are_of_this_chart(self):
        for profile in PROFILES:
            with self.subTest(profile):
                self.assertIn(f"\n# chart: {chart_digest()}\n", manifest(profile).text,
                              "stale: run tools/chart.sh --write")

    def test_manifests_are_as_they_were_made(self):
        for profile in PROFILES:
            said, content = re.search(r"\n# content: (\w+)\n(.*)", manifest(profile).text, re.S).groups()
            with self.subTest(profile):
                self.assertEqual(hashlib.sha256(content.encode()).hexdigest(), said,
                                 "changed by hand: change the chart and run tools/chart.sh --write")

    def test_root_of_the_file_system_is_read_only_and_so_are_host_paths(self):
        for profile in PROFILES:
            rendering = manifest(profile)
            with self.subTest(profile):
                self.assertIs(rendering.agent["securityContext"]["readOnlyRootFilesystem"], True)
                for mount in rendering.agent["volumeMounts"]:
                    self.assertIs(mount["readOnly"], True, mount)
                    if mount["name"].startswith("host-"):
                        self.assertEqual(mount["recursiveReadOnly"], "IfPossible")

    def test_probes_measure_nothing(self):
        for profile in PROFILES:
            agent = manifest(profile).agent
            with self.subTest(profile):
                self.assertEqual(agent["livenessProbe"]["httpGet"], {"path": "/-/healthy", "port": "http"})
                self.assertEqual(agent["readinessProbe"]["httpGet"], {"path": "/-/ready", "port": "http"})

    def test_memory_is_bounded_and_the_node_named(self):
        for profile in PROFILES:
            agent = manifest(profile).agent
            with self.subTest(profile):
                self.assertIn("memory", agent["resources"]["limits"])
                self.assertIn("--kube.node-name=$(NODE_NAME)", agent["args"])
                self.assertEqual(agent["env"][0]["valueFrom"]["fieldRef"]["fieldPath"], "spec.nodeName")

    def test_selectors_find_the_pods(self):
        for profile in PROFILES:
            rendering = manifest(profile)
            daemonset = rendering.one("DaemonSet")
            labels = daemonset["spec"]["template"]["metadata"]["labels"].items()
            with self.subTest(profile):
                self.assertLessEqual(daemonset["spec"]["selector"]["matchLabels"].items(), labels)
                self.assertLessEqual(rendering.one("Service")["spec"]["selector"].items(), labels)

    def test_role_is_to_read_the_pods_of_a_node(self):
        for profile in PROFILES:
            rendering = manifest(profile)
            with self.subTest(profile):
                self.assertEqual(rendering.one("ClusterRole")["rules"],
                                 [{"apiGroups": [""], "resources": ["nodes", "nodes/pods"], "verbs": ["get"]},
                                  {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]}])
                self.assertEqual([subject["name"] for subject in rendering.one("ClusterRoleBinding")["subjects"]],
                                 [rendering.pod["serviceAccountName"]])
                self.assertIs(rendering.one("ServiceAccount")["automountServiceAccountToken"], False)


class Kustomization(unittest.TestCase):
    def test_it_names_a_manifest_and_its_image(self):
        folder = ROOT / "deploy/manifests"
        kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
        self.assertEqual(kustomization["resources"], ["exact.yaml"])
        image, = kustomization["images"]
        self.assertEqual(manifest("exact").agent["image"], f"{image['name']}:{image['newTag']}")


class PageOfRights(unittest.TestCase):
    """What docs/deploy-kubernetes.md says of each profile, field by field."""

    def setUp(self):
        self.manifests = {profile: manifest(profile.lower()) for profile in deploy_page.profile_rights()}
        self.assertEqual({profile.lower() for profile in self.manifests}, set(PROFILES))

    def test_rights(self):
        for profile, said in deploy_page.profile_rights().items():
            rendering = self.manifests[profile]
            security = rendering.agent["securityContext"]
            capabilities = None if security["privileged"] else frozenset(security["capabilities"].get("add", []))
            source = rendering.config.get("activity", {}).get("source", "bpf")
            with self.subTest(profile):
                self.assertEqual(said, deploy_page.Rights(security["runAsUser"], capabilities, rendering.pod["hostPID"], source))

    def test_fields(self):
        for profile, rendering in self.manifests.items():
            has = settings(rendering)
            for field in deploy_page.fields():
                with self.subTest(profile, field=field):
                    self.assertEqual(field.items & has, field.items if profile in field.profiles else set())

    def test_pod_security_levels(self):
        for profile, rendering in self.manifests.items():
            baseline, restricted = violations(rendering)
            with self.subTest(profile):
                self.assertEqual(baseline, deploy_page.refused("baseline", profile))
                if profile != "privileged":  # baseline decides for it
                    self.assertEqual(restricted, deploy_page.refused("restricted", profile))

    def test_exact_field_by_field(self):
        rendering = manifest("exact")
        self.assertEqual(rendering.agent["securityContext"], {
            "privileged": False, "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
            "runAsNonRoot": False, "runAsUser": 0, "runAsGroup": 0,
            "capabilities": {"drop": ["ALL"], "add": ["BPF", "PERFMON"]}})
        self.assertEqual(rendering.pod["securityContext"], {"seccompProfile": {"type": "RuntimeDefault"}})
        self.assertEqual(rendering.config, {"host": {"sysfs": "/host/sys"}, **EVERYWHERE})

    def test_proc_reads_the_hosts_proc(self):
        self.assertEqual(manifest("proc").config, {"host": {"sysfs": "/host/sys", "procfs": "/host/proc"},
                                                   "activity": {"source": "procfs"}, **EVERYWHERE})


class ShippedAgent(unittest.TestCase):
    def test_configuration(self):
        for profile in PROFILES:
            with self.subTest(profile):
                self.assertIsNone(refusal(manifest(profile)))


if __name__ == "__main__":
    run_tests()
