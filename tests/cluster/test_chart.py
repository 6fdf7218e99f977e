"""The Helm chart, against a real API server: what it takes, what it refuses, and what it then runs."""
import json
import os
import re
import unittest

import agents
import deploy_page
import images
import namespaces
import programs
from exposition import conservation_errors
from harness import wait_until
from node import NODE
from rights import ProcessRights, bits
from running import cluster
from workload_pods import RunningPod, pod

CHART = os.path.join(programs.ROOT, "deploy", "helm", "kepler")
PROFILES = deploy_page.profile_rights()
VALUES = os.path.join(programs.ROOT, "tests", "chart", "values")
RELEASE = "kepler"
# The API server's words for the page's fields.
WORDS = {"hostPID": "host namespaces", "hostPath": "hostPath volumes", "capabilities.add": "non-default capabilities",
         "privileged: true": "privileged", "runAsUser: 0": "runAsUser=0", "runAsNonRoot: false": "runAsNonRoot != true",
         "allowPrivilegeEscalation: true": "allowPrivilegeEscalation != false"}
# What restricted calls otherwise than baseline.
ALIASES = {"restricted volume types": "hostPath volumes", "unrestricted capabilities": "non-default capabilities"}


def image(profile="exact"):
    name, _, tag = (images.NONROOT_AGENT if profile == "nonRoot" else images.AGENT).rpartition(":")
    return [f"--set=image.repository={name}", f"--set=image.tag={tag}", "--set=image.pullPolicy=Never"]


def api_words(level, profile):
    """What that level says of a profile's pod, in the API server's words, by the page; restricted says baseline's as well."""
    items = deploy_page.refused("baseline", profile)
    if level == "restricted":
        items = items | deploy_page.refused("restricted", profile)
    return {WORDS.get(item) or WORDS[item.split()[0]] for item in items}


