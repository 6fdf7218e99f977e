"""Processes and threads with something odd about them, in a container, reported by BPF: to the nanosecond."""
import functools
import os
import re
import signal
import subprocess
import time
import unittest

from containers import Container, tasks_program
from exposition import ScrapeChecker
from harness import end, require, run_tests, wait_until
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from scenarios import SETTLED, Outcome
from unreported import EXPLAINED_BY_ONE, UNREPORTED, UNREPORTED_OR_DROPPED, until_told, without_record_since
from workloads import BURNER_AT, NAMED_BURNER, hierarchies

ONLY_WHEN_ASKED = "monitor:\n  interval: 0\n  staleness: 0\n"
KEEP_ALL = ONLY_WHEN_ASKED + "  minTerminatedEnergyThreshold: 0\n  maxTerminated: -1\n"
TRUE_200 = "read x; i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done; echo ready; read x"


def until_all_told(config=KEEP_ALL, excused=UNREPORTED):
    """A test whose assertions are tried again, in another container, while ends were kept from its agent. The ring
    buffer is not for thousands of ends at once."""
    def decorate(body):
        @functools.wraps(body)
        def test(self):
            agent = self.start_agent(config)

            def attempt():
                self.container, self.missed = self.enterContext(Container()), 1
                before = agent.scrape_after()
                try:
                    body(self, agent)
                    return Outcome("sound", []), 0, 0
                except AssertionError as error:
                    return (Outcome(str(error), [error]), without_record_since(agent, before, self.missed, excused),
                            self.missed)
            outcome = until_told(attempt)
            print(outcome.line, flush=True)
            for problem in outcome.problems:
                raise problem
        return test
    return decorate


