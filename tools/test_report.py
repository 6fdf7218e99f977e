#!/usr/bin/env python3
"""Reads what ctest wrote with --output-junit, where one entry is a whole GoogleTest program or one end-to-end script.

    tools/test_report.py totals FILE     "passed failed skipped": of the tests inside each GoogleTest program, and of scripts
    tools/test_report.py skipped FILE    a line per skipped test: "entry: test: reason"
    tools/test_report.py failures FILE   what the failed entries printed about their failures, then their names

A skipped test counts as neither passed nor failed; with LAB_REQUIRED=1 it counts as failed. A GoogleTest program that
crashes, times out or leaks counts as one failure, in addition to its failed tests.
"""
import os
import re
import sys
import xml.etree.ElementTree as xml

MAX_LINES = 100
MAX_WIDTH = 600
BEGAN = re.compile(r"^\[ RUN      \] (\S+)", re.MULTILINE)
PASSED = re.compile(r"^\[       OK \] ", re.MULTILINE)
FAILED = re.compile(r"^\[  FAILED  \] .* \(\d+ ms\)$", re.MULTILINE)
GOOGLETEST_SKIPPED = re.compile(r"^\S+:\d+: Skipped\n(.*)\n(?:.*\n)*?\[  SKIPPED \] (\S+)", re.MULTILINE)
SCRIPT_SKIPPED = re.compile(r"^skipped: (.*)$", re.MULTILINE)
UNITTEST_FAILURE = re.compile(r"^(?:FAIL|ERROR): .*?^(?:={20}|Ran \d+ tests?)[^\n]*", re.MULTILINE | re.DOTALL)
FAILURE = re.compile(r": Failure$|^(WARNING|SUMMARY): .*Sanitizer|^[A-Za-z.]*(Error|Exception|Exit|Expired): ")
LINES_AFTER_A_FAILURE = 8


class Entry:
    def __init__(self, case):
        self.name = case.get("name")
        self.seconds = float(case.get("time"))
        self.output = case.findtext("system-out") or ""
        skipped = case.find("skipped")
        self.was_skipped = skipped is not None and skipped.get("message", "").startswith("SKIP_")
        # What is not run for any other reason, such as a program that is not there, has failed.
        self.has_failed = case.get("status") != "run" and not self.was_skipped

    def totals(self):
        """(passed, failed, skipped)"""
        if not BEGAN.search(self.output):
            return (0, 0, 1) if self.was_skipped else (0, 1, 0) if self.has_failed else (1, 0, 0)
        passed, failed = len(PASSED.findall(self.output)), len(FAILED.findall(self.output))
        if self.has_failed and failed == 0:
            failed = 1
        return passed, failed, len(GOOGLETEST_SKIPPED.findall(self.output))

    def skipped(self):
        lines = [f"{self.name}: {reason}" for reason in SCRIPT_SKIPPED.findall(self.output)]
        return lines + [f"{self.name}: {test}: {reason}" for reason, test in GOOGLETEST_SKIPPED.findall(self.output)]

    def failure_lines(self):
        tracebacks = UNITTEST_FAILURE.findall(self.output)
        if tracebacks:
            return "\n".join(tracebacks).split("\n")
        lines, wanted = self.output.split("\n"), 0
        found = []
        for line in lines:
            wanted = LINES_AFTER_A_FAILURE + 1 if FAILURE.search(line) else wanted - 1
            if wanted > 0:
                found.append(line)
        if not found and BEGAN.search(self.output):
            found.append(f"ended during {BEGAN.findall(self.output)[-1]}")
        return found


def read(path):
    return [Entry(case) for case in xml.parse(path).getroot().iter("testcase")]


def totals(entries, required=False):
    passed, failed, skipped = (sum(column) for column in zip((0, 0, 0), *(entry.totals() for entry in entries)))
    return passed, failed + (skipped if required else 0), skipped


def failures(entries):
    failed = [entry for entry in entries if entry.has_failed]
    lines = [line[:MAX_WIDTH] for entry in failed for line in entry.failure_lines()]
    return lines[-MAX_LINES:] + [f"{entry.name} failed after {entry.seconds:.1f} s" for entry in failed]


def main(command, path):
    entries = read(path)
    if command == "totals":
        print(*totals(entries, required=os.environ.get("LAB_REQUIRED") == "1"))
    elif command == "skipped":
        print("".join(f"{line}\n" for entry in entries for line in entry.skipped()), end="")
    elif command == "failures":
        print("\n".join(failures(entries)))
    else:
        sys.exit(f"test_report.py: unknown command '{command}' (totals, skipped, failures)")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
