"""Pods that come and go: thousands that only the cluster reports, and some that run."""
import contextlib
import json
import os
import statistics
import subprocess
import time

from exposition import ScrapeChecker, microjoules
from harness import end, wait_until
from kubernetes import Cluster, pod
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from scenarios import Outcome
from workloads import Cgroup

# Below a root of its own: a kubelet that runs here would remove pods that it has not created.
BURSTABLE = f"/kepler-churn-{os.getpid()}/kubepods/burstable"
# It has no children, so its cgroup can be removed when it has ended.
COMPUTE = "while (1) { $i++ for 1..$ARGV[0]; select undef, undef, undef, 0.02 }"
KEPT = 50  # pods that are there at a time, where a watch says which
MAX_TERMINATED = 10
INTERVAL = 0.2  # seconds
RETENTION = 5  # seconds
LATE = 10  # seconds more that an ended pod may be seen: an end without a report is detected later
MAX_GROWTH = 3 << 20  # bytes of RSS, from the first quarter to the end


def uid_of(number):
    """Of a pod that only the cluster reports."""
    return f"5d2f6a10-0a3c-4f0e-9d3c-{number:012x}"


class RunningPod(contextlib.AbstractContextManager):
    """Has one container, which computes `steps` every 20 ms: 100,000 take about 6 % of a CPU. Agents of other tests, which run
    at the same time, see it too: each pod has its own UID and container."""

    made_so_far = 0

    def __init__(self, number, steps=100_000):
        RunningPod.made_so_far += 1
        self.steps, self.name = steps, f"runs-{number}"
        self.uid = f"5d2f6a11-{RunningPod.made_so_far:04x}-4f0e-9d3c-{os.getpid():012x}"
        self.container = f"5d2f6a11{os.getpid():024x}{RunningPod.made_so_far:032x}"
        self.cgroup = Cgroup(f"{BURSTABLE}/pod{self.uid}/{self.container}")
        self.process, self.ended = None, None

    def __enter__(self):
        self.cgroup.__enter__()
        self.process = subprocess.Popen([*self.cgroup.command_prefix(), "perl", "-e", COMPUTE, str(self.steps)])
        return self

    def __exit__(self, *_):
        self.ended = time.time()
        end(self.process)
        self.cgroup.__exit__()

    def listed(self):
        return pod(self.uid, self.name, {"main": self.container})


class Watcher:
    """Takes every scrape and remembers what was wrong, and how much there was at most."""

    def __init__(self, agent):
        self.agent = agent
        self.checker = ScrapeChecker(pids_return=lambda labels: True)
        self.running = {}  # UID: RunningPod; ended ones too
        self.named, self.problems = set(), []
        self.most_known = self.most_terminated = 0

    def look(self):
        scrape = self.checker.check(self.agent.scrape_after())
        now, ended = float(scrape.value("kepler_snapshot_timestamp_seconds")), set()
        for labels, joules in scrape.series("kepler_pod_cpu_joules_total", zone="package"):
            one = self.running.get(labels["pod_id"])
            if one is None:
                continue
            if labels["pod_name"] not in ("", one.name):
                self.problems.append(f"{one.name} goes by the name of {labels['pod_name']}")
            if labels["pod_name"] and joules:
                self.named.add(one.uid)
                self.check_container(scrape, one)
            if labels["state"] == "terminated":
                ended.add(one.uid)
                if one.ended is None:
                    self.problems.append(f"{one.name} is listed as terminated before its end")
                elif now > one.ended + RETENTION + LATE:
                    self.problems.append(f"{one.name} is still listed {now - one.ended:.1f} s after its end")
        self.most_terminated = max(self.most_terminated, len(ended))
        self.most_known = max(self.most_known, int(scrape.value("kepler_pod_informer_pods")))
        return scrape

    def look_without_any(self):
        scrape = self.look()
        listed = {labels["pod_id"] for labels, _ in scrape.series("kepler_pod_cpu_joules_total", zone="package")}
        return None if listed & self.running.keys() else scrape

    def check_container(self, scrape, one):
        names = {labels["container_name"] for labels, _ in scrape.series(
            "kepler_container_cpu_joules_total", container_id=one.container, state="running")}
        if not names <= {"main"}:
            self.problems.append(f"the container of {one.name} goes by the name of {names}")

    def wait_named(self, one):
        def named():
            if one.process.poll() is not None:
                raise AssertionError(f"somebody has ended {one.name}: {one.process.returncode}")
            self.look()
            return one.uid in self.named
        self.running[one.uid] = one
        wait_until(named, f"the name of {one.name}", 90)


