"""Acceptance checks of energy against CPU time, each as one function of its length, as in scenarios.py: who used a part
of what all used has that part of the active energy."""
import contextlib
import dataclasses
import os
import shutil
import subprocess
import tempfile
import time
from decimal import Decimal

from containers import Container
from exposition import ScrapeChecker
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from sampler import Sampler
from scenarios import SETTLED, Outcome, audited
from unreported import UNEXPLAINED, charged_seconds, explains, until_told, without_record_since
from workloads import BURN, Cgroup, Gate, Podman, burners, machine_stat_ns, machine_usage_ns, process_usage_ns

# Seconds from a tick, of one a second, to a start: processes that run for whole seconds end as far from every tick. A process
# that is reaped right before a pass is in neither the pass nor a record. Up to a second of its time is then split in the next
# tick, in which nobody else may be busy.
AFTER_A_TICK = 0.2
MAX_HIDDEN_NS = 1_000_000_000  # by one end: the interval between two scans
BUILT_NS = 200_000_000  # CPU time of a build that has begun


@dataclasses.dataclass
class Share:
    """CPU time (as the kernel reports it) and active energy of one container."""
    name: str
    cpu_ns: int
    joules: Decimal

    def error(self, all_cpu_ns, all_joules):
        return float(self.joules / all_joules) / (self.cpu_ns / all_cpu_ns) - 1


class MachineTime(contextlib.ExitStack):
    """The CPU time that the active energy is split by: of all tasks, and what the kernel keeps apart from them and the
    agent calls active, which is unattributed (INVARIANTS.md). In ticks of 10 ms where it is not of tasks."""

    def __enter__(self):
        self.tasks, self.interrupts, self.stolen = (self.enter_context(Sampler(read)) for read in (
            machine_usage_ns, lambda: machine_stat_ns("irq", "softirq"), lambda: machine_stat_ns("steal")))
        return self

    def between(self, before, after):
        """(nanoseconds in all, unattributed ones) between two scrapes."""
        begin, end = (float(scrape.value("kepler_snapshot_timestamp_seconds")) for scrape in (before, after))
        (apart, _), = after.series("kepler_activity_cpu_time_info")
        (split, _), = after.series("kepler_attribution_info", zone="package")
        nobodys = [self.interrupts] if apart["interrupts"] == "apart" else []
        if apart["steal"] == "apart" and split["ratio"] == "proc-stat":
            nobodys.append(self.stolen)
        tasks, *others = (sampler.at(end) - sampler.at(begin) for sampler in (self.tasks, *nobodys))
        return tasks + sum(others), sum(others)


def compare(shares, machine_ns, active_joules, tolerance):
    """(figures, problems, missed): each share of the energy next to that of the CPU, of the node and of them together. An
    end that is not told hides at most what ran since the latest look: missed is in ends of that size."""
    together = (sum(share.cpu_ns for share in shares), sum(share.joules for share in shares))
    problems, figures, missed = [], [], 0
    for share in shares:
        of_all, of_shares = share.error(machine_ns, active_joules), share.error(*together)
        figures.append(f"{share.name} {100 * share.cpu_ns / machine_ns:.2f} % of CPU, energy {100 * of_all:+.3f} % "
                       f"(among them {100 * of_shares:+.3f} %)")
        if max(abs(of_all), abs(of_shares)) > tolerance:
            problems.append(f"{share.name}: its share of energy is {100 * of_all:+.3f} % off its share of CPU, "
                            f"{100 * of_shares:+.3f} % among them")
            missed = max(missed, max(abs(of_all), abs(of_shares)) * share.cpu_ns / MAX_HIDDEN_NS)
    return figures, problems, missed


def ends_that_explain(agent, before, missed):
    """How many ends without a report the agent has counted since the scrape `before`. While other tasks end all the time it
    counts none: its audit still finds their time, and charges it too late for the comparison."""
    kept = without_record_since(agent, before, missed)
    if missed is UNEXPLAINED or explains(kept, missed):
        return kept
    found = charged_seconds(audited(agent)) - charged_seconds(before)
    print(f"the audit charged {found:.3f} s afterwards; {missed * MAX_HIDDEN_NS / 1e9:.3f} s are missed", flush=True)
    return max(kept, 1) if found >= missed * MAX_HIDDEN_NS / 1e9 else kept


def ground_truth(seconds, source=None, tolerance=0.005):
    """Eight burners of known CPU shares: each container gets the share of the active energy that it had of the CPU: of
    all that the node used, and of what the containers used together (which has no error of the two moments)."""
    return until_told(lambda: _ground_truth(seconds, source, tolerance))