class Tasks(unittest.TestCase):
    def setUp(self):
        self.tree = self.enterContext(PowercapTree(ONE_PACKAGE))
        self.container = None  # of the attempt
        self.missed = 1  # ends that explain it if it fails now
        # Everything is listed, other processes of the machine too.
        self.checker = ScrapeChecker(pids_return=lambda labels: labels["container_id"] != self.container.id)

    def tearDown(self):
        self.assertEqual(self.checker.problems, [])

    def start_agent(self, config):
        """All looks are those of ours: what lies between two of them is the test's choice."""
        agent = self.enterContext(metered_agent(self.tree, "--activity.source=bpf", interval="0", config=config))
        self.tree.start()
        return agent

    def start(self, *command):
        """A child that waits for a line of input, in the container; under its final name."""
        child = self.container.popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(end, child)
        name = os.path.basename(command[0])

        def is_there():
            with open(f"/proc/{child.pid}/comm", encoding="ascii") as file:
                return file.read().strip() == name and all(
                    str(child.pid) in self.container.processes_in(top + self.container.path) for top in hierarchies())
        wait_until(is_there, name)
        return child

    def go(self, child):
        """Waits until the child reports that its work is done; returns that line."""
        child.stdin.write(b"go\n")
        child.stdin.flush()
        line = child.stdout.readline()
        self.assertNotEqual(line, b"")
        return line

    def look(self, agent):
        """(scrape, ns that the agent has on the container, ns that the kernel has)"""
        scrape, used = self.container.at_rest(
            lambda: self.checker.check(agent.scrape_after(time.time() + SETTLED)))
        return scrape, self.container.seconds(scrape) * 1e9, used

    def rows(self, scrape, **labels):
        return scrape.series("kepler_process_cpu_seconds_total", container_id=self.container.id, **labels)

    def seconds(self, scrape, **labels):
        return float(scrape.sum("kepler_process_cpu_seconds_total", container_id=self.container.id, **labels))

    def audited_seconds(self, scrape):
        return float(scrape.value("kepler_activity_audit_charged_seconds_total"))

    def assert_exact(self, after, before, part=0.001, tasks=1):
        """tasks: how many ended in it, all of about the same size."""
        used = after[2] - before[2]
        self.assertGreater(used, 0)
        self.missed = max(1, (1 - (after[1] - before[1]) / used) * tasks)
        self.assertAlmostEqual((after[1] - before[1]) / used, 1, delta=part)

    def assert_is_all_of(self, pid, after, before, part=0.001):
        """One process, under one name, has what the container used. On a busy machine records of ended threads may come so late
        that the audit has given their time to the cgroup (usage_audit.h): it counts that, and it may be little."""
        self.assertEqual(len(self.rows(after[0], pid=pid)), 1)
        grown, used = self.seconds(after[0], pid=pid) - self.seconds(before[0], pid=pid), (after[2] - before[2]) / 1e9
        audited = self.audited_seconds(after[0]) - self.audited_seconds(before[0])
        self.assertLessEqual(grown / used, 1 + part)
        self.assertGreaterEqual((grown + min(audited, 0.01 * used)) / used, 1 - part, f"with {audited} s of the audit")

    def assert_audited(self, missing, after, before):
        """`missing` ends were not reported: the agent's audit has found their time."""
        self.missed = max(1, missing)
        self.assertLessEqual(missing, 5)
        mean = self.seconds(after[0], comm="true") / (200 - missing)
        charged = self.audited_seconds(after[0]) - self.audited_seconds(before[0])
        self.assertGreaterEqual(charged, missing * mean / EXPLAINED_BY_ONE)

    def run_200(self, agent):
        """The looks before and after."""
        shell = self.start("/bin/sh", "-c", TRUE_200)
        before = self.look(agent)
        self.go(shell)
        return before, self.look(agent)

    @until_all_told()
    def test_short_lived_processes_are_listed_by_comm_and_exe(self, agent):
        before, after = self.run_200(agent)
        if len(self.rows(after[0], comm="true")) < 200:
            after = self.look(agent)  # the audit needs one scan more
        self.assert_exact(after, before, tasks=200)
        short_lived = self.rows(after[0], comm="true")
        self.assert_audited(200 - len(short_lived), after, before)
        self.assertEqual({labels["exe"] for labels, _ in short_lived}, {"/bin/true"})
        self.assertEqual({labels["type"] for labels, _ in short_lived}, {"container"})
        self.assertTrue(all(value > 0 for _, value in short_lived))
        joules = after[0].series("kepler_process_cpu_joules_total", container_id=self.container.id, comm="true")
        self.assertEqual({labels["state"] for labels, _ in joules}, {"terminated"})
        # In a tick so short that /proc/stat shows nobody busy, nothing is active: those of it have time and no joules.
        self.assertTrue(all(value >= 0 for _, value in joules))
        self.assertGreater(sum(value for _, value in joules), 0)

    @until_all_told(ONLY_WHEN_ASKED)
    def test_short_lived_processes_below_the_threshold_are_summed_in_their_container(self, agent):
        before, after = self.run_200(agent)
        self.assert_exact(after, before, tasks=200)
        self.assertEqual(self.rows(after[0], comm="true"), [])
        containers, capped = (
            after[0].sum(name, **labels) - before[0].sum(name, **labels) for name, labels in (
                ("kepler_container_cpu_joules_total", {"container_id": self.container.id}),
                ("kepler_node_cpu_unlisted_joules_total", {"level": "process", "reason": "capped"})))
        self.assertGreater(capped, 0)
        self.assertGreater(containers, 0)

    @until_all_told()
    def test_pid_that_is_reused_between_two_looks_is_two_processes(self, agent):
        require(os.geteuid() == 0, "only root can choose a pid")
        first = self.start("/usr/bin/python3", "-c", "input();" + NAMED_BURNER, b"first".hex(), "0.3")
        # The pid is free some milliseconds after the first one was waited for.
        second = self.start("/bin/sh", "-c", 'read x; until "$@" 2> /dev/null; do sleep 0.02; done', "sh",
                            "/usr/bin/python3", "-c", BURNER_AT, str(first.pid), NAMED_BURNER, b"second".hex(), "0.1")
        before = self.look(agent)
        used = float(self.go(first))
        first.kill()
        first.wait()
        used_again = float(self.go(second))
        after = self.look(agent)
        self.assert_exact(after, before)
        # What the first one's interpreter used before it had its name was python3's. What they say they used is without
        # the interpreter's end.
        earlier = self.seconds(before[0], pid=first.pid, comm="python3")
        self.assertAlmostEqual(self.seconds(after[0], pid=first.pid, comm="first"), used - earlier, delta=0.03)
        self.assertAlmostEqual(self.seconds(after[0], pid=first.pid, comm="second"), used_again, delta=0.03)

    @until_all_told()
    def test_killed_process_has_what_it_used_until_then(self, agent):
        burner = self.start("/usr/bin/python3", "-c", "input(); print('ready', flush=True)\nwhile True: pass")
        before = self.look(agent)
        self.go(burner)
        time.sleep(0.5)
        burner.send_signal(signal.SIGKILL)
        burner.wait()
        after = self.look(agent)
        self.assert_exact(after, before)
        self.assert_is_all_of(burner.pid, after, before)

    @until_all_told()
    def test_zombie_has_its_time_once(self, agent):
        parent = self.start(tasks_program(), "wait", "zombie", "100")
        before = self.look(agent)
        self.go(parent)
        looks = [self.look(agent) for _ in range(3)]
        (labels, _), = self.rows(looks[0][0], comm="not-waited-for")
        used = time.clock_gettime((~int(labels["pid"]) << 3) | 2)  # its CPU clock (clock_getcpuclockid(3)), while it is a zombie
        self.assertGreater(used, 0.1)
        parent.communicate()
        looks.append(self.look(agent))
        for look in looks:
            self.assert_exact(look, before)
            self.assertAlmostEqual(self.seconds(look[0], comm="not-waited-for"), used, delta=0.001)
        self.assertEqual(len({self.seconds(scrape, comm="not-waited-for") for scrape, _, _ in looks}), 1)

    @until_all_told()
    def test_exec_from_a_thread_stays_one_process(self, agent):
        child = self.start(tasks_program(), "wait", "exec", "100")
        before = self.look(agent)
        self.go(child)
        running = self.look(agent)
        child.communicate()
        ended = self.look(agent)
        self.assertGreater(running[2] - before[2], 300_000_000)
        for look in (running, ended):
            self.assert_exact(look, before)
            # It has another name than before: a new series, of all that it used since the latest look.
            self.assertEqual([labels["comm"] for labels, _ in self.rows(look[0], pid=child.pid)], ["after-exec"])
            self.assertAlmostEqual(self.seconds(look[0], pid=child.pid) * 1e9 / (look[2] - before[2]), 1, delta=0.001)

    @until_all_told(excused=UNREPORTED_OR_DROPPED)
    def test_5000_threads_are_one_process(self, agent):
        child = self.start(tasks_program(), "wait", "crowd", "5000", "0.05")
        before = self.look(agent)
        self.go(child)
        running = self.look(agent)
        with open(f"/proc/{child.pid}/status", encoding="ascii") as file:
            self.assertEqual(re.search(r"^Threads:\s+(\d+)$", file.read(), re.MULTILINE)[1], "5001")
        child.communicate()
        ended = self.look(agent)
        for look in (running, ended):
            self.assert_exact(look, before, tasks=5000)
            self.assert_is_all_of(child.pid, look, before)


if __name__ == "__main__":
    run_tests()
