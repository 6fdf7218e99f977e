"""What the agent's role needs, against the real authorizers of API server and kubelet."""
import contextlib
import re
import unittest

import agents
from harness import wait_until
from node import NODE
from rights import ProcessRights
from running import cluster
from workload_pods import RunningPod, pod

NODES = {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}
KUBELET_PODS = {"apiGroups": [""], "resources": ["nodes/pods"], "verbs": ["get"]}


class Access(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.addClassCleanup(cls.stack.close)
        cls.tree = cls.stack.enter_context(agents.meter())
        cls.tree.start()
        cluster().apply(agents.namespace())
        cls.running = cls.stack.enter_context(RunningPod(cluster(), pod("seen")))

    def token(self, name, *rules):
        cluster().apply(*agents.account(name, list(rules)))
        return cluster().token(name, agents.NAMESPACE)

    def agent(self, token, mode="kubelet", **more):
        return self.enterContext(agents.ProcessAgent(cluster(), token, self.tree, mode, **more))

    def names(self, agent):
        """Of the pod's containers, and of the pod, that have energy."""
        scrape = agent.scrape()
        return {labels["container_name"] for labels, _ in scrape.series(
            "kepler_container_cpu_joules_total", pod_id=self.running.uid, state="running")
        } | {labels["pod_name"] for labels, value in scrape.series(
            "kepler_pod_cpu_joules_total", pod_id=self.running.uid, state="running") if value > 0}

    def wait_names(self, agent):
        wait_until(lambda: {"seen", "main", "helper", "sidecar"} <= self.names(agent), "the names of a pod", 30)

    def wait_refused(self, agent, pattern):
        """It is logged and counted; joules go on without names."""
        agent.wait_log(pattern)
        wait_until(lambda: agent.scrape().value("kepler_pod_informer_failed_requests_total") > 0, "a counted failure")
        scrape = agent.scrape_after()
        self.assertEqual(scrape.value("kepler_pod_informer_last_success_timestamp_seconds"), 0)
        found = scrape.series("kepler_pod_cpu_joules_total", pod_id=self.running.uid, state="running", zone="package")
        self.assertEqual([(labels["pod_name"], value > 0) for labels, value in found], [("", True)])

    def test_capabilities_are_the_pods(self):
        agent = self.agent(self.token("full", NODES, KUBELET_PODS))
        agents.judge_rights(self, ProcessRights(agent.process.pid))

    def test_nodes_and_their_pods_are_enough_for_the_kubelet(self):
        token = self.token("enough", NODES, KUBELET_PODS)
        self.assertEqual(cluster().kubelet("/pods", token)[0], 200)
        for path in ("/configz", "/metrics", "/stats/summary", "/containerLogs/default/seen/main"):
            self.assertEqual(cluster().kubelet(path, token)[0], 403, path)
        agent = self.agent(token)
        self.wait_names(agent)
        self.assertEqual(agent.scrape().value("kepler_pod_informer_failed_requests_total"), 0)
        # The API server was asked for one thing: where the kubelet is.
        user = f"system:serviceaccount:{agents.NAMESPACE}:enough"
        asked = {(line["verb"], line["requestURI"].partition("?")[0], line["responseStatus"]["code"])
                 for line in cluster().audited(user)}
        self.assertEqual(asked, {("get", f"/api/v1/nodes/{NODE}", 200)})

    def test_pods_of_the_cluster_are_enough_for_the_api_server(self):
        agent = self.agent(self.token("watcher", *agents.ROLES["apiserver"]), "apiserver")
        self.wait_names(agent)
        self.assertEqual(agent.scrape().value("kepler_pod_informer_failed_requests_total"), 0)

    def test_auto_uses_the_api_server_where_the_kubelets_pods_are_forbidden(self):
        token = self.token("auto", NODES, *agents.ROLES["apiserver"])
        self.assertEqual(cluster().kubelet("/pods", token)[0], 403)
        agent = self.agent(token, "auto")
        self.wait_names(agent)
        self.assertEqual(self.source(agent), "apiserver")
        told = r"level=WARN .*the kubelet is unavailable, using the API server.*answered 403"
        agent.wait_log(told)
        wait_until(lambda: agent.scrape().value("kepler_ticks_total") > 2 * agents.POLL, "two intervals", 60)
        self.assertEqual(len(re.findall(told, agent.log())), 1)
        # The kubelet's refusal is the only failure.
        self.assertEqual(agent.scrape().value("kepler_pod_informer_failed_requests_total"), 1)

    def test_auto_uses_the_kubelet_where_it_may(self):
        agent = self.agent(self.token("either", NODES, KUBELET_PODS, *agents.ROLES["apiserver"]), "auto")
        self.wait_names(agent)
        self.assertEqual(self.source(agent), "kubelet")

    @staticmethod
    def source(agent):
        return next(labels["source"] for labels, _ in agent.scrape().series("kepler_pod_informer_info", mode="auto"))

    def test_without_the_kubelets_pods(self):
        token = self.token("no-pods", NODES)
        self.assertEqual(cluster().kubelet("/pods", token)[0], 403)
        self.wait_refused(self.agent(token), r"level=WARN .*answered 403: .*Forbidden")

    def test_without_nodes(self):
        self.wait_refused(self.agent(self.token("no-nodes", KUBELET_PODS)),
                          rf'level=WARN .*answered 403: .*nodes \\?"{NODE}\\?" is forbidden')

    def test_without_pods_of_the_api_server(self):
        self.wait_refused(self.agent(self.token("no-watch", NODES, KUBELET_PODS), "apiserver"),
                          r"level=WARN .*answered 403: .*pods is forbidden")

    def test_unknown_token(self):
        self.wait_refused(self.agent("nobodys"), "level=WARN .*answered 401: .*Unauthorized")

    def test_right_that_comes_later(self):
        agent = self.agent(self.token("late", NODES))
        self.wait_refused(agent, "level=WARN .*answered 403")
        self.token("late", NODES, KUBELET_PODS)
        # The kubelet keeps a refusal for half a minute.
        wait_until(lambda: {"seen", "main"} <= self.names(agent), "the names of a pod", 90, period=0.2)
        agent.wait_log("received the pods of this node again")

    def test_node_that_is_not_of_this_cluster(self):
        self.wait_refused(self.agent(self.token("full", NODES, KUBELET_PODS), kubernetes_node="elsewhere"),
                          "level=WARN .*answered 404: .*not found.*kube.nodeName")
