"""Who was busy: acceptance checks of the activity source, each as one function of its length, as in scenarios.py."""
import contextlib
import os
import shutil
import subprocess
import tempfile
import time

from containers import Container, tasks_program
from exposition import ScrapeChecker
from harness import free_port
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from sampler import Sampler, tasks_ended
from scenarios import SETTLED, Outcome, Share
from workloads import BURN, Gate, machine_usage_ns

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
NO_CAPABILITIES = [*NOBODY, "--inh-caps=-all", "--bounding-set=-all"]
ONLY_BPF = [*NOBODY, *(f"--{kind}=-all,+bpf,+perfmon" for kind in ("inh-caps", "ambient-caps", "bounding-set"))]
LEAST = {"bpf": 0.999, "procfs": 0.99}
# Kernels of some virtual machines run no tracing program while their process 1 runs, and dead tasks are cleaned up in
# whose context it happens to be: nobody is told of them. Such a measurement says nothing about the agent.
ATTEMPTS = 3
OTHERS_DELAY = 0.1  # seconds: what else ends on the machine shortly before a look is recorded shortly after it


class Look:
    """The books of the agent and of the kernel, while the container stands still."""

    def __init__(self, agent, container, ended):
        self.scrape = agent.scrape_after(time.time() + SETTLED)
        self.used = container.usage_ns()
        self.seen = container.seconds(self.scrape) * 1e9
        self.time = float(self.scrape.value("kepler_snapshot_timestamp_seconds"))
        self.ended = ended.at(self.time)
        self.records = float(self.scrape.sum("kepler_activity_records_total", kind="task"))
        self.dropped = float(self.scrape.sum("kepler_activity_dropped_total", kind="task"))

    def since(self, before):
        """(part of the CPU time, tasks that ended, records of them, records dropped)"""
        return ((self.seen - before.seen) / (self.used - before.used), self.ended - before.ended,
                self.records - before.records, self.dropped - before.dropped)

    def untold(self, before):
        """Tasks that ended and that the kernel did not tell of."""
        _, gone, records, dropped = self.since(before)
        return gone - records - dropped


def source_of(scrape):
    return {labels["source"] for labels, _ in scrape.series("kepler_activity_source_info")}


def measured(body, *args, prefix=()):
    """The looks before and after a script in a container."""
    with contextlib.ExitStack() as stack:
        tree = stack.enter_context(PowercapTree(ONE_PACKAGE))
        container = stack.enter_context(Container())
        gate = stack.enter_context(Gate())
        ended = stack.enter_context(Sampler(tasks_ended))
        agent = stack.enter_context(metered_agent(tree, *args, interval="1s", command_prefix=prefix))
        tree.start()
        shell = stack.enter_context(container.run_script(gate.script("work", body)))
        stack.callback(shell.kill)
        before = Look(agent, container, ended)
        gate.open()
        gate.wait_ended(600)
        return before, Look(agent, container, ended)


def container_time(name, body, *args, source="bpf", prefix=(), own=0):
    """What a script in a container uses is that container's, and every process of it is recorded."""
    again = ""
    for attempt in range(ATTEMPTS):
        before, after = measured(body, *args, prefix=prefix)
        part, gone, records, dropped = after.since(before)
        sound = abs(part - 1) <= 1 - LEAST[source]
        untold = after.untold(before)
        if sound or source != "bpf" or untold < 0.5 or attempt + 1 == ATTEMPTS:
            break
        again += f"; before that {100 * part:.3f} %, the kernel had not told of {untold:.0f} tasks"
    line = f"{name}, {source}: {100 * part:.4f} % of {(after.used - before.used) / 1e9:.3f} s of CPU on the container"
    if source == "bpf":
        line += f"; {records:.0f} records of {gone:.0f} tasks that ended, {dropped:.0f} dropped{again}"
    sources = source_of(after.scrape)
    problems = [] if sources == {source} else [f"the source is {sources}, not {source}"]
    problems += [] if sound else [line]
    if source == "bpf":
        others = (gone - own) / (after.time - before.time)
        enough = records >= 0.999 * own and abs(untold) <= 2 + 0.001 * own + OTHERS_DELAY * max(others, 0)
        problems += [] if enough and dropped == 0 else [line]
    return Outcome(line, problems)