def _ground_truth(seconds, source, tolerance):
    plan = {"a": (1, 1024), "b": (2, 2048), "c": (1, 512)}  # burners, cpu shares
    plain = {"d": (1, 1024), "e": (3, 512)}
    with contextlib.ExitStack() as stack:
        tree = stack.enter_context(PowercapTree(ONE_PACKAGE))
        podman = stack.enter_context(Podman())
        gate = stack.enter_context(Gate())
        cgroups = {name: stack.enter_context(Cgroup(f"/kepler-e2e-{os.getpid()}-{name}")) for name in plain}
        agent = stack.enter_context(metered_agent(tree, interval="1s", source=source))
        machine = stack.enter_context(MachineTime())
        tree.start()
        ids = {name: podman.start(gate.script(name, burners(count, seconds), "/go"), "-v", f"{gate.directory}:/go",
                                  "--cpu-shares", str(shares)) for name, (count, shares) in plan.items()}
        for name, (count, shares) in plain.items():
            cgroups[name].set_shares(shares)
            script = cgroups[name].enter_script() + gate.script(name, burners(count, seconds))
            shell = stack.enter_context(subprocess.Popen(["/bin/sh", "-c", script]))
            stack.callback(shell.kill)
        pids = {name: podman.pid(container) for name, container in ids.items()}
        before = agent.scrape_after()
        used_before = {name: process_usage_ns(pid) for name, pid in pids.items()}
        begin = float(before.value("kepler_snapshot_timestamp_seconds"))
        time.sleep(max(0, begin + AFTER_A_TICK - time.time()))
        gate.open()
        gate.wait_ended(10 * seconds + 60)
        after = agent.scrape_after(time.time() + SETTLED)
        machine_ns, nobodys_ns = machine.between(before, after)

        def grown(family, **labels):
            return after.sum(family, **labels) - before.sum(family, **labels)
        joules = {name: grown("kepler_container_cpu_joules_total", container_id=ids[name]) for name in ids}
        shares = [Share(name, process_usage_ns(pid) - used_before[name], joules[name]) for name, pid in pids.items()]
        plain_ns = sum(cgroup.usage_ns() for cgroup in cgroups.values())
        figures, problems, missed = compare(shares, machine_ns, grown("kepler_node_cpu_active_joules_total"), tolerance)
        kept = ends_that_explain(agent, before, missed) if problems else 0
    figures.append(f"plain cgroups {100 * plain_ns / machine_ns:.2f} % of CPU")
    figures.append(f"stolen or interrupts {100 * nobodys_ns / machine_ns:.2f} %")
    return Outcome(f"ground truth, {seconds} s: {'; '.join(figures)}", problems), kept, missed


def build_beside_burner(seconds, ratio, source=None, tolerance=0.005):
    """This project's build with -j2 in one container, a steady burner in another: each gets the share of the active
    energy that it had of the CPU, of all that the machine used and of what the two used."""
    return until_told(lambda: _build_beside_burner(seconds, ratio, source, tolerance))


def _build_beside_burner(seconds, ratio, source, tolerance):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    # Another test makes processes with the pids of ended ones; of the two containers, none does.
    checker = ScrapeChecker(pids_return=lambda labels: not labels["container_id"])
    with contextlib.ExitStack() as stack:
        tree = stack.enter_context(PowercapTree(ONE_PACKAGE))
        gate = stack.enter_context(Gate())
        containers = {name: stack.enter_context(Container()) for name in ("build", "burner")}
        directory = tempfile.mkdtemp(prefix="kepler-build-", dir="/var/tmp")
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        build = (f"cmake -S {root} -B {directory} -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER_LAUNCHER="
                 f" -DCMAKE_C_COMPILER_LAUNCHER= && ninja -C {directory} -j2")
        bodies = {"build": f"timeout {seconds} sh -c '{build}' > {directory}/log 2>&1",
                  "burner": f"timeout {seconds} sh -c '{BURN}'"}
        machine = stack.enter_context(MachineTime())
        agent = stack.enter_context(metered_agent(tree, interval="1s", source=source,
                                                  config=f"attribution:\n  ratio: {ratio}\n"))
        tree.start()
        for name, container in containers.items():
            shell = stack.enter_context(container.run_script(gate.script(name, bodies[name])))
            stack.callback(shell.kill)
        before = checker.check(agent.scrape_after(time.time() + SETTLED))
        used_before = {name: container.usage_ns() for name, container in containers.items()}
        gate.open()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            checker.check(agent.scrape_after())
        gate.wait_ended(60)
        after = checker.check(agent.scrape_after(time.time() + SETTLED))
        machine_ns, nobodys_ns = machine.between(before, after)
        with open(f"{directory}/log", encoding="utf-8") as file:
            objects = len([line for line in file if line.startswith("[")])

        def grown(family, **labels):
            return after.sum(family, **labels) - before.sum(family, **labels)
        shares = [Share(name, container.usage_ns() - used_before[name],
                        grown("kepler_container_cpu_joules_total", container_id=container.id))
                  for name, container in containers.items()]
        figures, wrong, missed = compare(shares, machine_ns, grown("kepler_node_cpu_active_joules_total"), tolerance)
        missed = UNEXPLAINED if checker.problems else missed
        kept = ends_that_explain(agent, before, missed) if wrong else 0
    # On a busy machine the time is over before the first step of ninja, and the burner has not got more either.
    build, burner = (share.cpu_ns for share in shares)
    problems = [*checker.problems, *wrong, *(["nothing was built"] if build < min(BUILT_NS, burner / 4) else [])]
    figures.append(f"stolen or interrupts {100 * nobodys_ns / machine_ns:.2f} %")
    return Outcome(f"build next to a burner, {seconds} s, ratio {ratio}: {'; '.join(figures)}; {objects} steps of "
                   f"ninja; {checker.scrapes} scrapes, worst sum {checker.worst_microjoules} µJ off",
                   problems), kept, missed