class Chart(unittest.TestCase):
    def namespace(self, name, level):
        cluster().apply(agents.namespace(name, level))
        wait_until(lambda: cluster().find("serviceaccount", "default", name), "its service account")
        self.addCleanup(cluster().kubectl, "delete", "namespace", name, "--wait=true", "--timeout=60s")
        return name

    def template(self, namespace, *options):
        """What the chart makes, as the objects that kubectl reads in it."""
        text = cluster().tool("helm", "template", RELEASE, CHART, "--namespace", namespace, *image(), *options)
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
        return cluster().pods(namespace, "app.kubernetes.io/name=kepler")

    def test_lint(self):
        cluster().tool("helm", "lint", "--strict", CHART)

    def test_server_takes_every_profile_with_other_values(self):
        namespace = self.namespace("dry", "privileged")
        # Of what is at other places than here, or of operators that are not here, the API server cannot judge.
        here = "--set=namespace.name=,namespace.create=false,dashboard.namespace=,service.clusterIP="
        off = "--set=serviceMonitor.enabled=false,podMonitor.enabled=false,prometheusRule.enabled=false,openshift.scc.create=false"
        files = sorted(os.listdir(VALUES))
        self.assertGreater(len(files), 3)
        for profile in PROFILES:
            for options in ([], *([f"--values={os.path.join(VALUES, file)}", here, off] for file in files)):
                with self.subTest(profile, options=options):
                    text = cluster().tool("helm", "template", RELEASE, CHART, "--namespace", namespace, *image(),
                                          f"--set=profile={profile}", "--set=networkPolicy.enabled=true",
                                          "--set=dashboard.enabled=true", *options)
                    said = cluster().kubectl("apply", "--dry-run=server", "--namespace", namespace, "--validate=strict",
                                             "--filename=-", given=text)
                    self.assertRegex(said, r"daemonset\.apps/\S+ created \(server dry run\)")

    def test_pod_security_levels(self):
        """Each level's word on a pod of each profile, by docs/deploy-kubernetes.md."""
        for level in ("privileged", "baseline", "restricted"):
            namespace = self.namespace(f"level-{level}", level)
            for profile in PROFILES:
                with self.subTest(level=level, profile=profile):
                    template = self.daemon_set(namespace, f"--set=profile={profile}")["spec"]["template"]
                    said = self.word_on(template, namespace)
                    if level == "privileged":
                        self.assertIsNone(said)
                        continue
                    self.assertIsNotNone(said, "was accepted")
                    print(f"{level}, {profile}: {said}")
                    self.assertIn(f'violates PodSecurity "{level}:latest"', said)
                    reasons = set(re.sub(r" \([^)]*\)", "", said.partition(':latest": ')[2]).strip().split(", "))
                    reasons = {ALIASES.get(reason, reason) for reason in reasons}
                    if (level, profile) == ("restricted", "privileged"):  # much more, once somebody may do everything
                        self.assertLessEqual(api_words(level, profile), reasons, said)
                    else:
                        self.assertEqual(api_words(level, profile), reasons, said)

    def test_pods_of_the_model_server_need_no_rights(self):
        namespace = self.namespace("level-models", "restricted")
        values = f"--values={os.path.join(VALUES, 'model-training.yaml')}"
        readers = ["--set=modelServer.readers=1", "--set=modelServer.storage.accessModes={ReadWriteMany}"]
        owners = [one for one in self.template(namespace, values, *readers) if one["kind"] in ("StatefulSet", "Deployment")]
        self.assertEqual(len(owners), 2)
        for owner in owners:
            template = owner["spec"]["template"]
            for claim in owner["spec"].get("volumeClaimTemplates", ()):  # its controller does this
                template["spec"]["volumes"].append({"name": claim["metadata"]["name"], "emptyDir": {}})
            with self.subTest(owner["kind"]):
                self.assertIsNone(self.word_on(template, namespace))

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
        """Through the profiles, one after the other."""
        namespace = self.namespace("installed", "privileged")
        cluster().node.load(images.nonroot_agent(cluster().agent_program))
        running = self.enterContext(RunningPod(cluster(), pod("seen")))
        self.addCleanup(cluster().tool, "helm", "uninstall", RELEASE, "--namespace", namespace, "--wait")
        for profile in PROFILES:
            with self.subTest(profile):
                self.install(namespace, profile)
                self.judge(namespace, profile, running)
        with self.subTest("nonRoot without a way to more rights"):
            self.install(namespace, "nonRoot", "--set=daemonset.securityContext.allowPrivilegeEscalation=false")
            self.judge(namespace, "nonRoot", running, no_new_privileges=True)

    def install(self, namespace, profile, *options):
        try:
            cluster().tool("helm", "upgrade", "--install", RELEASE, CHART, "--namespace", namespace, *image(profile),
                           *self.hierarchies(), "--wait", "--timeout=90s", "--set=config.monitor.interval=1s", f"--set=profile={profile}", *options,
                           seconds=150)
            # On one node helm waits for none: that one may be unavailable. Of the last profile may be one that ends.
            wait_until(lambda: [self.is_ready(one) for one in self.pods(namespace)] == [True], "one pod, and that ready", 60,
                       period=0.2)
        except AssertionError as error:
            error.add_note(cluster().kubectl("describe", "pods", "--namespace", namespace)[-4000:])
            error.add_note(cluster().kubectl("logs", "--namespace", namespace, "daemonset/kepler", check=False) or "")
            raise

    @staticmethod
    def hierarchies():
        """This node's runtime has no recursive read-only mounts: each hierarchy of cgroup v1 is a mount of its own then."""
        with open("/proc/self/mounts", encoding="utf-8") as file:
            points = [line.split()[1] for line in file if line.split()[2] in ("cgroup", "cgroup2")]
        names = sorted({point.removeprefix("/sys/fs/cgroup/") for point in points if point.startswith("/sys/fs/cgroup/")})
        return [f"--set-json=daemonset.cgroupV1Hierarchies={json.dumps(names)}"] if names else []

    def is_ready(self, one):
        return "deletionTimestamp" not in one["metadata"] and any(
            condition["type"] == "Ready" and condition["status"] == "True" for condition in one["status"].get("conditions", ()))

    def judge(self, namespace, profile, running, no_new_privileges=None):
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
        said = PROFILES[profile]
        self.assertEqual([labels["source"] for labels, value in scrape.series("kepler_activity_source_info") if value],
                         [said.source], warnings)
        if no_new_privileges is None:
            no_new_privileges = "allowPrivilegeEscalation: true" not in deploy_page.refused("restricted", profile)
        rights = agent.rights()
        # Everything is what those may who made the container, and so this process.
        capabilities = ProcessRights("self").capabilities["CapBnd"] if said.capabilities is None else bits(said.capabilities)
        print(f"{profile}: {rights}, CPU time from {said.source}")
        agents.judge_rights(self, rights, said.uid, capabilities, no_new_privileges)
        self.assertEqual(rights.seccomp, said.capabilities is not None)  # the runtime's, except with all capabilities
        self.judge_mounts(found)

    def judge_mounts(self, found):
        """Whoever takes over the agent can write no file of the host, in no mount at or below those of the pod."""
        host = {volume["name"] for volume in found["spec"]["volumes"] if "hostPath" in volume}
        paths = [mount["mountPath"] for mount in found["spec"]["containers"][0]["volumeMounts"] if mount["name"] in host]
        said = cluster().kubectl("exec", "--namespace", found["metadata"]["namespace"], found["metadata"]["name"], "--",
                                 "/try_writes", *paths)
        print(said)
        tried = {path: (int(tries), int(written)) for path, tries, written in re.findall(
            r"^(/\S*): (\d+) tried, (\d+) written", said, re.MULTILINE)}
        self.assertLessEqual(set(paths), set(tried))
        # What the test itself has mounted over the host's settings.
        own = tuple(f"/proc/sys/{name}" for name in namespaces.SYSCTLS)
        self.assertEqual([path for path, (_, written) in tried.items() if written and not path.endswith(own)], [])
        self.assertGreater(min(tried[path][0] for path in paths), 1)
