"""The rendered chart: who may do what. Without helm, over deploy/manifests; tools/chart.sh adds its own renderings."""
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from manifests import CHART, PROFILES, manifest, renderings, violations  # noqa: E402


def chart_digest():
    """As chart_digest() of tools/chart.sh has it."""
    files = sorted(f"./{path.relative_to(CHART)}" for path in CHART.rglob("*") if path.is_file())
    lines = "".join(f"{hashlib.sha256((CHART / name).read_bytes()).hexdigest()}  {name}\n" for name in files)
    return hashlib.sha256(lines.encode()).hexdigest()


class EveryProfile(unittest.TestCase):
    def test_manifests_are_of_this_chart(self):
        for profile in PROFILES:
            with self.subTest(profile):
                self.assertEqual(manifest(profile).text.splitlines()[1], f"# chart: {chart_digest()}",
                                 "stale: run tools/chart.sh --write")

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
                                 [{"apiGroups": [""], "resources": ["nodes", "nodes/pods"], "verbs": ["get"]}])
                self.assertEqual([subject["name"] for subject in rendering.one("ClusterRoleBinding")["subjects"]],
                                 [rendering.pod["serviceAccountName"]])
                self.assertIs(rendering.one("ServiceAccount")["automountServiceAccountToken"], False)


class PodSecurity(unittest.TestCase):
    """docs/deploy-kubernetes.md says the same, with reasons."""

    def test_exact(self):
        baseline, restricted = violations(manifest("exact"))
        self.assertEqual(baseline, {"hostPID", "hostPath /sys", "capability BPF", "capability PERFMON"})
        self.assertEqual(restricted, {"runAsNonRoot", "runAsUser 0"})

    def test_exact_field_by_field(self):
        rendering = manifest("exact")
        self.assertEqual(rendering.agent["securityContext"], {
            "privileged": False, "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
            "runAsNonRoot": False, "runAsUser": 0, "runAsGroup": 0,
            "capabilities": {"drop": ["ALL"], "add": ["BPF", "PERFMON"]}})
        self.assertEqual(rendering.pod["securityContext"], {"seccompProfile": {"type": "RuntimeDefault"}})
        self.assertEqual(rendering.config, {"host": {"sysfs": "/host/sys"}})

    def test_proc_has_neither_the_hosts_pids_nor_any_capability(self):
        rendering = manifest("proc")
        baseline, restricted = violations(rendering)
        self.assertEqual(baseline, {"hostPath /sys", "hostPath /proc"})
        self.assertEqual(restricted, {"runAsNonRoot", "runAsUser 0"})
        self.assertIs(rendering.pod["hostPID"], False)
        self.assertEqual(rendering.agent["securityContext"]["capabilities"], {"drop": ["ALL"]})
        self.assertEqual(rendering.config, {"host": {"sysfs": "/host/sys", "procfs": "/host/proc"},
                                            "activity": {"source": "procfs"}})

    def test_non_root(self):
        baseline, restricted = violations(manifest("nonroot"))
        self.assertEqual(baseline, {"hostPID", "hostPath /sys", "capability BPF", "capability PERFMON",
                                    "capability DAC_READ_SEARCH"})
        self.assertEqual(restricted, {"allowPrivilegeEscalation"})

    def test_privileged(self):
        baseline, _ = violations(manifest("privileged"))
        self.assertEqual(baseline, {"hostPID", "hostPath /sys", "privileged"})


