"""The host directories of the manifests: the agent finds there all that it reads, and nobody in the pod can write there.

No cluster: the same bind mounts, user and capabilities. Needs root.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from harness import Agent, run_tests  # noqa: E402
from manifests import PROFILES, host_mounts, manifest  # noqa: E402
from test_rights import command_line  # noqa: E402

CGROUPS = "/sys/fs/cgroup"
# Opens every file of root below each argument for writing, makes a directory in each cgroup, and prints what succeeded.
WRITE = """
import os, stat, sys
for top in sys.argv[1:]:
    for folder, _, files in os.walk(top):
        if "cgroup" in top:
            try:
                os.mkdir(folder + "/kepler-write-attempt")
                os.rmdir(folder + "/kepler-write-attempt")
                print(folder)
            except OSError:
                pass
        for name in files:
            path = folder + "/" + name
            try:
                if stat.S_ISREG(os.lstat(path).st_mode):
                    os.close(os.open(path, os.O_WRONLY))
                    print(path)
            except OSError:
                pass
"""


def mounted_below(directory):
    """Mount points below a directory of this machine."""
    points = [line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
    return [point for point in points if point.startswith(f"{directory}/")]


def one_by_one(mounts):
    """What daemonset.cgroupV1Hierarchies makes of the cgroups' mount, where hierarchies are mounted below it."""
    hierarchies = mounted_below(CGROUPS)
    for own, path in mounts:
        if own == CGROUPS and hierarchies:
            yield from ((point, path + point.removeprefix(CGROUPS)) for point in hierarchies)
        else:
            yield own, path


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class HostMounts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        os.chmod(self.folder, 0o755)  # also the user of nonRoot gets in
        self.empty = os.path.join(self.folder, "empty")
        os.mkdir(self.empty)
        self.addCleanup(shutil.rmtree, self.folder)

    def within(self, mounts, recursive):
        """The beginning of a command line: its program runs where these are mounted, below self.folder, and where the
        machine's own cgroups are covered."""
        path = os.path.join(self.folder, "mounts.json")
        with open(path, "w", encoding="utf-8") as file:
            table = [{"own": own, "path": self.folder + path, "recursive": recursive} for own, path in mounts]
            json.dump([*table, {"own": self.empty, "path": CGROUPS, "recursive": False}], file)
        return [sys.executable, str(HERE / "host_mounts.py"), path]

    def written(self, profile, mounts, recursive):
        """What the agent's user could open for writing."""
        done = subprocess.run([*self.within(mounts, recursive), *command_line(manifest(profile).agent["securityContext"]),
                               sys.executable, "-c", WRITE, *(self.folder + path for _, path in mounts)],
                              capture_output=True, text=True, check=True, timeout=100)
        return done.stdout.splitlines()

    def test_what_is_mounted(self):
        for profile in PROFILES:
            with self.subTest(profile):
                expected = [(own, f"/host{own}") for own in ("/sys/class", "/sys/devices", CGROUPS)]
                proc = [("/proc", "/host/proc")] if profile == "proc" else []
                self.assertEqual(sorted(host_mounts(manifest(profile))), sorted([*expected, *proc]))

    def test_nothing_is_mounted_below_what_is_mounted(self):
        """Except cgroup v1's hierarchies, and below /proc: recursiveReadOnly is for these."""
        for own, _ in host_mounts(manifest("exact")):
            if own != CGROUPS:
                self.assertEqual(mounted_below(own), [])

    def test_the_test_sees_what_can_be_written(self):
        """With all of /sys in one mount, read-only at its top alone, root can write to cgroups."""
        mounts = [("/sys", "/sys")]
        self.assertNotEqual([path for path in self.written("exact", mounts, False) if "/fs/cgroup/" in path], [])

    def test_nobody_writes_to_recursively_read_only_mounts(self):
        for profile in ("exact", "nonroot"):
            with self.subTest(profile):
                self.assertEqual(self.written(profile, host_mounts(manifest(profile)), True), [])

    def test_nobody_writes_where_only_the_top_is_read_only(self):
        mounts = list(one_by_one(host_mounts(manifest("exact"))))
        self.assertEqual(self.written("exact", mounts, False), [])

    def test_the_agent_finds_what_it_reads(self):
        for mounts in (host_mounts(manifest("exact")), list(one_by_one(host_mounts(manifest("exact"))))):
            config = manifest("exact").config_text.replace("/host/sys", f"{self.folder}/host/sys")
            with self.subTest(mounts), Agent("--monitor.interval=200ms", config=config,
                                             command_prefix=self.within(mounts, True)) as agent:
                scrape = agent.scrape_after()
                # Other rooms warn of cgroups that other tests make.
                self.assertNotRegex(agent.log(), "level=WARN source=src/activity/")
                known, = scrape.series("kepler_activity_cpu_time_info")
                self.assertNotIn("unknown", (known[0]["steal"], known[0]["interrupts"]))


if __name__ == "__main__":
    run_tests()
