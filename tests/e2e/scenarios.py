"""The acceptance checks, each as one function of its length: short in the tests, full in tools/acceptance.sh.

Each returns an Outcome: one line of figures, and what was wrong with them.
"""
import contextlib
import dataclasses
import os
import subprocess
import threading
import time
import unittest

import protobuf_page
from exposition import Exposition, ScrapeChecker, microjoules
from harness import OPENMETRICS, wait_until
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from prometheus import Prometheus, strict_openmetrics
from unreported import UNREPORTED_OR_DROPPED, explains, without_record
from workloads import BURN, Churn, ContainerChurn, Gate, Podman, process_usage_ns

WAITS_FOR_THE_AUDIT = 1000  # processes
SETTLED = 0.1  # seconds: records of what has ended arrive some 30 ms later
MAX_DELAY = 2  # seconds: of records, while the machine is busy


@dataclasses.dataclass
class Outcome:
    line: str
    problems: list


class OutcomeTest(unittest.TestCase):
    def check(self, outcome):
        print(outcome.line, flush=True)
        self.assertEqual(outcome.problems, [], outcome.line)


def exposition_formats(source=None):
    """promtool, Python's strict OpenMetrics parser and protobuf's library read what the agent says."""
    problems = []
    with PowercapTree() as tree, metered_agent(tree, source=source) as agent:
        tree.start()
        text = agent.scrape_after().text
        lint = subprocess.run(["promtool", "check", "metrics"], input=text.encode(), check=False, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if lint.returncode != 0 or lint.stdout:
            problems.append(f"promtool check metrics: {lint.stdout.decode()}")
        families = strict_openmetrics(agent.text(OPENMETRICS))
        problems += protobuf_differences(agent)
        problems += created_line_problems(tree, families, source)
    return Outcome(f"promtool check metrics: exit {lint.returncode}; OpenMetrics parser: {len(families)} families",
                   problems)


def created_line_problems(tree, plain, source):
    """Each counter has its start time in OpenMetrics with createdLines, and never without."""
    def starts(families):
        return {family.name for family in families for sample in family.samples if sample.name.endswith("_created")}
    with metered_agent(tree, source=source, config="exporter: {prometheus: {createdLines: true}}\n") as agent:
        families = strict_openmetrics(agent.text(OPENMETRICS))
    counters = {family.name for family in families if family.type == "counter" and family.samples}
    problems = [f"createdLines: {counters ^ starts(families)} or no counter"] if counters != starts(families) else []
    return problems + ([f"without createdLines: {starts(plain)}"] if starts(plain) else [])


# Of the moment when the page is made, not of the snapshot.
OF_THE_PAGE = ("process_", "promhttp_", "kepler_http_")


def protobuf_differences(agent):
    """What the protobuf page and the text page of one snapshot do not share, and wrong start times of counters."""
    def both():
        # One right after the other: the next snapshot may come while a page is parsed.
        text, page = agent.text(), agent.get(headers={"Accept": protobuf_page.ACCEPT})[2]
        text, decoded = Exposition(text), protobuf_page.as_exposition(page)
        stamp = "kepler_snapshot_timestamp_seconds"
        return (text, page, decoded) if float(text.value(stamp)) == decoded.value(stamp) else None
    text, page, decoded = wait_until(both, "both pages of one snapshot", 30)
    floats = {name: {labels: float(value) for labels, value in samples.items()}
              for name, samples in text.families.items()}
    problems = [f"protobuf: {name} is not that of the text" for name in floats.keys() | decoded.families.keys()
                if floats.get(name) != decoded.families.get(name) and not name.startswith(OF_THE_PAGE)]
    problems += [] if text.types == decoded.types else ["protobuf: other types than in the text"]
    now, before = time.time(), protobuf_page.starts(page)
    problems += [f"protobuf: {series} starts at {start}" for series, start in before.items()
                 if start is None or not now - 600 < start < now]
    agent.scrape_after()
    after = protobuf_page.starts(agent.get(headers={"Accept": protobuf_page.ACCEPT})[2])
    return problems + [f"protobuf: the start of {series} moved" for series in before.keys() & after.keys()
                       if before[series] != after[series]]


def prometheus_under_churn(seconds, source=None):
    """A real Prometheus scrapes every second while processes come and go."""
    with contextlib.ExitStack() as stack:
        tree = stack.enter_context(PowercapTree())
        agent = stack.enter_context(metered_agent(tree, interval="1s", source=source))
        server = stack.enter_context(Prometheus(agent.port))
        tree.start()
        with Churn() as churn:
            wait_until(lambda: server.scrapes() >= seconds, f"{seconds} scrapes", 10 * seconds + 60, period=0.2)
        down, scrapes = server.failed_scrapes(), server.scrapes()
        dropped = server.dropped_samples()
    problems = [f"{down} of {scrapes} scrapes failed (up == 0)"] if down else []
    problems += [f"dropped: {dropped}"] if any(dropped.values()) else []
    return Outcome(f"Prometheus: {scrapes} scrapes at 1 s, {down} with up == 0, {sum(dropped.values())} samples "
                   f"dropped, {churn.made} short processes meanwhile", problems)


def conservation_under_churn(seconds, source=None, with_containers=True):
    """Every scrape adds up to the microjoule, nothing falls, and the node has what the tree gave, across wraps."""
    # Wraps for every zone, and never two between two scans unless the agent is stopped for seven seconds.
    ranges = {"intel-rapl:0": 37, "intel-rapl:0:0": 21, "intel-rapl:0:1": 5, "intel-rapl:1": 29, "intel-rapl:2": 83,
              "intel-rapl-mmio:0": 37}
    ranges = {entry: watts * max(seconds * 300_000, 7_000_000) for entry, watts in ranges.items()}
    checker = ScrapeChecker()
    with contextlib.ExitStack() as stack:
        tree = stack.enter_context(PowercapTree(ranges=ranges))
        podman = stack.enter_context(Podman()) if with_containers else None
        agent = stack.enter_context(metered_agent(tree, source=source))
        checker.check(agent.scrape())
        with Churn() as churn, ContainerChurn(podman) if podman else contextlib.nullcontext() as containers:
            tree.start()
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline:
                checker.check(agent.scrape_after(checker.previous.value("kepler_snapshot_timestamp_seconds")))
            tree.stop()
            last = checker.check(agent.scrape_after())
    problems = list(checker.problems)
    used = tree.zone_microjoules()
    differences = {zone: microjoules(last.value("kepler_node_cpu_joules_total", zone=zone)) - given
                   for zone, given in used.items()}
    problems += [f"zone {zone}: node − tree = {error} µJ" for zone, error in differences.items() if error]
    problems += ["no counter wrapped"] if tree.wraps() == 0 else []
    worst = max(map(abs, differences.values()))
    return Outcome(
        f"conservation: {checker.scrapes} scrapes, worst sum {checker.worst_microjoules} µJ off; node − tree ΔE "
        f"{worst} µJ over {used['package'] / 1e6:.1f} J of package, {tree.wraps()} wraps; {churn.made} short "
        f"processes, {containers.started if containers else 0} containers", problems)


def audited(agent):
    """A scrape in which nothing of what ran until now is missing: usages that were read later are settled. That takes
    two scans where a loss is known, else up to a minute."""
    moment = time.time() + SETTLED

    def settled():
        scrape = agent.scrape()
        return scrape if scrape.value("kepler_activity_audit_last_timestamp_seconds") > moment else None
    return wait_until(settled, "an audit", 90, period=0.2)


def short_lived(count, source=None, tolerance=0.01):
    """What thousands of tiny processes of a container use is the container's."""
    with contextlib.ExitStack() as stack:
        tree = stack.enter_context(PowercapTree(ONE_PACKAGE))
        podman = stack.enter_context(Podman())
        agent = stack.enter_context(metered_agent(tree, interval="1s", source=source))
        tree.start()
        return _short_lived(podman, agent, count, tolerance)


def at_rest(agent, pid):
    """A scrape, and the CPU time of the process's cgroup at its tick: nothing ran in it meanwhile, nor while the records of
    its ended processes were on their way. Right after a start its shell is still on the way to its gate."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        used = process_usage_ns(pid)
        scrape = agent.scrape_after(time.time() + SETTLED)
        if process_usage_ns(pid) == used:
            return scrape, used
    raise AssertionError(f"the cgroup of process {pid} was never at rest")


def _short_lived(podman, agent, count, tolerance):
    # One of them is never waited for: a zombie, whose v1 cgroup lines are lost while its v2 line is not.
    zombie = "sh -c '/bin/true & exec sleep 1000' &"
    name = "kepler_container_cpu_seconds_total"
    loop = f"{zombie} i=0; while [ $i -lt {count} ]; do /bin/true; i=$((i+1)); done"
    with Gate() as gate:
        container = podman.start(gate.script("true", loop, "/go"), "-v", f"{gate.directory}:/go")
        pid = podman.pid(container)
        before, used_before = at_rest(agent, pid)
        gate.open()
        gate.wait_ended(300)
        after, used = at_rest(agent, pid)  # the shell too, which computes a little longer than the loop
        used -= used_before

        def given(look):
            return float(look.sum(name, container_id=container) - before.sum(name, container_id=container)) * 1e9 / used
        part, when, deadline = given(after), "", time.monotonic() + MAX_DELAY
        while abs(part - 1) > tolerance and time.monotonic() < deadline:
            part, when = given(agent.scrape_after(time.time() + SETTLED)), ", with delayed records"
        # What the kernel did not tell comes with the audit. So would what was told already: the long run waits for it.
        told = abs(part - 1) <= tolerance
        if not told or count >= WAITS_FOR_THE_AUDIT:
            look = audited(agent)
            kept = without_record(look, UNREPORTED_OR_DROPPED) - without_record(before, UNREPORTED_OR_DROPPED)
            when += f", audited ({100 * part:.3f} % before, {kept:.0f} ends without a record)"
            told, part = told or explains(kept, abs(part - 1) * count), given(look)
    line = (f"{count} × /bin/true in podman: {100 * part:.3f} % of their {used / 1e9:.3f} s of CPU are on the "
            f"container{when}")
    return Outcome(line, [] if told and abs(part - 1) <= tolerance else [line])


def terminated(scrape):
    """The pids and containers that it shows as such."""
    return {labels[label] for level, label in (("process", "pid"), ("container", "container_id"))
            for labels, _ in scrape.series(f"kepler_{level}_cpu_joules_total", state="terminated")}


class Reader(threading.Thread):
    """Scrapes at a fixed period and notes which pids and containers it has seen as terminated."""

    def __init__(self, agent, period, stop):
        super().__init__(daemon=True)
        self.agent, self.period, self.stopping = agent, period, stop
        self.seen, self.scrapes, self.error = set(), 0, None

    def run(self):
        try:
            while True:
                self.note(self.agent.scrape())
                if self.stopping.wait(self.period):
                    return
        except Exception as error:  # a thread's error belongs to whoever joins it
            self.error = error

    def note(self, exposition):
        self.scrapes += 1
        self.seen |= terminated(exposition)


def exited_in_every_stream(workloads, fast, slow, source=None, with_containers=True):
    """Two scrapers, a liveness probe and the stdout exporter: no reader takes an exited workload away from another."""
    retention = int(3 * slow + 10)
    config = f"monitor:\n  minTerminatedEnergyThreshold: 5\n  terminatedRetention: {retention}s\n"
    stop, wanted, live = threading.Event(), set(), []
    watts = 25 * os.cpu_count()  # two seconds of one CPU are 50 J
    with contextlib.ExitStack() as stack:
        tree = stack.enter_context(PowercapTree({"intel-rapl:0": ("package-0", watts)}))
        podman = stack.enter_context(Podman()) if with_containers else None
        agent = stack.enter_context(metered_agent(tree, "--exporter.stdout", source=source, config=config))
        tree.start()
        stack.callback(stop.set)
        readers = [Reader(agent, period, stop) for period in (fast, slow)]
        probe = threading.Thread(target=lambda: [live.append(agent.get("/-/healthy")[0]) for _ in iter(
            lambda: stop.wait(fast), True)], daemon=True)
        for thread in (*readers, probe):
            thread.start()
        # So much CPU time that most of it lies between two scans: far above the threshold whatever else runs.
        container = podman.start(f"sh -c 'ulimit -t 1; {BURN}' & wait") if podman else None
        code = "import time\nwhile time.process_time() < 2: pass"
        processes = [subprocess.Popen(["/usr/bin/python3", "-c", code]) for _ in range(workloads)]
        for burner in processes:
            wanted.add(str(burner.pid))
            burner.wait()
        if podman:
            wanted.add(container)
            podman.run("wait", container)
            podman.remove(container)
        ended = agent.scrape_after().value("kepler_snapshot_timestamp_seconds")
        # An end that the kernel tells nobody of (see unreported.py) is detected after some seconds.
        wait_until(lambda: readers[0].error or wanted <= readers[0].seen, "the ends of all workloads")
        # Each reader comes by once more: the last workload ended before that snapshot.
        goals = [reader.scrapes + 2 for reader in readers]
        wait_until(lambda: all(r.error or r.scrapes >= goal for r, goal in zip(readers, goals)), "the readers",
                   4 * slow + 60, period=0.1)
        stop.set()
        for thread in (*readers, probe):
            thread.join()
        with open(agent.path("stdout"), encoding="utf-8") as file:
            tables = file.read().count("package")
    problems = [f"scraper of {r.period} s: {r.error!r}" for r in readers if r.error]
    problems += [f"scraper of {r.period} s missed {sorted(wanted - r.seen)}" for r in readers if wanted - r.seen]
    problems += ["the stdout exporter printed nothing"] if not tables else []
    problems += ["the liveness probe failed"] if set(live) != {200} else []
    streams = ", ".join(f"{len(wanted & r.seen)} of {len(wanted)} at {r.period} s" for r in readers)
    return Outcome(f"exited workloads seen: {streams} ({len(live)} probes, {tables} tables, last at {ended})", problems)
