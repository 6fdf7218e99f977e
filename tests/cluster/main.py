"""Starts the cluster, runs the tests on it, and ends it.

    main.py [--openapi FILE] [--images DIRECTORY] [--cgroup-driver DRIVER] [TEST]...
        TEST as unittest names it: test_pods, test_pods.Pods.test_crash

The last line is "N passed, N failed"; exit code 1 if any failed. tools/e2e_kubernetes.sh calls this, in the namespaces.
"""
import argparse
import glob
import os
import signal
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "e2e")]
sys.path.append(os.path.join(os.path.dirname(HERE), "chart"))  # last: it has a test_chart as well

# pylint: disable=wrong-import-position
import harness
import running
from cluster import Cluster


class CountingResult(harness.NamingResult):
    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


class CountingRunner(unittest.TextTestRunner):
    resultclass = CountingResult


def failed(result):
    return len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--openapi", help="write the API server's description of its API there")
    parser.add_argument("--images", help="take the images from the archives there, instead of making them of KEPLER_BIN")
    parser.add_argument("--cgroup-driver", choices=("cgroupfs", "systemd"), default="cgroupfs")
    parser.add_argument("tests", nargs="*")
    options = parser.parse_args()
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(options.tests) if options.tests else loader.discover(HERE)
    # Whoever is asked to end ends its cluster first. unittest takes any other exception for the test's.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    archives = sorted(glob.glob(f"{options.images}/*.tar")) if options.images else ()
    program = None if archives else harness.binary()
    with Cluster(program, archives, options.cgroup_driver) as running.CLUSTER:
        if options.openapi:
            with open(options.openapi, "w", encoding="utf-8") as file:
                file.write(running.CLUSTER.kubectl("get", "--raw", "/openapi/v2"))
        result = CountingRunner(verbosity=2, stream=sys.stdout).run(suite)
    for test, reason in result.skipped:
        print(f"SKIPPED {test.id()}: {reason}")
    print(f"{result.passed} passed, {failed(result)} failed")
    return 1 if failed(result) or not result.passed else 0


if __name__ == "__main__":
    sys.exit(main())
