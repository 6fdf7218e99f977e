"""Who was busy: acceptance checks of the activity source, each as one function of its length, as in scenarios.py."""
import contextlib
import functools
import os
import subprocess
import time

from containers import Container, tasks_program
from harness import free_port
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from sampler import Sampler, tasks_ended
from scenarios import SETTLED, Outcome, audited
from unreported import without_record
from workloads import Gate

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
NO_CAPABILITIES = [*NOBODY, "--inh-caps=-all", "--bounding-set=-all"]
ONLY_BPF = [*NOBODY, *(f"--{kind}=-all,+bpf,+perfmon" for kind in ("inh-caps", "ambient-caps", "bounding-set"))]
LEAST = {"bpf": 0.999, "procfs": 0.99}
OTHERS_DELAY = 0.1  # seconds: of records of other tasks of the machine, which may end just before a scan
INTERVAL = 1  # seconds between scans. Ends of other tasks between two scans hide unreported ones (unreported_ends.h).


class Look:
    """The books of the agent and of the kernel, while the container is paused."""

    def __init__(self, agent, container, ended, delay=OTHERS_DELAY, complete=False):
        self.scrape, self.used = container.at_rest(
            lambda: audited(agent) if complete else agent.scrape_after(time.time() + SETTLED))
        self.seen = container.seconds(self.scrape) * 1e9
        self.time = float(self.scrape.value("kepler_snapshot_timestamp_seconds"))
        self.ended = ended.at(self.time)
        self.others = ended.near(self.time, delay)  # the container is paused
        self.records = float(self.scrape.sum("kepler_activity_records_total", kind="task"))
        self.dropped = float(self.scrape.sum("kepler_activity_dropped_total", kind="task"))
        self.unreported = without_record(self.scrape)

    def since(self, before):
        """(part of the CPU time, tasks that ended, records of them, records dropped)"""
        return ((self.seen - before.seen) / (self.used - before.used), self.ended - before.ended,
                self.records - before.records, self.dropped - before.dropped)

    def uncounted(self, before):
        """Tasks that ended without a record, a drop or, by the agent's count, an end that was not reported (unreported.py)."""
        _, gone, records, dropped = self.since(before)
        return gone - records - dropped - (self.unreported - before.unreported)


def source_of(scrape):
    return {labels["source"] for labels, _ in scrape.series("kepler_activity_source_info")}


@contextlib.contextmanager
def measured(body, *args, prefix=()):
    """The look before a script in a container, and, once it has ended, what takes another one."""
    with contextlib.ExitStack() as stack:
        tree = stack.enter_context(PowercapTree(ONE_PACKAGE))
        container = stack.enter_context(Container())
        gate = stack.enter_context(Gate())
        ended = stack.enter_context(Sampler(tasks_ended))
        # Before the agent starts: the shell uses some milliseconds on its way into the container, and they count there.
        shell = stack.enter_context(container.run_script(gate.script("work", body)))
        stack.callback(shell.kill)
        agent = stack.enter_context(metered_agent(tree, *args, interval=f"{INTERVAL}s", command_prefix=prefix))
        tree.start()
        before = Look(agent, container, ended)
        gate.open()
        gate.wait_ended(600)
        yield before, functools.partial(Look, agent, container, ended, INTERVAL + OTHERS_DELAY)


def container_time(name, body, *args, source="bpf", prefix=(), own=0):
    """What a script in a container uses is that container's, and every process of it is recorded, or counted as one
    that the kernel did not tell of: at once, or else, with what the kernel did not tell, once the audit has come."""
    with measured(body, *args, prefix=prefix) as (before, look):
        outcome = judged(name, before, look(), source, own)
        if outcome.problems:
            outcome = judged(f"{name} (audited)", before, look(complete=True), source, own)
        return outcome


def judged(name, before, after, source, own):
    part, gone, records, dropped = after.since(before)
    line = f"{name}, {source}: {100 * part:.4f} % of {(after.used - before.used) / 1e9:.3f} s of CPU on the container"
    if source == "bpf":
        unreported = after.unreported - before.unreported
        line += f"; {records:.0f} records of {gone:.0f} tasks that ended, {unreported:.0f} unreported, {dropped:.0f} dropped"
    sources = source_of(after.scrape)
    problems = [] if sources == {source} else [f"the source is {sources}, not {source}"]
    problems += [line] if source == "bpf" and dropped else []
    problems += [] if abs(part - 1) <= 1 - LEAST[source] else [line]
    if source == "bpf":
        most = 2 + 0.001 * own + before.others + after.others
        enough = records + unreported >= 0.999 * own and abs(after.uncounted(before)) <= most
        problems += [] if enough else [line]
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
