"""The chart with other values than its own. tools/chart.sh renders them and runs this; CI, which has no helm, does not."""
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import unittest
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import deploy_page  # noqa: E402
from harness import Agent, end, free_port, require, run_tests, wait_until  # noqa: E402
from kubernetes import make_certificates  # noqa: E402
from manifests import baseline_violations, renderings, restricted_violations  # noqa: E402
from shipped_agent import refusal  # noqa: E402

USERS = "basic_auth_users:\n  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n"


def answers(url):
    try:
        # As the kubelet, which verifies no certificate.
        with urllib.request.urlopen(url, timeout=5, context=ssl._create_unverified_context()) as answer:
            return answer.status == 200
    except OSError:
        return False


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
        self.assertNotIn("allowPrivilegeEscalation", security)  # the API server refuses false together with privileged
        self.assertEqual({mount["mountPath"] for mount in rendering.agent["volumeMounts"]},
                         {"/etc/kepler", "/host/sys/class", "/host/sys/devices", "/host/sys/fs/cgroup", "/host/proc"})
        self.assertEqual(rendering.config["host"], {"sysfs": "/host/sys", "procfs": "/host/proc"})
        self.assertIn("--kube.enable", rendering.agent["args"])
        self.assertEqual({item["metadata"]["namespace"] for item in rendering.objects if "namespace" in item["metadata"]},
                         {"kepler"})
        # Upstream's default "egress: []" cut the agent off from what it asks.
        policy = next(item for item in rendering.all("NetworkPolicy") if "egress" in item["spec"])
        ports = [port["port"] for port in policy["spec"]["egress"][0]["ports"]]
        self.assertEqual(ports, [443, 6443, 8443, 16443, 10250])

    def test_an_empty_web_file_in_old_values_does_not_turn_tls_off(self):
        rendering = self.renderings["upstream-web"]
        self.assertEqual(rendering.config["web"],
                         {"configFile": "/etc/kepler-web/web-config.yaml", "listenAddresses": [":28282"]})
        self.assertIn("/etc/kepler-web", {mount["mountPath"] for mount in rendering.agent["volumeMounts"]})

    def test_models_are_mounted_read_only_and_named_in_the_configuration(self):
        rendering = self.renderings["exact-all-knobs"]
        self.assertEqual(rendering.config["model"]["sources"], ["/etc/kepler-models/config-map", "/etc/kepler-models/volume",
                                                                "https://models.example/epyc.json"])
        mounts = {mount["name"]: mount for mount in rendering.agent["volumeMounts"]}
        volumes = {volume["name"]: volume for volume in rendering.pod["volumes"]}
        self.assertEqual(volumes["models"]["configMap"], {"name": "epyc-models"})
        self.assertEqual(volumes["model-volume"]["persistentVolumeClaim"], {"claimName": "models", "readOnly": True})
        for name, path in (("models", "config-map"), ("model-volume", "volume")):
            self.assertEqual((mounts[name]["mountPath"], mounts[name]["readOnly"]), (f"/etc/kepler-models/{path}", True))
        self.assertNotIn("model", self.renderings["exact"].config)
        self.assertNotIn("models", {volume["name"] for volume in self.renderings["exact"].pod["volumes"]})

    def test_the_model_server_has_one_writer_and_readers_that_cannot_write(self):
        rendering = self.renderings["model-server"]
        writer, reader = rendering.one("StatefulSet"), rendering.one("Deployment")
        self.assertEqual((writer["spec"]["replicas"], reader["spec"]["replicas"]), (1, 2))
        claim = f"{writer['spec']['volumeClaimTemplates'][0]['metadata']['name']}-{writer['metadata']['name']}-0"
        for workload, writes in ((writer, True), (reader, False)):
            pod = workload["spec"]["template"]["spec"]
            container, = pod["containers"]
            mount = next(mount for mount in container["volumeMounts"] if mount["name"] == "models")
            self.assertEqual(mount.get("readOnly", False), not writes)
            self.assertEqual("--scan-interval=1m" in container["args"], writes)
            self.assertEqual([*baseline_violations(pod, container), *restricted_violations(pod, container)], [])
            self.assertIs(pod["automountServiceAccountToken"], False)
            if not writes:
                volume = next(volume for volume in pod["volumes"] if volume["name"] == "models")
                self.assertEqual(volume["persistentVolumeClaim"], {"claimName": claim, "readOnly": True})
        self.assertLessEqual(rendering.one("PodDisruptionBudget")["spec"]["selector"]["matchLabels"].items(),
                             reader["spec"]["template"]["metadata"]["labels"].items())

    def test_agents_use_the_model_server_and_its_services_select_no_agent(self):
        rendering = self.renderings["model-server"]
        services = {item["metadata"]["name"]: item["spec"]["selector"].items() for item in rendering.all("Service")}
        pods = {item["kind"]: item["spec"]["template"]["metadata"]["labels"].items()
                for kind in ("DaemonSet", "StatefulSet", "Deployment") for item in rendering.all(kind)}
        found = {name: {kind for kind, labels in pods.items() if selector <= labels} for name, selector in services.items()}
        self.assertEqual(found, {"kepler": {"DaemonSet"}, "kepler-model-server": {"StatefulSet", "Deployment"},
                                 "kepler-model-server-writer": {"StatefulSet"}})
        self.assertEqual(rendering.config["model"], {"server": "http://kepler-model-server.kepler.svc:8100"})
        policies = {item["metadata"]["name"]: item["spec"] for item in rendering.all("NetworkPolicy")}
        self.assertEqual(policies["kepler-model-server"]["ingress"][0]["from"][0]["podSelector"]["matchLabels"].items() -
                         pods["DaemonSet"], set())
        self.assertIn({"podSelector": {"matchLabels": dict(services["kepler-model-server"])}},
                      [peer for rule in policies["kepler"]["egress"] for peer in rule.get("to", [])])
        self.assertEqual(self.renderings["exact"].all("StatefulSet"), [])

    def test_names_of_the_model_server_fit_its_labels(self):
        """The label controller-revision-hash of a StatefulSet's pods is its name and 11 characters more."""
        rendering = self.renderings["long-name"]
        self.assertLessEqual(len(rendering.one("StatefulSet")["metadata"]["name"]), 63 - 11)
        for item in rendering.all("Service"):
            self.assertLessEqual(len(item["metadata"]["name"]), 63)

    def test_agents_with_addresses_of_nodes_reach_the_model_server(self):
        rule, = next(item for item in self.renderings["long-name"].all("NetworkPolicy")
                     if item["metadata"]["name"].endswith("-model-server"))["spec"]["ingress"]
        self.assertNotIn("from", rule)

    def test_only_the_writer_trains_and_has_the_key(self):
        rendering = self.renderings["exact-all-knobs"]
        for kind, trains in (("StatefulSet", True), ("Deployment", False)):
            pod = rendering.one(kind)["spec"]["template"]["spec"]
            args = pod["containers"][0]["args"]
            self.assertEqual("--retrain-sign-key=/etc/kepler-model-sign/key.pem" in args, trains)
            self.assertEqual(any(re.match("--(jobs|retrain)", flag) for flag in args), trains)
            self.assertEqual({"jobs", "sign-key", "machine"} <= {volume["name"] for volume in pod["volumes"]}, trains)

    def test_fields_of_the_model_servers_security_context_can_be_removed(self):
        """The platform then selects them, as OpenShift does."""
        pod = self.renderings["exact-all-knobs"].one("StatefulSet")["spec"]["template"]["spec"]
        self.assertEqual(pod["securityContext"], {"fsGroup": 1000, "fsGroupChangePolicy": "OnRootMismatch", "runAsGroup": 65532,
                                                  "runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}})

    def test_a_server_that_retrains_reaches_prometheus(self):
        for name, ports in (("model-training", [53, 53, 9090]), ("exact-all-knobs", [53, 53, 443]), ("model-server", [])):
            policy = next(item for item in self.renderings[name].all("NetworkPolicy")
                          if item["metadata"]["name"].endswith("-model-server"))
            self.assertEqual([port["port"] for rule in policy["spec"]["egress"] for port in rule.get("ports", [])], ports)

    def test_the_model_server_takes_the_arguments_of_its_pods(self):
        program = pathlib.Path(os.environ["KEPLER_BIN"]).parents[1] / "kepler-model/kepler-model"
        require(os.access(program, os.X_OK), f"{program} is not built")
        for name, kind in (("model-server", "StatefulSet"), ("model-server", "Deployment"), ("model-training", "StatefulSet")):
            container, = self.renderings[name].one(kind)["spec"]["template"]["spec"]["containers"]
            with self.subTest(name, kind=kind), tempfile.TemporaryDirectory() as directory:
                self.serve(program, pathlib.Path(directory), container)

    def serve(self, program, directory, container):
        """Starts the server with its mounts below a directory, until its probe is answered."""
        for mount in container["volumeMounts"]:
            (directory / mount["mountPath"][1:]).mkdir(parents=True)
        web, sign, machine = (directory / "etc" / name for name in ("kepler-web", "kepler-model-sign", "kepler-model-machine"))
        if web.exists():
            make_certificates(web)
            (web / "web-config.yaml").write_text("tls_server_config: {cert_file: server.crt, key_file: server.key}\n" + USERS)
        if sign.exists():
            subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", sign / "key.pem"], check=True,
                           capture_output=True)
            (machine / "machine.json").write_bytes(subprocess.run([program, "machine"], check=True, capture_output=True).stdout)
        port = free_port()
        args = [re.sub(r"=/(var|etc)/", rf"={directory}/\1/", flag).replace("=:8100", f"=127.0.0.1:{port}")
                for flag in container["args"]]
        server = subprocess.Popen([program, *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(end, server)
        probe = container["livenessProbe"]["httpGet"]
        url = f"{probe['scheme'].lower()}://127.0.0.1:{port}{probe['path']}"
        wait_until(lambda: server.poll() is not None or answers(url), url)
        self.assertIsNone(server.poll(), args)
        end(server)

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

    def expression(self, rendering, alert):
        rules = [rule for group in self.renderings[rendering].one("PrometheusRule")["spec"]["groups"]
                 for rule in group["rules"] if rule.get("alert") == alert]
        return rules[0]["expr"]

    def test_alert_of_series_has_the_limit_of_the_monitor(self):
        for name, limit in (("exact-all-knobs", 30000), ("exact-passwords", 50000)):
            self.assertEqual(self.expression(name, "KeplerSeriesNearLimit"), f"kepler_exposed_series > 0.8 * {limit}")

    def test_alert_of_memory_has_the_limit_of_the_container(self):
        limits = {"exact-all-knobs": 1 << 30, "exact-passwords": 512 << 20, "memory-1.5G": 1_500_000_000,
                  "memory-300Mi": 300 << 20, "memory-262144Ki": 256 << 20, "memory-2e8": 200_000_000,
                  "memory-700000000": 700_000_000, "memory-null": 512 << 20}
        for name, limit in limits.items():
            self.assertEqual(self.expression(name, "KeplerMemoryHigh"),
                             f"process_resident_memory_bytes > 0.8 * {limit} and on (job, instance) kepler_build_info", name)

    def test_alerts_without_values_of_the_chart_are_those_of_the_file(self):
        """compose.yaml uses the file as it is."""
        text = (HERE.parent.parent / "deploy/helm/kepler/files/rules/alerts.yaml").read_text(encoding="utf-8")
        for alert in ("KeplerSeriesNearLimit", "KeplerMemoryHigh"):
            self.assertIn(f"expr: {self.expression('exact-passwords', alert)}\n", text)

    def test_the_config_map_has_every_dashboard(self):
        maps = [item for item in self.renderings["exact-all-knobs"].all("ConfigMap")
                if "grafana_dashboard" in item["metadata"].get("labels", {})]
        files = {path.name: json.loads(path.read_text()) for path in (HERE.parent.parent / "deploy/grafana").glob("*.json")}
        self.assertEqual([{name: json.loads(text) for name, text in item["data"].items()} for item in maps], [files])

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

    def test_helm_test_passes_with_the_agent_that_the_values_describe_only(self):
        """Its command, with agents of each kind where the service is, and with none."""
        require(shutil.which("curl"), "curl is not installed")
        tests = ("exact", "exact-tls", "exact-passwords")  # open, TLS, TLS and a login
        with tempfile.TemporaryDirectory() as directory:
            make_certificates(directory)
            tls = "tls_server_config: {cert_file: server.crt, key_file: server.key%s}\n"
            users = "basic_auth_users: {kepler: $2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi}\n"
            certificates = ", client_ca_file: ca.crt, client_auth_type: RequireAndVerifyClientCert"
            for web, passed, said in (("", "exact", "kepler_build_info"), (tls % "", "exact-tls", "kepler_build_info"),
                                      (users, None, None),
                                      (tls % "" + users, "exact-passwords", "asks for a password"),
                                      (tls % certificates, "exact-passwords", "asks for a client certificate"),
                                      (tls % (certificates + ", min_version: TLS13"), "exact-passwords", "client certificate")):
                path = pathlib.Path(directory, "web.yml")
                path.write_text(web, encoding="utf-8")
                with self.subTest(web), Agent(*([f"--web.config-file={path}"] if web else []), ready=not web) as agent:
                    wait_until(lambda agent=agent: "msg=serving" in agent.log(), "the agent to serve")
                    logs = {name: self.helm_test(name, agent.port) for name in tests}
                    self.assertEqual([name for name in tests if logs[name] is not None], [passed] if passed else [])
                    if passed:
                        self.assertIn(said, logs[passed])
        self.assertEqual([self.helm_test(name, free_port()) for name in tests], [None] * len(tests))

    def helm_test(self, name, port):
        """What its pod logs, None where it fails."""
        command = self.renderings[name].one("Pod")["spec"]["containers"][0]["args"][0]
        command = re.sub(r"(https?)://[^ /)]*", rf"\1://127.0.0.1:{port}", command)
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=60)
        return done.stdout if done.returncode == 0 else None

    def test_network_policy_lets_the_pod_of_helm_test_in(self):
        for name in ("exact-tls", "exact-all-knobs"):
            rendering = self.renderings[name]
            pod = rendering.one("Pod")
            policy, = (item for item in rendering.all("NetworkPolicy") if "helm.sh/hook" in item["metadata"].get("annotations", {}))
            with self.subTest(name):
                self.assertEqual(policy["metadata"]["annotations"]["helm.sh/hook"], "test")
                self.assertEqual(policy["metadata"]["namespace"], pod["metadata"]["namespace"])
                rule, = policy["spec"]["ingress"]
                selector = rule["from"][0]["podSelector"]["matchLabels"].items()
                self.assertLessEqual(selector, pod["metadata"]["labels"].items())
                agents = rendering.one("DaemonSet")["spec"]["template"]["metadata"]["labels"].items()
                self.assertLessEqual(policy["spec"]["podSelector"]["matchLabels"].items(), agents)
                self.assertFalse(selector <= agents)
                self.assertEqual(rule["ports"][0]["port"], rendering.agent["ports"][0]["containerPort"])
        self.assertEqual(self.renderings["exact"].all("NetworkPolicy"), [])

    def test_image_of_helm_test_has_its_own_pull_policy(self):
        rendering = self.renderings["exact-all-knobs"]
        self.assertEqual((rendering.agent["imagePullPolicy"], rendering.one("Pod")["spec"]["containers"][0]["imagePullPolicy"]),
                         ("Always", "Never"))

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