def exact(count, *args, **options):
    """Thousands of processes of less than a millisecond."""
    loop = f"i=0; while [ $i -lt {count} ]; do /bin/true; i=$((i+1)); done"
    return container_time(f"{count} × /bin/true", loop, *args, own=count, **options)


def mixed(scale, *args, **options):
    """Burners of 5 ms to 3 s, one of them with 8 threads; scale 1 is 9.5 s of CPU."""
    burn = tasks_program() + " burn"
    body = f"""{burn} {3000 * scale} & {burn} {300 * scale} 8 &
        i=0; while [ $i -lt {int(400 * scale)} ]; do {burn} 5; i=$((i+1)); done &
        i=0; while [ $i -lt {int(40 * scale)} ]; do {burn} 50; i=$((i+1)); done; wait"""
    own = 2 + int(400 * scale) + int(40 * scale)
    return container_time("burners of 5 ms to 3 s", body, *args, own=own, **options)


def bpf_is_refused_without_capabilities():
    """Where it must be BPF and cannot, the start fails and says what is missing."""
    command = [*NO_CAPABILITIES, os.environ["KEPLER_BIN"], "--activity.source=bpf",
               f"--web.listen-address=127.0.0.1:{free_port()}"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=30, check=False, text=True)
    errors = [line for line in done.stdout.splitlines() if "level=ERROR" in line]
    sound = done.returncode == 1 and len(errors) == 1 and "CAP_BPF" in errors[0] and "CAP_PERFMON" in errors[0]
    return Outcome(f"--activity.source=bpf without capabilities: exit {done.returncode}, {'; '.join(errors)}",
                   [] if sound else [done.stdout[-2000:]])


def build_beside_burner(seconds, ratio, tolerance=0.005):
    """This project's build with -j2 in one container, a steady burner in another: each gets the share of the active
    energy that it had of the CPU, of all that the machine used and of what the two used."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    checker = ScrapeChecker()
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
        machine = stack.enter_context(Sampler(machine_usage_ns))
        agent = stack.enter_context(metered_agent(tree, interval="1s", config=f"attribution:\n  ratio: {ratio}\n"))
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
        taken = [float(scrape.value("kepler_snapshot_timestamp_seconds")) for scrape in (before, after)]
        machine_ns = machine.at(taken[1]) - machine.at(taken[0])
        with open(f"{directory}/log", encoding="utf-8") as file:
            objects = len([line for line in file if line.startswith("[")])

        def grown(family, **labels):
            return after.sum(family, **labels) - before.sum(family, **labels)
        shares = [Share(name, container.usage_ns() - used_before[name],
                        grown("kepler_container_cpu_joules_total", container_id=container.id))
                  for name, container in containers.items()]
        active = grown("kepler_node_cpu_active_joules_total")
    together = (sum(share.cpu_ns for share in shares), sum(share.joules for share in shares))
    problems, figures = list(checker.problems), []
    for share in shares:
        of_all, of_both = share.error(machine_ns, active), share.error(*together)
        figures.append(f"{share.name} {100 * share.cpu_ns / machine_ns:.2f} % of CPU, energy {100 * of_all:+.3f} % "
                       f"(of the two {100 * of_both:+.3f} %)")
        if max(abs(of_all), abs(of_both)) > tolerance:
            problems.append(f"{share.name}: energy {100 * of_all:+.3f} % off its share of CPU, {100 * of_both:+.3f} % "
                            f"of what the two used")
    problems += ["nothing was built"] if not objects else []
    return Outcome(f"build beside a burner, {seconds} s, ratio {ratio}: {'; '.join(figures)}; {objects} steps of "
                   f"ninja; {checker.scrapes} scrapes, worst sum {checker.worst_microjoules} µJ off", problems)
