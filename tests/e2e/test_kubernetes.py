"""Pods by name: real processes in cgroups as the kubelet makes them, and a cluster that speaks its protocol."""
import contextlib
import json
import os
import statistics
import time
import unittest
from random import Random
from unittest import mock

from containers import Container
from exposition import ScrapeChecker, conservation_errors
from harness import Agent, end, free_port, run_tests, run_to_end, wait_until
from kubernetes import NODE, Cluster, pod
from pod_churn import BURSTABLE, RunningPod
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from unreported import explains, without_record_since
from workloads import BURN, BURN_A_FIFTH, Cgroup, HalfIdle

INTERVAL = 0.2  # seconds
FAST = f"--monitor.interval={INTERVAL}s"


class Pods(unittest.TestCase):
    def setUp(self):
        self.cluster = self.enterContext(Cluster())
        self.container = self.enterContext(Container())
        self.uid = self.container.path.split("/pod")[1].split("/")[0]
        self.shell = self.container.run_script(f"exec /usr/bin/python3 -c '{BURN_A_FIFTH}'")
        self.addCleanup(end, self.shell)

    def know(self, name="web", container="server"):
        self.cluster.pods = [pod(self.uid, name, {container: self.container.id})]

    def start(self, *more, command_prefix=(), monitor=None, **informer):
        # A meter that says idle power, too, which is not estimated where this machine is a guest.
        config = {"cpu": {"preferredMeters": ["fake"]}, "monitor": monitor or {}, **json.loads(self.cluster.config(**informer))}
        return self.enterContext(Agent(FAST, *more, config=json.dumps(config), command_prefix=command_prefix))

    def named(self, agent, name, container="server", seconds=30):
        """The first scrape in which the pod has that name, and energy under it."""
        def look():
            scrape = self.exact(agent.scrape_after())
            pods = scrape.series("kepler_pod_cpu_joules_total", pod_id=self.uid, state="running")
            if not any(labels["pod_name"] == name and value > 0 for labels, value in pods):
                return None
            names = {labels["container_name"] for labels, _ in scrape.series(
                "kepler_container_cpu_joules_total", container_id=self.container.id, state="running")}
            self.assertTrue(container is None or names == {container}, names)
            return scrape
        return wait_until(look, f"the pod's name {name!r}", seconds)

    def exact(self, scrape):
        """Nothing is lost at any level, and a pod has what its containers and processes have."""
        self.assertEqual({level: error for level, error in conservation_errors(scrape).items() if error}, {})
        if (scrape.sum("kepler_node_cpu_unlisted_joules_total", reason="departed")
                or scrape.sum("kepler_node_cpu_unnamed_joules")):
            return scrape
        containers = scrape.sum("kepler_container_cpu_joules_total", pod_id=self.uid)
        self.assertEqual(scrape.sum("kepler_pod_cpu_joules_total", pod_id=self.uid), containers,
                         scrape.series("kepler_node_cpu_unlisted_joules_total", level="container"))
        # Short-lived processes have no series.
        unlisted = containers - scrape.sum("kepler_process_cpu_joules_total", container_id=self.container.id)
        self.assertGreaterEqual(unlisted, 0)
        self.assertLessEqual(unlisted, scrape.sum("kepler_node_cpu_unlisted_joules_total", level="process"))
        return scrape

    def test_both_ways_of_asking_name_pods_and_their_containers(self):
        self.know()
        for mode in ("kubelet", "apiserver"):
            begin = time.time()
            with self.subTest(mode), Agent(FAST, config=self.cluster.config(mode=mode)) as agent:
                scrape = self.named(agent, "web")
                labels, _ = scrape.series("kepler_pod_cpu_watts", pod_id=self.uid)[0]
                self.assertEqual(labels["pod_namespace"], "shop")
                self.assertEqual(scrape.value("kepler_pod_informer_pods"), 1)
                self.assertEqual(scrape.value("kepler_pod_informer_failed_requests_total"), 0)
                last = scrape.value("kepler_pod_informer_last_success_timestamp_seconds")
                self.assertTrue(begin < last < time.time(), (begin, last))

    def test_idle_energy_follows_requests_beside_the_sums_that_stay(self):
        self.cluster.pods = [pod(self.uid, "web", {"server": self.container.id}, requests={"cpu": "500m"})]
        machine = self.enterContext(HalfIdle())  # this one may be busy for minutes
        agent = self.start("--attribution.idle=by-request", command_prefix=machine.command_prefix())
        first = self.named(agent, "web")
        zone = first.zones()[0]

        def idle(scrape):
            self.assertEqual({level for _, level in conservation_errors(scrape) if level.endswith("idle")},
                             {"container idle", "pod idle"})
            mine = scrape.sum("kepler_container_cpu_idle_joules_total", container_id=self.container.id, zone=zone)
            self.assertEqual(scrape.sum("kepler_pod_cpu_idle_joules_total", pod_id=self.uid, zone=zone), mine)
            return mine, scrape.value("kepler_node_cpu_idle_joules_total", zone=zone)

        def enough():
            scrape = self.exact(agent.scrape_after())
            return scrape if idle(scrape)[1] - idle(first)[1] > 10 else None
        last = wait_until(enough, "ten joules of idle energy")
        mine, of_node = (after - before for after, before in zip(idle(last), idle(first)))
        self.assertAlmostEqual(float(mine / of_node), 0.5 / os.cpu_count(), places=4)
        self.assertEqual(first.series("kepler_process_cpu_idle_joules_total"), [])

    def test_joules_come_before_names_which_come_when_the_cluster_answers(self):
        self.know()
        self.cluster.fault = 503
        agent = self.start()
        self.named(agent, "", container=None)
        agent.wait_log("level=WARN .*failed to get the pods of this node.*answered 503: as the test wants it")
        self.cluster.fault = None
        scrape = self.named(agent, "web")
        self.assertGreater(scrape.value("kepler_pod_informer_failed_requests_total"), 0)
        # What was used without a name has departed with it.
        self.assertGreater(scrape.sum("kepler_node_cpu_unlisted_joules_total", level="pod", reason="departed"), 0)
        agent.wait_log("received the pods of this node again")

    def test_faults_cost_names_of_new_pods_only(self):
        self.know()
        agent = self.start()
        self.named(agent, "web")
        for fault in (401, 403, 500, "cut"):
            failed = agent.scrape().value("kepler_pod_informer_failed_requests_total")
            self.cluster.fault = fault
            wait_until(lambda before=failed: agent.scrape().value("kepler_pod_informer_failed_requests_total") > before,
                       f"a failure by {fault}")
            self.named(agent, "web")
        self.cluster.fault = None
        self.know("renamed", "other")
        self.named(agent, "renamed", "other")

    def test_watch_says_what_changes_and_goes_on_where_it_was_cut(self):
        self.know()
        agent = self.start(mode="apiserver")
        self.named(agent, "web")
        lists = self.cluster.requests("/api/v1/pods", watch=False)
        self.assertEqual(len(lists), 1)
        self.know("renamed", "other")
        self.named(agent, "renamed", "other")
        self.cluster.cut_watches()
        self.know("later", "third")
        self.named(agent, "later", "third")
        self.assertEqual(self.cluster.requests("/api/v1/pods", watch=False), lists)
        self.cluster.forget()
        wait_until(lambda: len(self.cluster.requests("/api/v1/pods", watch=False)) == 2, "a list after 410")
        self.know("last", "fourth")
        self.named(agent, "last", "fourth")

    def test_labels_that_are_asked_for_are_on_the_series_of_pods(self):
        self.know()
        agent = self.start("--metrics.labels=app", "--metrics.labels=absent")
        labels, _ = self.named(agent, "web").series("kepler_pod_cpu_watts", pod_id=self.uid)[0]
        self.assertEqual(labels["label_app"], "web")

    def test_annotations_that_are_asked_for_follow_their_changes(self):
        def annotate(owner):
            self.cluster.pods = [pod(self.uid, "web", {"server": self.container.id},
                                     annotations={"example.com/owner": owner, "example.com/notes": "n" * 200_000})]
        for mode in ("kubelet", "apiserver"):
            annotate("green")
            with self.subTest(mode), Agent(FAST, "--metrics.annotations=example.com/owner",
                                           config=self.cluster.config(mode=mode)) as agent:
                self.named(agent, "web")
                for owner in ("green", "blue", "x" * 250_000):
                    annotate(owner)
                    labels = wait_until(lambda shown=owner[:255]: [
                        labels for labels, _ in self.exact(agent.scrape()).series(
                            "kepler_pod_cpu_watts", pod_id=self.uid, annotation_example_com_owner=shown)],
                        f"the owner {owner[:9]}")[0]
                    self.assertEqual([name for name in labels if name.startswith(("annotation_", "label_"))],
                                     ["annotation_example_com_owner"])

    def test_rotated_token_is_used(self):
        self.know()
        agent = self.start()
        self.named(agent, "web")
        self.cluster.write_token("second")
        self.know("later")
        self.named(agent, "later")

    def test_hung_kubelet_holds_up_no_tick_and_no_scrape(self):
        self.cluster.fault = "hang"
        agent = self.start()
        wait_until(self.cluster.requests, "a request that hangs")
        first, waited = agent.scrape_after(), agent.seconds_without_a_cpu()
        seconds = []
        for _ in range(20):
            begin = time.monotonic()
            scrape = self.exact(agent.scrape())
            seconds.append(time.monotonic() - begin)
            time.sleep(0.05)
        self.assertLess(statistics.median(seconds), 1, "the kubelet hangs until the end of the test")
        self.assertGreater(scrape.value("kepler_ticks_total"), first.value("kepler_ticks_total"))
        missed = scrape.value("kepler_missed_ticks_total") - first.value("kepler_missed_ticks_total")
        self.assertLessEqual(float(missed) * INTERVAL, agent.seconds_without_a_cpu() - waited if missed else 0)
        self.assertEqual(agent.stop(seconds=5), 0)

    def test_requests_are_one_per_interval_and_one_for_new_containers(self):
        self.know()
        # Ended containers are listed too: of other tests, which run at the same time.
        agent = self.start(monitor={"minTerminatedEnergyThreshold": 0}, pollInterval="1h")
        self.named(agent, "web")
        own, first_seen = {self.container.id}, {}

        def scrape():
            seen = agent.scrape()
            for labels, _ in seen.series("kepler_container_cpu_joules_total"):
                first_seen.setdefault(labels["container_id"], time.time())
            return seen

        def not_for_others(since):
            """The number of requests since that time, less those for containers of other tests. No answer lists such a
            container, so the agent sends four requests for it within 20 s (refresh_plan.h)."""
            asked = sum(at > since for at in self.cluster.requests())
            scrape()
            return asked - 4 * sum(at > since - 20 for one, at in first_seen.items() if one not in own)

        # The first answer may have come between a tick's look at it and its containers.
        named = time.time()
        wait_until(lambda: scrape() and time.time() > min(max(self.cluster.requests()) + 3, named + 20), "the requests to stop")
        begin = time.time()
        for _ in range(20):
            scrape()
        self.assertLessEqual(not_for_others(begin), 0)
        with Container() as one, Container() as other:
            own |= {one.id, other.id}
            self.cluster.pods = [pod(self.uid, "web", {"server": self.container.id, "a": one.id, "b": other.id})]
            shells = [container.run_script(BURN) for container in (one, other)]
            try:
                for container, name in ((one, "a"), (other, "b")):
                    wait_until(lambda c=container, n=name: [
                        labels for labels, _ in scrape().series(
                            "kepler_container_cpu_joules_total", container_id=c.id, state="running")
                        if labels["container_name"] == n], "the name of a new container")
            finally:
                for shell in shells:
                    end(shell)
        # The two may be seen by two ticks.
        self.assertLessEqual(not_for_others(begin), 2)

    def test_wrong_node_name_is_named(self):
        for mode in ("kubelet", "apiserver", "auto"):
            config = json.loads(self.cluster.config(mode=mode))
            config["kube"]["nodeName"] = "node-2"
            with self.subTest(mode), Agent(FAST, config=json.dumps(config)) as agent:
                agent.wait_log("nodes/node-2 .*answered 404: .*not found.*kube.nodeName")
                wait_until(lambda a=agent: a.scrape().value("kepler_pod_informer_failed_requests_total") > 1, "a retry")

    def test_auto_uses_the_api_server_without_a_kubelet(self):
        self.know()
        self.cluster.kubelet_fault = 403
        agent = self.start(mode="auto")
        scrape = self.named(agent, "web")
        self.assertEqual(scrape.value("kepler_pod_informer_info", mode="auto", source="apiserver"), 1)
        self.assertEqual(scrape.value("kepler_pod_informer_failed_requests_total"), 1)
        self.know("renamed", "other")
        self.named(agent, "renamed", "other")
        self.assertEqual(len(self.cluster.requests("/pods")), 1)
        self.assertEqual(agent.log().count("using the API server"), 1)

    def test_auto_asks_a_kubelet_that_answers(self):
        self.know()
        scrape = self.named(self.start(mode="auto"), "web")
        self.assertEqual(scrape.value("kepler_pod_informer_info", mode="auto", source="kubelet"), 1)
        self.assertEqual(self.cluster.requests("/api/v1/pods"), [])

    def test_new_pod_has_no_series_without_its_name(self):
        agent = self.start(pollInterval="1h")
        self.named(agent, "", container=None)
        seen = []
        with RunningPod(1) as one:
            self.cluster.pods = [*self.cluster.pods, one.listed()]

            def named():
                scrape = self.exact(agent.scrape())
                seen.extend(labels["pod_name"] for labels, _ in scrape.series("kepler_pod_cpu_joules_total",
                                                                              pod_id=one.uid))
                return one.name in seen
            wait_until(named, "the name of a new pod", period=0.05)
        self.assertEqual(set(seen), {one.name})


