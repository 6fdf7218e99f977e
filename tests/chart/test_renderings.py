"""The chart with other values than its own. tools/chart.sh renders them and runs this; CI, which has no helm, does not."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import deploy_page  # noqa: E402
from harness import Agent, require, run_tests, wait_until  # noqa: E402
from manifests import baseline_violations, renderings, restricted_violations  # noqa: E402
from shipped_agent import refusal  # noqa: E402


class OtherValues(unittest.TestCase):
    def setUp(self):
        self.renderings = renderings()

    def test_the_agent_takes_each_configuration(self):
        for name, rendering in self.renderings.items():
            with self.subTest(name):
                self.assertIsNone(refusal(rendering))

    def test_values_for_kepler_0_11_are_taken(self):
        rendering = self.renderings["exact-upstream"]
        security = rendering.agent["securityContext"]
        self.assertIs(security["privileged"], True)
        self.assertNotIn("allowPrivilegeEscalation", security)  # the API server refuses false beside privileged
        self.assertEqual({mount["mountPath"] for mount in rendering.agent["volumeMounts"]},
                         {"/etc/kepler", "/host/sys/class", "/host/sys/devices", "/host/sys/fs/cgroup", "/host/proc"})
        self.assertEqual(rendering.config["host"], {"sysfs": "/host/sys", "procfs": "/host/proc"})
        self.assertIn("--kube.enable", rendering.agent["args"])
        self.assertEqual({item["metadata"]["namespace"] for item in rendering.objects if "namespace" in item["metadata"]},
                         {"kepler"})
        # Upstream's default "egress: []" cut the agent off from what it asks.
        ports = [port["port"] for port in rendering.one("NetworkPolicy")["spec"]["egress"][0]["ports"]]
        self.assertEqual(ports, [443, 6443, 8443, 16443, 10250])

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
                self.assertEqual(rendering.one("Service")["spec"]["ports"][0]["targetPort"], "1e3")
                self.assertEqual(rendering.one("ServiceMonitor")["spec"]["endpoints"][0]["path"], "/5: {6}")
                self.assertEqual(rendering.one("SecurityContextConstraints")["users"], ["system:serviceaccount:789:1e3"])
                self.assertIn("/host: #1/sys/class", {mount["mountPath"] for mount in rendering.agent["volumeMounts"]})

    def test_alert_of_series_has_the_limit_of_the_monitor(self):
        for name, limit in (("exact-all-knobs", 30000), ("exact-passwords", 50000)):
            alerts = {rule.get("alert"): rule for group in self.renderings[name].one("PrometheusRule")["spec"]["groups"]
                      for rule in group["rules"]}
            self.assertEqual(alerts["KeplerSeriesNearLimit"]["expr"], f"kepler_exposed_series > 0.8 * {limit}")

    def test_cgroup_v1_hierarchies_are_mounted_one_by_one(self):
        hierarchies = {f"/host/sys/fs/cgroup/{name}" for name in ("cpu,cpuacct", "net_cls", "unified")}
        for profile in ("exact", "proc", "nonRoot", "privileged"):
            mounts = {mount["mountPath"]: mount for mount in self.renderings[f"{profile}-all-knobs"].agent["volumeMounts"]}
            with self.subTest(profile):
                self.assertEqual({path for path in mounts if path.startswith("/host/sys/fs")}, hierarchies)
                self.assertEqual({mounts[path]["recursiveReadOnly"] for path in hierarchies}, {"Enabled"})

    def test_every_host_path_is_read_only(self):
        for name, rendering in self.renderings.items():
            paths = {volume["name"] for volume in rendering.pod["volumes"] if "hostPath" in volume}
            for mount in rendering.agent["volumeMounts"]:
                if mount["name"] in paths:
                    self.assertIs(mount["readOnly"], True, name)

    def test_without_names_there_is_no_token_and_no_way_out(self):
        rendering = self.renderings["proc-nothing"]
        self.assertIs(rendering.pod["automountServiceAccountToken"], False)
        self.assertIn("--no-kube.enable", rendering.agent["args"])
        self.assertEqual({item["kind"] for item in rendering.objects}, {"ConfigMap", "DaemonSet", "NetworkPolicy"})
        self.assertEqual(rendering.one("NetworkPolicy")["spec"]["egress"], [])
        self.assertEqual({"livenessProbe", "readinessProbe"} & rendering.agent.keys(), set())

    def test_roles_are_those_of_the_modes(self):
        def rules(name):
            return [(rule["resources"], rule["verbs"]) for rule in self.renderings[name].one("ClusterRole")["rules"]]
        kubelet, pods = (["nodes", "nodes/pods"], ["get"]), (["pods"], ["list", "watch"])
        self.assertEqual(rules("exact"), [kubelet, pods])
        self.assertEqual(rules("exact-upstream"), [kubelet])
        self.assertEqual(rules("exact-tls"), [(["nodes"], ["get"]), pods])

    def test_old_kubelets_on_request_only(self):
        rules = self.renderings["old-kubelets"].one("ClusterRole")["rules"]
        self.assertEqual(rules[0]["resources"], ["nodes", "nodes/pods", "nodes/proxy"])
        for name, rendering in self.renderings.items():
            if name != "old-kubelets" and not name.endswith("-all-knobs"):
                self.assertNotIn("nodes/proxy", rendering.text, name)

    def test_service_monitors_for_kepler_0_11_select_the_service(self):
        labels = self.renderings["exact"].one("Service")["metadata"]["labels"].items()
        self.assertLessEqual({"app.kubernetes.io/name": "kepler", "app.kubernetes.io/part-of": "kepler"}.items(), labels)

    def test_the_service_does_not_select_the_pod_of_helm_test(self):
        for name in ("exact", "exact-tls", "exact-passwords", "release-1234"):
            rendering = self.renderings[name]
            pod, selector = rendering.one("Pod"), rendering.one("Service")["spec"]["selector"]
            self.assertFalse(selector.items() <= pod["metadata"]["labels"].items())
            self.assertEqual(pod["metadata"]["annotations"]["helm.sh/hook"], "test")
            self.assertEqual(set(baseline_violations(pod["spec"], pod["spec"]["containers"][0])), set())
            self.assertEqual(set(restricted_violations(pod["spec"], pod["spec"]["containers"][0])), set())

    def test_helm_test_asks_as_the_web_file_says(self):
        def command(name):
            return self.renderings[name].one("Pod")["spec"]["containers"][0]["args"][0]
        self.assertIn(" http://kepler.kepler:28282/metrics | grep '^kepler_build_info'", command("exact"))
        self.assertIn(" --no-check-certificate https://kepler.kepler:28282/metrics | grep", command("exact-tls"))
        self.assertIn(" 401 ", command("exact-passwords"))

    def test_helm_test_passes_with_the_shipped_agent_only(self):
        """Its command, with an agent of either kind where the service is."""
        require(shutil.which("busybox"), "busybox is not installed")
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as web:
            web.write("basic_auth_users: {kepler: $2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi}\n")
            web.flush()
            for name, other, flags in (("exact", "exact-passwords", ()),
                                       ("exact-passwords", "exact", (f"--web.config-file={web.name}",))):
                with Agent(*flags, ready=not flags) as agent:
                    wait_until(lambda agent=agent: "msg=serving" in agent.log(), "the agent to serve")
                    self.assertEqual([self.helm_test(test, agent.port) for test in (name, other)], [True, False])

    def helm_test(self, name, port):
        command = self.renderings[name].one("Pod")["spec"]["containers"][0]["args"][0]
        command = re.sub(r"https?://[^ /]*", f"http://127.0.0.1:{port}", command).replace("wget ", "busybox wget ")
        return subprocess.run(["busybox", "sh", "-c", command], check=False, timeout=60).returncode == 0

    def test_more_objects_may_have_templates(self):
        more = [item for item in self.renderings["exact-all-knobs"].objects if item["metadata"]["name"] == "kubelet-ca"]
        self.assertEqual([item["metadata"]["namespace"] for item in more], ["kepler"])

    def test_credentials_of_monitors(self):
        endpoint = self.renderings["exact-proxied"].one("ServiceMonitor")["spec"]["endpoints"][0]
        self.assertEqual(endpoint["authorization"], {"credentials": {"name": "scrape", "key": "token"}})
        endpoint = self.renderings["proc-proxied-pods"].one("PodMonitor")["spec"]["podMetricsEndpoints"][0]
        self.assertEqual(endpoint["oauth2"]["tokenUrl"], "https://idp.example/token")
        self.assertEqual(endpoint["port"], "proxy")

    def test_probes_follow_the_web_file(self):
        tls = self.renderings["exact-tls"].agent
        self.assertEqual(tls["livenessProbe"]["httpGet"]["scheme"], "HTTPS")
        self.assertEqual(tls["ports"][0]["containerPort"], 28300)
        for probe in ("livenessProbe", "readinessProbe"):
            passwords = self.renderings["exact-passwords"].agent[probe]
            self.assertEqual(passwords["tcpSocket"], {"port": "http"})
            self.assertNotIn("httpGet", passwords)

    def test_names_of_processes_cost_the_capabilities_of_the_page(self):
        for profile in ("exact", "proc", "nonRoot"):
            added = self.renderings[f"{profile}-all-knobs"].agent["securityContext"]["capabilities"]["add"]
            with self.subTest(profile):
                self.assertEqual(len(added), len(set(added)))
                self.assertEqual(set(added), {"SYS_RESOURCE"} | deploy_page.process_names() |
                                 deploy_page.profile_rights()[profile].capabilities)

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
        self.assertEqual(len(checksum("exact-names-like-numbers")), 64)  # a pod annotation of that name does not count
        self.assertNotEqual(checksum("exact"), checksum("exact-tls"))


if __name__ == "__main__":
    run_tests()
