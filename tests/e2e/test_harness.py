"""The checks themselves: each must be able to fail."""
import os
import subprocess
import sys
import threading
import time
import unittest
from unittest import mock

from exposition import Exposition, ScrapeChecker, conservation_errors
from harness import SKIPPED, Repeater, ShardLoader, free_port, output_of, run_tests, wait_until
from powercap import PowercapTree
from scenarios import Outcome
from unreported import ATTEMPTS, LOOKS, UNEXPLAINED, charged_seconds, until_told, without_record_since

SCRAPE = """\
# TYPE kepler_node_cpu_joules_total counter
kepler_node_cpu_joules_total{zone="package"} 10.5
# TYPE kepler_node_cpu_active_joules_total counter
kepler_node_cpu_active_joules_total{zone="package"} 6.000001
# TYPE kepler_node_cpu_idle_joules_total counter
kepler_node_cpu_idle_joules_total{zone="package"} 4.499999
# TYPE kepler_node_cpu_unattributed_joules_total counter
kepler_node_cpu_unattributed_joules_total{zone="package"} 1
# TYPE kepler_node_cpu_unlisted_joules_total counter
kepler_node_cpu_unlisted_joules_total{level="process",reason="unseen",zone="package"} 2
kepler_node_cpu_unlisted_joules_total{level="container",reason="outside",zone="package"} 5.000001
kepler_node_cpu_unlisted_joules_total{level="vm",reason="outside",zone="package"} 5.000001
kepler_node_cpu_unlisted_joules_total{level="pod",reason="outside",zone="package"} 5.000001
# TYPE kepler_process_cpu_joules_total counter
kepler_process_cpu_joules_total{comm="a\\"\\\\\\n}",zone="package"} 3.000001
"""
UNSEEN = 'reason="unseen",zone="package"} '


class Checks(unittest.TestCase):
    def problems(self, *texts):
        checker = ScrapeChecker()
        for text in texts:
            checker.check(Exposition(text))
        return checker.problems

    def test_sound_scrape_has_no_problem(self):
        self.assertEqual(self.problems(SCRAPE, SCRAPE), [])
        self.assertEqual(set(conservation_errors(Exposition(SCRAPE)).values()), {0})

    def test_escaped_label_is_read_back(self):
        labels, _ = Exposition(SCRAPE).series("kepler_process_cpu_joules_total")[0]
        self.assertEqual(labels["comm"], 'a"\\\n}')

    def test_one_microjoule_too_few_is_found(self):
        self.assertEqual(len(self.problems(SCRAPE.replace("3.000001", "3"))), 1)
        self.assertEqual(len(self.problems(SCRAPE.replace("10.5", "10.500001"))), 1)

    def test_fallen_counter_is_found(self):
        later = SCRAPE.replace("3.000001", "2.000001").replace(UNSEEN + "2", UNSEEN + "3")
        self.assertEqual(len(self.problems(SCRAPE, later)), 1)

    def test_fallen_process_is_excused_only_where_pids_return(self):
        later = SCRAPE.replace("3.000001", "2.000001").replace(UNSEEN + "2", UNSEEN + "3")
        for label, problems in (("comm", 0), ("pid", 1)):
            checker = ScrapeChecker(pids_return=lambda labels, name=label: name in labels)
            for text in (SCRAPE, later):
                checker.check(Exposition(text))
            self.assertEqual(len(checker.problems), problems)

    def test_negative_series_is_found(self):
        later = SCRAPE.replace("3.000001", "-1").replace(UNSEEN + "2", UNSEEN + "6.000001")
        self.assertEqual(len(self.problems(later)), 1)

    def test_duplicate_series_and_malformed_lines_are_refused(self):
        last = SCRAPE.splitlines()[-1] + "\n"
        for bad in (SCRAPE + last, SCRAPE + "x{\n", SCRAPE + 'x{a="b" 1\n', SCRAPE[:-1], SCRAPE + "x 1,5\n"):
            with self.assertRaises(Exception):
                Exposition(bad)


class Tree(unittest.TestCase):
    def test_tree_wraps_like_the_kernel_and_counts_twins_once(self):
        names = ("intel-rapl:0", "intel-rapl:1", "intel-rapl-mmio:0")
        entries = {name: (f"package-{name[-1]}", 1) for name in names}
        with PowercapTree(entries, ranges=dict.fromkeys(entries, 999), start_at=990) as tree:
            tree.advance(15)
            with open(tree.path("intel-rapl:0", "energy_uj"), encoding="ascii") as file:
                self.assertEqual(file.read(), "5\n")
            self.assertEqual(tree.zone_microjoules(), {"package": 30})
            self.assertEqual(tree.wraps(), 2)


class Ports(unittest.TestCase):
    def test_a_port_without_a_listener_is_not_given_to_another_test(self):
        other = """import harness, sys; harness.random.sample = lambda *_: [int(sys.argv[1])]; print(harness.free_port())"""
        ended = subprocess.run([sys.executable, "-c", other, str(free_port())], capture_output=True, check=False, text=True,
                               cwd=os.path.dirname(os.path.abspath(__file__)))
        self.assertIn("AssertionError: no port is free", ended.stderr)