class ShortPods(unittest.TestCase):
    """Pods that live for one to three seconds, with the default interval."""

    COUNT, STATUS_AFTER = 50, 1  # seconds: a kubelet shows a pod at once, its containers after a look at the runtime

    def setUp(self):
        self.tree = self.enterContext(PowercapTree(ONE_PACKAGE))
        self.enterContext(Cgroup(BURSTABLE))
        self.cluster = self.enterContext(Cluster())
        config = json.loads(self.cluster.config(pollInterval="15s")) | {"monitor": {"minTerminatedEnergyThreshold": 0}}
        self.agent = self.enterContext(metered_agent(self.tree, "--metrics=all", interval="5s", config=json.dumps(config)))
        self.tree.start()
        self.checker = ScrapeChecker(pids_return=lambda labels: True)
        self.joules = {"container": {}, "pod": {}}  # (id, name): most that a series had
        self.totals = {}  # of the latest scrape: level, and labels to joules

    def look(self):
        scrape = self.checker.check(self.agent.scrape())
        for level, seen in self.joules.items():
            for labels, value in scrape.series(f"kepler_{level}_cpu_joules_total"):
                key = labels[f"{level}_id"], labels[f"{level}_name"]
                seen[key] = max(seen.get(key, 0), value)
        self.look_at_owners(scrape)
        return scrape

    def look_at_owners(self, scrape):
        """Totals of namespaces and owners keep what pods used that have ended."""
        for level in ("namespace", "owner"):
            now = {tuple(sorted(labels.items())): value for labels, value in scrape.series(f"kepler_{level}_cpu_joules_total")}
            before, self.totals[level] = self.totals.get(level, {}), now
            self.assertEqual({key for key, value in before.items() if now.get(key, -1) < value}, set())
        self.assertEqual(scrape.sum("kepler_namespace_cpu_joules_total"), scrape.sum("kepler_owner_cpu_joules_total"))

    def run_pods(self):
        """All of them, at most eight at a time; returns them."""
        random = Random(1)
        all_pods = [RunningPod(number) for number in range(self.COUNT)]
        waiting = [(one, 1 + 2 * random.random()) for one in all_pods]
        running, pods = [], []
        while waiting or running:
            if waiting and len(running) < 8:
                one, lives = waiting.pop()
                bare = one.listed()
                bare["status"]["containerStatuses"] = []
                self.cluster.pods = pods = [*pods, bare]
                stack = contextlib.ExitStack()
                stack.enter_context(one)
                running.append((one, stack, time.monotonic(), lives))
            for each in list(running):
                one, stack, began, lives = each
                age = time.monotonic() - began
                if age > self.STATUS_AFTER:
                    pods = [one.listed() if old["metadata"]["uid"] == one.uid else old for old in pods]
                if age > lives:
                    stack.close()
                    running.remove(each)
            self.cluster.pods = pods  # that have completed stay
            self.look()
            time.sleep(0.1)
        return all_pods

    def share(self, level, names, after):
        """Of the energy of these pods or containers, what has its own name. Their owners have it for good, as nobody else does;
        what other tests end at this level is in kepler_node_cpu_unlisted_joules_total too."""
        named = sum(value for key, value in self.joules[level].items() if key in names)
        nameless = sum(value for (identifier, _), value in self.joules[level].items()
                       if identifier in {key for key, _ in names}) - named
        owned = after.sum("kepler_owner_cpu_joules_total", namespace="shop")
        return float(named / (nameless + max(owned, named)))

    def test_energy_of_the_start_has_their_names(self):
        before = self.look()
        pods = self.run_pods()
        end_of_run = time.time()
        wait_until(lambda: float(self.look().value("kepler_snapshot_timestamp_seconds")) > end_of_run + 6,
                   "two ticks", period=0.2)
        after = self.look()
        shares = {"pod": self.share("pod", {(one.uid, one.name) for one in pods}, after),
                  "container": self.share("container", {(one.container, "main") for one in pods}, after)}
        print(f"{self.COUNT} short pods: energy under their own names: "
              + ", ".join(f"{level} {100 * share:.2f} %" for level, share in shares.items()), flush=True)
        self.assertEqual(self.checker.problems, [])
        unseen = [one for one in pods if (one.uid, one.name) not in self.joules["pod"]]
        if unseen:  # the kernel did not report the end of their only process
            self.assertTrue(explains(without_record_since(self.agent, before, len(unseen)), len(unseen)),
                            [one.name for one in unseen])
            print(f"not seen, ends that the kernel did not report: {[one.name for one in unseen]}", flush=True)
        seen = sum(value for (_, name), value in self.joules["pod"].items() if name)
        self.assertGreaterEqual(after.sum("kepler_namespace_cpu_joules_total", namespace="shop"), seen)
        for one in set(pods) - set(unseen):
            self.assertGreaterEqual(
                after.sum("kepler_owner_cpu_joules_total", namespace="shop", owner_kind="Deployment", owner_name=one.name),
                self.joules["pod"][one.uid, one.name])
        for level, share in shares.items():
            self.assertGreaterEqual(share, 0.99 - len(unseen) / len(pods), level)


class Configuration(unittest.TestCase):
    def test_no_pod_and_no_kubeconfig(self):
        self.enterContext(mock.patch.dict("os.environ"))
        for name in ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
            os.environ.pop(name, None)
        code, said = run_to_end("--kube.enable", f"--kube.node-name={NODE}", f"--web.listen-address=127.0.0.1:{free_port()}")
        self.assertEqual(code, 1)
        self.assertIn("this is no pod of a cluster", said)
        self.assertIn("kube.config", said)


if __name__ == "__main__":
    run_tests()
