#!/usr/bin/env python3
"""Tests of tools/test_report.py and tools/slowest.py: every test is counted once, with its result."""
import os
import tempfile
import unittest
from xml.sax.saxutils import escape

import slowest
import test_report

GOOD = """[ RUN      ] A.One
[       OK ] A.One (0 ms)
[ RUN      ] A.Two/3
[       OK ] A.Two/3 (12 ms)
[==========] 2 tests from 1 test suite ran. (12 ms total)
[  PASSED  ] 2 tests.
"""
SKIPS = """[ RUN      ] Faults.NoRights
src/faults_test.cc:91: Skipped
needs root

[  SKIPPED ] Faults.NoRights (0 ms)
[ RUN      ] Faults.Fine
[       OK ] Faults.Fine (0 ms)
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] Faults.NoRights
"""
BAD = """[ RUN      ] A.One
src/a_test.cc:7: Failure
Expected: 1
[  FAILED  ] A.One (0 ms)
[ RUN      ] A.Two
[       OK ] A.Two (0 ms)
[  FAILED  ] 1 test, listed below:
[  FAILED  ] A.One
"""
CRASHED = "[ RUN      ] A.One\n[       OK ] A.One (0 ms)\n[ RUN      ] A.Two\n"
LEAKED = GOOD + "SUMMARY: AddressSanitizer: 8 byte(s) leaked\n"
TRACEBACK = """ERROR: test_one (Start)
  File "harness.py", line 1, in one
KeyError: 1

During handling of the above exception, another exception occurred:

http.client.BadStatusLine: the cause

Ran 1 test in 0.1s
"""


def entries(*cases):
    """Of (name, status, skip message, output)."""
    body = "".join(
        f'<testcase name="{name}" time="1.5" status="{status}">'
        + (f'<skipped message="{skip}"/>' if skip else "") + f"<system-out>{escape(output)}</system-out></testcase>"
        for name, status, skip, output in cases)
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(f"<testsuite>{body}</testsuite>")
        file.flush()
        return test_report.read(file.name)


class Totals(unittest.TestCase):
    def expect(self, wanted, *cases):
        self.assertEqual(test_report.totals(entries(*cases)), wanted)

    def test_nothing_ran(self):
        self.expect((0, 0, 0))

    def test_tests_inside_a_program_count_each(self):
        self.expect((2, 0, 0), ("a_test", "run", "", GOOD))

    def test_a_script_is_one(self):
        self.expect((1, 1, 0), ("e2e.start", "run", "", "Ran 9 tests"), ("e2e.http", "fail", "", TRACEBACK))

    def test_skipped_is_neither(self):
        cases = [("a_test", "run", "", SKIPS), ("e2e.start", "notrun", "SKIP_RETURN_CODE=77", "skipped: no root\n")]
        self.expect((1, 0, 2), *cases)
        self.assertEqual(test_report.totals(entries(*cases), required=True), (1, 2, 2))

    def test_failed_tests_count_once(self):
        self.expect((1, 1, 0), ("a_test", "fail", "", BAD))

    def test_a_crash_a_leak_and_a_missing_program_are_failures(self):
        self.expect((1, 1, 0), ("a_test", "fail", "", CRASHED))
        self.expect((2, 1, 0), ("a_test", "fail", "", LEAKED))
        self.expect((0, 1, 0), ("a_test", "notrun", "Unable to find executable", ""))


class Words(unittest.TestCase):
    def test_skipped_tests_have_their_reason(self):
        found = entries(("a_test", "run", "", SKIPS), ("e2e.start", "run", "", "skipped: Meters.test_one: only root can\n"))
        self.assertEqual([line for entry in found for line in entry.skipped()],
                         ["a_test: Faults.NoRights: needs root", "e2e.start: Meters.test_one: only root can"])

    def test_failures_have_the_whole_traceback(self):
        lines = test_report.failures(entries(("e2e.start", "fail", "", "noise\n" + TRACEBACK)))
        self.assertEqual(lines, TRACEBACK.rstrip("\n").split("\n") + ["e2e.start failed after 1.5 s"])

    def test_failures_of_a_program_and_the_test_that_crashed(self):
        lines = test_report.failures(entries(("a_test", "fail", "", BAD), ("b_test", "fail", "", CRASHED)))
        self.assertEqual(lines[0], "src/a_test.cc:7: Failure")
        self.assertEqual(lines[-3:], ["ended during A.Two", "a_test failed after 1.5 s", "b_test failed after 1.5 s"])

    def test_a_crowd_of_failures_is_cut(self):
        crowd = "".join(f"src/a_test.cc:{n}: Failure\n" for n in range(500))
        self.assertEqual(len(test_report.failures(entries(("a_test", "fail", "", crowd)))), test_report.MAX_LINES + 1)


class Slowest(unittest.TestCase):
    def test_build_steps_of_this_run_by_room(self):
        with tempfile.NamedTemporaryFile("w") as log:
            log.write("# ninja log v5\n"
                      "0\t2500\t2000000000\tsrc/http/CMakeFiles/http.dir/Unity/unity_0_cxx.cxx.o\tabc\n"
                      "0\t9000\t1000000000\told.o\tabc\n")
            log.flush()
            self.assertEqual(slowest.build_steps(log.name, 2), [(2.5, "build src/http unity_0_cxx.cxx.o")])
            self.assertEqual(len(slowest.build_steps(log.name, 0)), 2)


if __name__ == "__main__":
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    unittest.main()