class Commands(unittest.TestCase):
    def test_output_without_the_children_left_behind(self):
        began = time.monotonic()
        self.assertEqual(output_of(["sh", "-c", "echo out; sleep 20 & echo err >&2"], 10), "out")
        self.assertLess(time.monotonic() - began, 10)

    def test_failure_and_lateness_say_what_the_command_said(self):
        wait = subprocess.Popen.wait

        def wait_from_its_words(process, timeout=None):
            """On a busy machine the command may need longer than its time to say anything."""
            if timeout == 0.3:
                wait_until(lambda: os.stat(f"/proc/{process.pid}/fd/2").st_size, "the words of the command")
            return wait(process, timeout)
        for script, seconds, kind in (("echo why >&2; exit 3", 10, subprocess.CalledProcessError),
                                      ("echo why >&2; sleep 20", 0.3, subprocess.TimeoutExpired)):
            with self.assertRaises(kind) as caught, mock.patch.object(subprocess.Popen, "wait", wait_from_its_words):
                output_of(["sh", "-c", script], seconds)
            self.assertRegex(caught.exception.__notes__[0], "^why")
        self.assertIn("sleep 20", caught.exception.__notes__[0])


class Repeaters(unittest.TestCase):
    class Some(Repeater):
        def __init__(self, step):
            super().__init__()
            self.step = step

    def test_failed_step_is_the_error_of_the_body(self):
        def fail():
            raise ValueError("a step")
        with self.assertRaisesRegex(ValueError, "a step"), self.Some(fail) as some:
            some.thread.join()
        with self.assertRaisesRegex(KeyError, "body"), self.Some(fail) as some:
            some.thread.join()
            raise KeyError("body")

    def test_step_that_does_not_end_is_not_waited_for(self):
        end = threading.Event()
        self.addCleanup(end.set)
        some = self.Some(end.wait)
        some.__enter__()
        with self.assertRaisesRegex(AssertionError, "has not ended"):
            some.__exit__(None, None, None, seconds=0.1)


class Skips(unittest.TestCase):
    def run_file(self, *bodies):
        code = "import unittest\nfrom harness import require, run_tests\nclass Some(unittest.TestCase):\n"
        code += "".join(f"    def test_{i}(self): {body}\n" for i, body in enumerate(bodies)) + "run_tests()\n"
        environment = {name: value for name, value in os.environ.items() if name != "LAB_REQUIRED"}
        done = subprocess.run([sys.executable, "-c", code], cwd=os.path.dirname(os.path.abspath(__file__)), text=True,
                              env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, [line for line in done.stdout.splitlines() if line.startswith("skipped: ")]

    def test_skipped_tests_are_named(self):
        named = ["skipped: Some.test_1: no lab"]
        self.assertEqual(self.run_file("pass", "require(False, 'no lab')"), (0, named))
        self.assertEqual(self.run_file("self.fail()", "require(False, 'no lab')"), (1, named))

    def test_file_of_skipped_tests_only_is_skipped(self):
        status, named = self.run_file("require(False, 'no lab')", "require(False, 'no root')")
        self.assertEqual((status, len(named)), (SKIPPED, 2))
        self.assertEqual(self.run_file("pass"), (0, []))


class Shards(unittest.TestCase):
    def test_shards_have_each_test_once(self):
        def names(shard):
            loader = ShardLoader(shard)
            return [test.id() for case in (Checks, Skips) for test in loader.loadTestsFromTestCase(case)]
        every = names("1/1")
        found = [names(f"{index}/3") for index in (1, 2, 3)]
        self.assertEqual(sorted(sum(found, [])), sorted(every))
        self.assertLessEqual(max(map(len, found)) - min(map(len, found)), 1)


class Unreported(unittest.TestCase):
    def outcomes(self, *attempts):
        """(the outcome of these, each (sound, ends kept, ends missed), the last one again and again; how many were asked for)"""
        asked = []

        def attempt():
            sound, kept, missed = attempts[min(len(asked), len(attempts) - 1)]
            asked.append(kept)
            return Outcome(f"line {len(asked)}", [] if sound else ["wrong"]), kept, missed
        return until_told(attempt), len(asked)

    def test_wrong_without_an_excuse_is_wrong_at_once(self):
        outcome, asked = self.outcomes((False, 0, 1), (True, 0, 0))
        self.assertEqual((outcome.problems, asked), (["wrong"], 1))

    def test_wrong_while_ends_were_kept_is_measured_again(self):
        outcome, asked = self.outcomes((False, 3, 2), (True, 3, 0))
        self.assertEqual((outcome.problems, asked), ([], 2))
        self.assertEqual(outcome.line, f"line 2 (attempt 2 of at most {ATTEMPTS}; attempt 1, 3 ends unreported, which "
                                       "explain 2.0 missed: line 1)")

    def test_wrong_by_more_than_was_kept_is_wrong_at_once(self):
        for missed in (7, UNEXPLAINED):
            outcome, asked = self.outcomes((False, 3, missed), (True, 3, 0))
            self.assertEqual((outcome.problems, asked), (["wrong"], 1))

    def test_wrong_each_time_is_wrong(self):
        outcome, asked = self.outcomes((False, 3, 3))
        self.assertEqual((outcome.problems, asked), (["wrong"], ATTEMPTS))

    def test_ends_kept_show_some_looks_late(self):
        def scrape(unreported):
            return Exposition(f'kepler_activity_dropped_total{{kind="unreported"}} {unreported}\n')

        class Agent:
            figures = [2] * (LOOKS - 2) + [3, 5, 6]

            def scrape_after(self):
                return scrape(self.figures.pop(0))
        agent = Agent()
        self.assertEqual(without_record_since(agent, scrape(2), missed=5), 3)
        self.assertEqual(without_record_since(agent, scrape(4), missed=1), 2)
        agent.figures = [2] * LOOKS
        self.assertEqual(without_record_since(agent, scrape(2), missed=1), 0)

    def test_only_where_records_exist_the_audit_finds_missing_ones(self):
        charged = "kepler_activity_audit_charged_seconds_total 1.5\n"
        self.assertEqual(charged_seconds(Exposition(charged)), 0)
        self.assertEqual(charged_seconds(Exposition('kepler_activity_dropped_total{kind="task"} 0\n' + charged)), 1.5)


if __name__ == "__main__":
    run_tests()
