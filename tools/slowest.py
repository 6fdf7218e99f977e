#!/usr/bin/env python3
"""Prints the slowest steps of a build and of its tests.

    tools/slowest.py [--count N] [--since EPOCH_SECONDS] BUILD_FOLDER JUNIT_FILE

Build steps are those of BUILD_FOLDER/.ninja_log whose output was written since EPOCH_SECONDS (default: all of them); tests
are the entries of the file that ctest wrote with --output-junit. Times are wall-clock seconds.
"""
import argparse
import os

import test_report


def build_steps(path, since):
    """(seconds, output) of each step; the log has start and end in ms, and the time of the output in ns."""
    steps = {}
    with open(path, encoding="utf-8") as log:
        for line in log:
            fields = line.rstrip("\n").split("\t")
            if len(fields) == 5 and int(fields[2]) >= since * 1_000_000_000:
                steps[fields[3]] = (int(fields[1]) - int(fields[0])) / 1000
    return [(seconds, f"build {short(output)}") for output, seconds in steps.items()]


def short(output):
    """Without the folders that CMake makes for its own order."""
    room, _, rest = output.partition("/CMakeFiles/")
    return f"{room} {os.path.basename(rest)}" if rest else output


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--since", type=int, default=0)
    parser.add_argument("build")
    parser.add_argument("junit")
    arguments = parser.parse_args()
    steps = build_steps(f"{arguments.build}/.ninja_log", arguments.since)
    steps += [(entry.seconds, f"test {entry.name}") for entry in test_report.read(arguments.junit)]
    for seconds, name in sorted(steps, reverse=True)[:arguments.count]:
        print(f"{seconds:7.1f} s  {name}")


if __name__ == "__main__":
    main()