class ShippedAgent(unittest.TestCase):
    """It takes the configuration and the arguments that the chart gives it."""

    def test_configuration(self):
        binary = os.environ.get("KEPLER_BIN")
        if not binary:
            self.skipTest("KEPLER_BIN is not set")
        for name, rendering in ({profile: manifest(profile) for profile in PROFILES} | renderings()).items():
            with self.subTest(name), tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                file.write(rendering.config_text)
                file.flush()
                # What is mounted there is not here.
                here = ["--host.sysfs=/sys", "--host.procfs=/proc", "--web.config-file="]
                arguments = [argument.replace("$(NODE_NAME)", "node-a") for argument in rendering.agent["args"][1:]]
                result = subprocess.run([binary, f"--config.file={file.name}", *arguments, *here, "--config.check"],
                                        capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


@unittest.skipUnless(renderings(), "tools/chart.sh runs these")
class OtherValues(unittest.TestCase):
    def setUp(self):
        self.renderings = renderings()

    def test_values_for_kepler_0_11_are_taken(self):
        rendering = self.renderings["exact-upstream"]
        security = rendering.agent["securityContext"]
        self.assertIs(security["privileged"], True)
        self.assertNotIn("allowPrivilegeEscalation", security)  # the API server refuses false beside privileged
        self.assertEqual({mount["mountPath"] for mount in rendering.agent["volumeMounts"]},
                         {"/etc/kepler", "/host/sys", "/host/proc"})
        self.assertEqual(rendering.config["host"], {"sysfs": "/host/sys", "procfs": "/host/proc"})
        self.assertIn("--kube.enable", rendering.agent["args"])
        self.assertEqual({item["metadata"]["namespace"] for item in rendering.objects if "namespace" in item["metadata"]},
                         {"kepler"})
        # Upstream's default "egress: []" cut the agent off from what it asks.
        ports = [port["port"] for port in rendering.one("NetworkPolicy")["spec"]["egress"][0]["ports"]]
        self.assertEqual(ports, [443, 6443, 10250])

    def test_an_empty_web_file_in_old_values_does_not_turn_tls_off(self):
        rendering = self.renderings["upstream-web"]
        self.assertEqual(rendering.config["web"],
                         {"configFile": "/etc/kepler-web/web-config.yaml", "listenAddresses": [":28282"]})
        self.assertIn("/etc/kepler-web", {mount["mountPath"] for mount in rendering.agent["volumeMounts"]})

    def test_names_that_look_like_numbers_are_names(self):
        selector = self.renderings["release-1234"].one("DaemonSet")["spec"]["selector"]["matchLabels"]
        self.assertEqual(selector["app.kubernetes.io/instance"], "1234")
        for profile in ("exact", "proc", "nonRoot", "privileged"):
            rendering = self.renderings[f"{profile}-names-like-numbers"]
            pod = rendering.pod
            with self.subTest(profile):
                self.assertEqual({type(item["metadata"]["name"]) for item in rendering.objects}, {str})
                self.assertEqual((pod["priorityClassName"], pod["runtimeClassName"], pod["serviceAccountName"]),
                                 ("007", "1.5", "1e3"))
                self.assertEqual(rendering.one("Service")["spec"]["ports"][0]["targetPort"], "65536")
                self.assertEqual(rendering.one("ServiceMonitor")["spec"]["endpoints"][0]["path"], "/5: {6}")
                self.assertEqual(rendering.one("SecurityContextConstraints")["users"], ["system:serviceaccount:789:1e3"])
                self.assertIn("/host: #1/sys", {mount["mountPath"] for mount in rendering.agent["volumeMounts"]})

    def test_without_names_there_is_no_token_and_no_way_out(self):
        rendering = self.renderings["proc-nothing"]
        self.assertIs(rendering.pod["automountServiceAccountToken"], False)
        self.assertIn("--no-kube.enable", rendering.agent["args"])
        self.assertEqual({item["kind"] for item in rendering.objects}, {"ConfigMap", "DaemonSet", "NetworkPolicy"})
        self.assertEqual(rendering.one("NetworkPolicy")["spec"]["egress"], [])

    def test_api_server_mode_may_list_and_watch_pods_only(self):
        rules = self.renderings["exact-tls"].one("ClusterRole")["rules"]
        self.assertEqual(rules, [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]}])

    def test_old_kubelets_on_request_only(self):
        rules = self.renderings["old-kubelets"].one("ClusterRole")["rules"]
        self.assertEqual(rules[0]["resources"], ["nodes", "nodes/pods", "nodes/proxy"])
        for name, rendering in self.renderings.items():
            if name != "old-kubelets" and not name.endswith("-all-knobs"):
                self.assertNotIn("nodes/proxy", rendering.text, name)

    def test_probes_follow_the_web_file(self):
        tls = self.renderings["exact-tls"].agent
        self.assertEqual(tls["livenessProbe"]["httpGet"]["scheme"], "HTTPS")
        self.assertEqual(tls["ports"][0]["containerPort"], 28300)
        for probe in ("livenessProbe", "readinessProbe"):
            passwords = self.renderings["exact-passwords"].agent[probe]
            self.assertEqual(passwords["tcpSocket"], {"port": "http"})
            self.assertNotIn("httpGet", passwords)

    def test_names_of_processes_cost_one_capability(self):
        added = self.renderings["exact-all-knobs"].agent["securityContext"]["capabilities"]["add"]
        self.assertEqual(added, ["BPF", "PERFMON", "SYS_RESOURCE", "SYS_PTRACE"])

    def test_security_context_constraints_are_those_of_the_profile(self):
        for profile in ("exact", "proc", "nonRoot", "privileged"):
            rendering = self.renderings[f"{profile}-openshift"]
            security, scc = rendering.agent["securityContext"], rendering.one("SecurityContextConstraints")
            with self.subTest(profile):
                self.assertEqual(scc["allowHostPID"], rendering.pod["hostPID"])
                self.assertEqual(scc["allowedCapabilities"], security.get("capabilities", {}).get("add", []))
                self.assertEqual(scc["allowPrivilegedContainer"], security["privileged"])
                self.assertEqual(scc["allowPrivilegeEscalation"],
                                 security.get("allowPrivilegeEscalation", security["privileged"]))

    def test_the_configuration_shows_in_the_pod(self):
        def checksum(name):
            return self.renderings[name].one("DaemonSet")["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
        self.assertEqual(checksum("exact"), checksum("old-kubelets"))
        self.assertNotEqual(checksum("exact"), checksum("exact-tls"))


if __name__ == "__main__":
    unittest.main()