def pod_churn(mode, count, per_step, pause=0, source=None):
    """`count` pods that are created and deleted, `per_step` of them at a time. One of them runs, until that one is known by name;
    at most one step each `pause` seconds. mode: apiserver, where a watch tells of each, or kubelet, where each list names
    other pods."""
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        tree = stack.enter_context(PowercapTree(ONE_PACKAGE))
        stack.enter_context(Cgroup(BURSTABLE))
        cluster = stack.enter_context(Cluster())
        config = json.loads(cluster.config(mode=mode)) | {"monitor": {
            "maxTerminated": MAX_TERMINATED, "minTerminatedEnergyThreshold": 0, "terminatedRetention": f"{RETENTION}s"}}
        agent = stack.enter_context(metered_agent(tree, interval=f"{INTERVAL}s", source=source, config=json.dumps(config)))
        tree.start()
        watcher, rss, listed, before = Watcher(agent), [], [], stack.enter_context(contextlib.ExitStack())
        first, waited = watcher.look(), agent.seconds_without_a_cpu()
        for step in range(count // per_step):
            numbers = range(step * per_step, (step + 1) * per_step)
            now = stack.enter_context(contextlib.ExitStack())
            runs = now.enter_context(RunningPod(numbers[-1]))
            fresh = [*(pod(uid_of(n), f"pod-{n}", {"main": f"{n:064x}"}) for n in numbers[:-1]), runs.listed()]
            if mode == "kubelet":
                cluster.pods = listed = fresh
            else:
                for one in fresh:
                    listed = [*listed, one][-KEPT:]
                    cluster.pods = listed
            watcher.wait_named(runs)
            before.close()  # what ran until now; its energy comes after its end
            before = now
            rss.append(agent.rss_bytes())
            time.sleep(max(0, begin + pause * (step + 1) - time.monotonic()))
        before.close()
        tree.stop()
        last = wait_until(watcher.look_without_any, "those that ran to be listed no more")
        waited = agent.seconds_without_a_cpu() - waited
        node_error = (microjoules(last.value("kepler_node_cpu_joules_total", zone="package"))
                      - tree.zone_microjoules()["package"])
    return judge(f"pod churn, {mode}", count, watcher, rss, first, last, node_error, len(listed), begin, waited)


def judge(title, count, watcher, rss, first, last, node_error, listed, begin, waited):
    def grown(name):
        return int(last.value(name) - first.value(name))
    eighth = max(len(rss) // 8, 1)
    early, late = statistics.median(rss[2 * eighth:3 * eighth]), statistics.median(rss[-eighth:])
    known = int(last.value("kepler_pod_informer_pods"))
    missed, failed = grown("kepler_missed_ticks_total"), grown("kepler_pod_informer_failed_requests_total")
    problems = watcher.problems + watcher.checker.problems
    problems += [f"node − tree = {node_error} µJ"] if node_error else []
    problems += [f"{watcher.most_terminated} terminated pods"] if watcher.most_terminated > MAX_TERMINATED else []
    problems += [f"{known} pods known at the end instead of {listed}"] if known != listed else []
    problems += [f"{watcher.most_known} pods known at a time, of {listed}"] if watcher.most_known > listed else []
    problems += [f"{missed} ticks missed"] if missed * INTERVAL > waited else []
    problems += [f"{failed} requests failed"] if failed else []
    problems += [f"RSS {early / 2**20:.2f} MiB, then {late / 2**20:.2f}"] if late - early > MAX_GROWTH else []
    return Outcome(
        f"{title}: {count} pods in {time.monotonic() - begin:.0f} s, {len(watcher.named)} of them ran and had their "
        f"names; at most {watcher.most_known} known and {watcher.most_terminated} terminated; RSS {early / 2**20:.2f} MiB "
        f"after a quarter, {late / 2**20:.2f} at the end; {grown('kepler_ticks_total')} ticks, {missed} missed "
        f"({waited:.2f} s without a CPU); "
        f"{last.value('kepler_pod_informer_requests_total')} requests; {watcher.checker.scrapes} scrapes, worst sum "
        f"{watcher.checker.worst_microjoules} µJ off, node − tree {node_error} µJ", problems)
