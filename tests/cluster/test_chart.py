"""The Helm chart, against a real API server: what it takes, what it refuses, and what it then runs."""
import json
import os
import re
import unittest

import agents
import images
import programs
from exposition import conservation_errors
from harness import wait_until
from node import NODE
from running import cluster
from workload_pods import RunningPod, pod

CHART = os.path.join(programs.ROOT, "deploy", "helm", "kepler")
PROFILES = ("exact", "proc", "nonRoot", "privileged")
REPOSITORY, _, TAG = images.AGENT.rpartition(":")
IMAGE = [f"--set=image.repository={REPOSITORY}", f"--set=image.tag={TAG}", "--set=image.pullPolicy=Never"]
RELEASE = "kepler"
# What Pod Security's level baseline has against a pod of each profile. restricted refuses all volumes of the host's as well, in
# other words, and more.
REFUSED = {"exact": {"host namespaces", "hostPath volumes"}, "proc": {"hostPath volumes"},
           "nonRoot": {"host namespaces", "hostPath volumes"},
           "privileged": {"host namespaces", "hostPath volumes", "privileged"}}


class Chart(unittest.TestCase):
    def namespace(self, name, level):
        cluster().apply(agents.namespace(name, level))
        wait_until(lambda: cluster().find("serviceaccount", "default", name), "its service account")
        self.addCleanup(cluster().kubectl, "delete", "namespace", name, "--wait=true", "--timeout=60s")
        return name

    def template(self, namespace, *options):
        """What the chart makes, as the objects that kubectl reads in it."""
        text = cluster().tool("helm", "template", RELEASE, CHART, "--namespace", namespace, *IMAGE, *options)
        listed = cluster().kubectl("create", "--dry-run=client", "--output=json", "--filename=-", given=text)
        decoder, at, found = json.JSONDecoder(), 0, []
        while listed[at:].strip():
            at += len(listed[at:]) - len(listed[at:].lstrip())
            one, at = decoder.raw_decode(listed, at)
            found += one.get("items", [one])
        return found

    def daemon_set(self, namespace, *options):
        return next(one for one in self.template(namespace, *options) if one["kind"] == "DaemonSet")

    def pods(self, namespace):
        listed = cluster().kubectl("get", "pods", "--namespace", namespace, "--output=json",
                                   "--selector=app.kubernetes.io/name=kepler")
        return json.loads(listed)["items"]

    def test_lint(self):
        cluster().tool("helm", "lint", "--strict", CHART)

    def test_server_takes_every_profile(self):
        namespace = self.namespace("dry", "privileged")
        for profile in PROFILES:
            with self.subTest(profile):
                text = cluster().tool("helm", "template", RELEASE, CHART, "--namespace", namespace, *IMAGE,
                                      f"--set=profile={profile}", "--set=networkPolicy.enabled=true",
                                      "--set=dashboard.enabled=true")
                said = cluster().kubectl("apply", "--dry-run=server", "--namespace", namespace, "--validate=strict",
                                         "--filename=-", given=text)
                self.assertIn("daemonset.apps/kepler created (server dry run)", said)

    def test_pod_security_levels(self):
        """Each level's word on a pod of each profile: `privileged` takes all of them, the others none."""
        for level in ("privileged", "baseline", "restricted"):
            namespace = self.namespace(f"level-{level}", level)
            for profile in PROFILES:
                with self.subTest(level=level, profile=profile):
                    template = self.daemon_set(namespace, f"--set=profile={profile}")["spec"]["template"]
                    said = self.word_on(template, namespace)
                    if level == "privileged":
                        self.assertIsNone(said)
                        continue
                    self.assertIsNotNone(said, "was let in")
                    print(f"{level}, {profile}: {said}")
                    self.assertIn(f'violates PodSecurity "{level}:latest"', said)
                    said = said.replace("restricted volume types", "hostPath volumes")
                    reasons = set(re.findall(r"(?:: |, )(host namespaces|hostPath volumes|privileged) \(", said))
                    self.assertEqual(reasons, REFUSED[profile], said)

    def word_on(self, template, namespace):
        """Why the API server refuses such a pod, or None."""
        account = template["spec"].get("serviceAccountName", "default")
        cluster().apply({"apiVersion": "v1", "kind": "ServiceAccount",
                         "metadata": {"name": account, "namespace": namespace}})
        one = {"apiVersion": "v1", "kind": "Pod", "spec": template["spec"],
               "metadata": {"name": "kepler", "namespace": namespace, "labels": template["metadata"]["labels"]}}
        try:
            cluster().kubectl("create", "--dry-run=server", "--filename=-", given=json.dumps(one))
        except AssertionError as error:
            return str(error)
        return None

    def test_install_runs_and_names_pods(self):
        namespace = self.namespace("installed", "privileged")
        running = self.enterContext(RunningPod(cluster(), pod("seen")))
        try:
            cluster().tool("helm", "install", RELEASE, CHART, "--namespace", namespace, *IMAGE, "--wait", "--timeout=90s",
                           "--set=config.monitor.interval=1s", seconds=150)
        except AssertionError as error:
            error.add_note(cluster().kubectl("describe", "pods", "--namespace", namespace)[-4000:])
            error.add_note(cluster().kubectl("logs", "--namespace", namespace, "daemonset/kepler", check=False) or "")
            raise
        self.addCleanup(cluster().tool, "helm", "uninstall", RELEASE, "--namespace", namespace, "--wait")
        for profile in PROFILES:
            if profile == "nonRoot":
                continue  # wants an image whose program has the capabilities
            with self.subTest(profile):
                self.install(namespace, profile)
                self.judge(namespace, profile, running)

    def install(self, namespace, profile):
        try:
            cluster().tool("helm", "upgrade", RELEASE, CHART, "--namespace", namespace, *IMAGE, "--wait", "--timeout=90s",
                           "--set=config.monitor.interval=1s", f"--set=profile={profile}", seconds=150)
        except AssertionError as error:
            error.add_note(cluster().kubectl("describe", "pods", "--namespace", namespace)[-4000:])
            error.add_note(cluster().kubectl("logs", "--namespace", namespace, "daemonset/kepler", check=False) or "")
            raise
        # Of the last profile may be one that ends.
        wait_until(lambda: [one["metadata"].get("deletionTimestamp") for one in self.pods(namespace)] == [None],
                   "one pod of the chart", 60, period=0.2)

    def judge(self, namespace, profile, running):
        found = self.pods(namespace)[0]
        self.assertEqual(found["spec"]["nodeName"], NODE)
        agent = agents.PodAgent(cluster())
        agent.pod, agent.address = found, found["status"]["podIP"]
        agent.log = lambda: cluster().kubectl("logs", "--namespace", namespace, found["metadata"]["name"])
        wait_until(lambda: [labels for labels, value in agent.scrape().series(
            "kepler_pod_cpu_joules_total", pod_id=running.uid, pod_name="seen", state="running") if value > 0],
            "the pod's name and its joules", 60)
        scrape = agent.scrape_after()
        self.assertEqual({level: error for level, error in conservation_errors(scrape).items() if error}, {})
        self.assertEqual({labels["node_name"] for labels, _ in scrape.series("kepler_node_cpu_joules_total")}, {NODE})
        warnings = [line for line in agent.log().splitlines() if "level=WARN" in line or "level=ERROR" in line]
        self.assertEqual([labels["source"] for labels, value in scrape.series("kepler_activity_source_info") if value],
                         ["procfs" if profile == "proc" else "bpf"], warnings)
