"""That either source of activity is right about who was busy. The acceptance checks in short (tools/acceptance.sh runs them
in full length)."""
import pathlib
import signal
import subprocess
import unittest

import activity_scenarios
import energy_shares
import scenarios
import storm
from activity_scenarios import NO_CAPABILITIES, ONLY_BPF, Look
from containers import Container, tasks_program
from exposition import ScrapeChecker
from harness import end, run_tests
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from sampler import Sampler, tasks_ended
from workloads import Gate, machine_usage_ns


class Acceptance(scenarios.OutcomeTest):
    def test_processes_of_less_than_a_millisecond_bpf(self):
        self.check(activity_scenarios.exact(500))

    def test_processes_of_less_than_a_millisecond_procfs(self):
        self.check(activity_scenarios.exact(500, "--activity.source=procfs", source="procfs"))

    def test_processes_of_less_than_a_millisecond_in_podman(self):
        self.check(scenarios.short_lived(300, tolerance=0.001))

    def test_burners_of_5_ms_to_3_s_bpf(self):
        self.check(activity_scenarios.mixed(0.2))

    def test_burners_of_5_ms_to_3_s_procfs(self):
        self.check(activity_scenarios.mixed(0.2, "--activity.source=procfs", source="procfs"))

    def test_build_beside_a_burner(self):
        # The two containers are paused at the looks, the rest of the machine does not: seconds average less of it out.
        self.check(energy_shares.build_beside_burner(8, "exact", tolerance=0.02))

    def test_nobody_with_two_capabilities_has_bpf(self):
        self.check(activity_scenarios.exact(200, prefix=ONLY_BPF))

    def test_nobody_without_capabilities_has_procfs(self):
        self.check(activity_scenarios.exact(500, prefix=NO_CAPABILITIES, source="procfs"))

    def test_bpf_that_must_be_and_cannot_ends_the_start(self):
        self.check(activity_scenarios.bpf_is_refused_without_capabilities())

    def test_storm_leaves_nothing_uncounted(self):
        # Memory is flat after minutes; here it must only not run away.
        self.check(storm.storm(rows=3, row_seconds=1.5, growth=0.5))


class Crowd(unittest.TestCase):
    def setUp(self):
        self.tree = self.enterContext(PowercapTree(ONE_PACKAGE))
        self.checker = ScrapeChecker()

    def tearDown(self):
        self.assertEqual(self.checker.problems, [])

    def test_records_that_found_no_room_are_counted_and_their_time_is_unattributed(self):
        container = self.enterContext(Container())
        ended = self.enterContext(Sampler(tasks_ended))
        agent = self.enterContext(metered_agent(self.tree, interval="300ms"))
        self.tree.start()
        gate = self.enterContext(Gate())
        storms = f"for i in 0 1; do {tasks_program()} forks 3 >{gate.directory}/$i & done; wait"
        shell = self.enterContext(container.run_script(gate.script("storms", storms)))
        self.addCleanup(shell.kill)
        before = Look(agent, container, ended)
        used = machine_usage_ns()
        agent.process.send_signal(signal.SIGSTOP)  # a machine so busy that the agent does not run
        gate.open()
        gate.wait_ended(60)
        agent.process.send_signal(signal.SIGCONT)
        made = sum(int(pathlib.Path(gate.directory, name).read_text(encoding="ascii")) for name in "01")
        after = Look(agent, container, ended, complete=True)
        for look in (before, after):
            self.checker.check(look.scrape)
        part, gone, records, dropped = after.since(before)
        self.assertGreater(dropped, 0)
        self.assertGreater(records + dropped + after.unreported - before.unreported, 0.99 * made)
        self.assertLess(abs(after.uncounted(before)), 0.01 * gone)
        lost = float(after.scrape.value("kepler_activity_lost_seconds_total"))
        unattributed = float(after.scrape.value("kepler_node_cpu_unattributed_seconds_total"))
        self.assertGreaterEqual(unattributed, lost)
        # What was lost may be others' too, but nothing is lost that nobody used.
        self.assertLessEqual(part, 1 + storm.DOUBLE)
        self.assertGreater(part + (lost * 1e9 + storm.DROPPED_NS * dropped) / (after.used - before.used), 0.98)
        self.assertLess(lost * 1e9, 1.02 * (machine_usage_ns() - used))
        self.assertRegex(agent.log(), r"level=WARN .*records of ended processes were dropped.*lost_seconds=")

    def test_scrapes_without_a_pause_add_up_while_processes_come_and_go(self):
        agent = self.enterContext(metered_agent(self.tree, interval="20ms", config="monitor:\n  staleness: 0\n"))
        self.tree.start()
        self.checker.pids_return = lambda labels: True
        for kind in ("forks", "threads"):
            self.addCleanup(end, subprocess.Popen([tasks_program(), kind, "100", "5000"], stdout=subprocess.PIPE))
        for _ in range(100):
            self.checker.check(agent.scrape())
        self.assertEqual(self.checker.worst_microjoules, 0)


if __name__ == "__main__":
    run_tests()
