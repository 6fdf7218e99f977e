"""A storm of processes and threads that end at once: what they use and how many they are, and that the agent does not
grow."""
import contextlib
import dataclasses
import os
import shutil
import statistics
import time

from activity_scenarios import Look
from containers import Container, tasks_program
from exposition import ScrapeChecker, microjoules
from harness import end, scratch_directory, wait_until
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from sampler import Sampler, tasks_ended
from scenarios import MAX_DELAY, SETTLED, Outcome

MAX_THREADS = 20_000  # a second, of all CPUs
MAX_GROWTH = 0.05
UNCOUNTED = 0.005  # maximum share of the ended tasks: they are reported while others end
DOUBLE = 0.0002  # maximum share of the CPU time that is charged twice
DROPPED_NS = 10_000  # maximum CPU time of a task that is not in its lost record


class Storm(contextlib.AbstractContextManager):
    """In a container: processes, threads, both, in turns, on the first `cpus` CPUs."""

    TURNS = ("forks", "threads", "forks threads")

    def __init__(self, container, cpus, turn_seconds):
        """All is made by one shell that is in the container already: what a process uses before it enters would be
        the container's in the agent's books and another's in the kernel's."""
        self.directory = scratch_directory()
        self.made = {"forks": 0, "threads": 0}
        self.stop = f"{self.directory}/stop"
        turn = f"""for cpu in $(seq {cpus}); do for kind in $kinds; do
            taskset --cpu-list 0-{cpus - 1} {tasks_program()} $kind {turn_seconds} {MAX_THREADS // cpus} \\
            >> {self.directory}/$kind & done; done; wait"""
        turns = "\n".join(f"kinds='{kinds}'; {turn}; [ -e {self.stop} ] && break" for kinds in self.TURNS)
        os.mkfifo(f"{self.directory}/start")
        for kind in self.made:
            with open(f"{self.directory}/{kind}", "w", encoding="ascii"):
                pass
        self.shell = container.run_script(f"read x < {self.directory}/start\nwhile :; do\n{turns}\ndone\n"
                                          f": > {self.directory}/end; exec sleep 100000")

    def start(self):
        with open(f"{self.directory}/start", "w", encoding="ascii") as fifo:
            fifo.write("go\n")

    def finish(self):
        """Afterwards `made` says how many there were."""
        with open(self.stop, "w", encoding="ascii"):
            pass
        wait_until(lambda: os.path.exists(f"{self.directory}/end"), "the end of the storm", 60)
        for kind in self.made:
            with open(f"{self.directory}/{kind}", encoding="ascii") as file:
                self.made[kind] = sum(map(int, file))

    def __exit__(self, *_):
        end(self.shell)  # the tasks of its turn end by themselves
        shutil.rmtree(self.directory, ignore_errors=True)


@dataclasses.dataclass
class Row:
    """The same length of time each: what the agent's memory was and what the kernel side told meanwhile."""
    rss: list = dataclasses.field(default_factory=list)  # bytes
    records: float = 0
    dropped: float = 0

    def line(self, number, length, before, scrape):
        lost = float(scrape.value("kepler_activity_lost_seconds_total"))
        return (f"   {number * length:5.0f} s: RSS {statistics.median(self.rss) / 2**20:7.2f} MiB, "
                f"{(self.records - before.records) / length:7.0f} records/s, {self.dropped - before.dropped:5.0f} "
                f"dropped, {lost:.3f} s lost so far")


def uncounted(before, after, made):
    """(figures, problems): whether what ended is recorded or known to be lost, and its CPU time too."""
    part, gone, records, dropped = after.since(before)
    unreported = after.unreported - before.unreported
    lost = float(after.scrape.value("kepler_activity_lost_seconds_total")) * 1e9
    used, missing, problems = after.used - before.used, after.uncounted(before), []
    if abs(missing) > UNCOUNTED * gone:
        problems.append(f"{missing:.0f} of {gone:.0f} tasks that ended were neither recorded nor dropped nor unreported")
    if records + dropped + unreported < (1 - UNCOUNTED) * sum(made.values()):
        problems.append(f"{records + dropped + unreported:.0f} ends known of {sum(made.values())} tasks made")
    # What is lost may be others' too: then the container is not short of it.
    short = 1 - part - (lost + DROPPED_NS * dropped) / used
    if part > 1 + DOUBLE or short > 0.001:
        problems.append(f"{100 * part:.3f} % of the CPU time is on the container, {lost / 1e9:.3f} s are lost")
    return (f"{made['forks']} processes and {made['threads']} threads; {records:.0f} records + {dropped:.0f} dropped + "
            f"{unreported:.0f} unreported of {gone:.0f} tasks that ended ({missing:+.0f}); {100 * part:.4f} % of "
            f"{used / 1e9:.1f} s of CPU on the container, {lost / 1e9:.3f} s lost"), problems


def storm(rows, row_seconds, cpus=None, growth=MAX_GROWTH, show=print):
    """As many as the machine gives: none uncounted, and after its first third the agent takes no more memory."""
    cpus = cpus or os.cpu_count()
    checker = ScrapeChecker(pids_return=lambda labels: True)
    curve = [Row()]
    with contextlib.ExitStack() as stack:
        tree = stack.enter_context(PowercapTree(ONE_PACKAGE))
        container = stack.enter_context(Container())
        ended = stack.enter_context(Sampler(tasks_ended))
        agent = stack.enter_context(metered_agent(tree, interval="1s"))
        tree.start()
        running = stack.enter_context(Storm(container, cpus, min(row_seconds / 12, 5)))
        before = Look(agent, container, ended)
        curve[0].records, curve[0].dropped = before.records, before.dropped
        begin = time.monotonic()
        running.start()
        for number in range(1, rows + 1):
            row = Row()
            while not row.rss or time.monotonic() < begin + number * row_seconds:
                scrape = checker.check(agent.scrape_after())
                row.rss.append(agent.rss_bytes())
                time.sleep(min(row_seconds / 30, 2))
            row.records = float(scrape.sum("kepler_activity_records_total", kind="task"))
            row.dropped = float(scrape.sum("kepler_activity_dropped_total", kind="task"))
            show(row.line(number, row_seconds, curve[-1], scrape), flush=True)
            curve.append(row)
        running.finish()
        time.sleep(MAX_DELAY)
        after = Look(agent, container, ended, complete=True)
        checker.check(after.scrape)
        tree.stop()
        last = checker.check(agent.scrape_after(time.time() + SETTLED))
        node_error = (microjoules(last.value("kepler_node_cpu_joules_total", zone="package"))
                      - tree.zone_microjoules()["package"])
        figures, problems = uncounted(before, after, running.made)
    medians = [statistics.median(row.rss) for row in curve[2:]]
    # The largest burst so far decides how much memory the books of the dead take, and they keep it.
    early = max(medians[:max(len(medians) // 3, 1)])
    grown = max(medians) / early - 1
    problems += checker.problems
    problems += [f"node − tree = {node_error} µJ"] if node_error else []
    problems += [f"RSS {[round(rss / 2**20, 2) for rss in medians]} MiB"] if grown > growth else []
    return Outcome(
        f"storm, {rows * row_seconds:.0f} s on {cpus} CPUs: {figures}; RSS at most {100 * grown:.2f} % above "
        f"the {early / 2**20:.2f} MiB of its first third; {checker.scrapes} scrapes, worst sum {checker.worst_microjoules} µJ off",
        problems)
