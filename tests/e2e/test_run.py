"""kepler run: a command's energy is its share of the CPU time, whatever the command does. The simulated meter counts."""
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from harness import binary, require, run_tests, wait_until
from kepler_run import METER, group_is_left, measure, run, set_up_meter
from workloads import Cgroup, machine_stat_ns

setUpModule = set_up_meter
WITH_WORKLOADS = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.abspath(__file__))}
# Runs the command that it gets as arguments, and prints what its cgroup has used then, in ns. The end of the shell comes later.
WITH_USAGE = r"""
"$@" || exit
while IFS=: read -r _ controllers path; do
  case ",$controllers," in
    *,cpuacct,*) v1=$path ;;
    ,,) v2=$path ;;
  esac
done </proc/self/cgroup
if [ "$v1" ]; then
  read -r used </sys/fs/cgroup/cpuacct"$v1"/cpuacct.usage
else
  while read -r key value; do [ "$key" != usage_usec ] || used=${value}000; done </sys/fs/cgroup"$v2"/cpu.stat
fi
echo "$v2 $used"
"""


def measure_in_a_cgroup(*command, **how):
    """(exit code, stdout, the report, CPU seconds of kepler run and of everything that it started)"""
    with Cgroup(f"/kepler-e2e-run-{os.getpid()}") as group:
        return *measure(*command, prefix=group.command_prefix(), **how), group.usage_ns() / 1e9


@contextlib.contextmanager
def stress(cgroup):
    """Keeps every CPU busy, until the end."""
    burner = subprocess.Popen([*cgroup.command_prefix(), "stress-ng", "--quiet", "--cpu", "0"])
    try:
        yield
    finally:
        burner.terminate()  # it ends its children
        burner.wait()


class Energy(unittest.TestCase):
    def setUp(self):
        require(os.geteuid() == 0, "only root may make cgroups here")

    def test_a_tree_of_1000_children_loses_nothing(self):
        """Each of 500 children ends at once and leaves an orphan. The command reads at its end what its cgroup has used."""
        code, out, report, at_most = measure_in_a_cgroup("sh", "-c", WITH_USAGE, "sh", sys.executable, "-c", """
import os, time
from workloads import cpu_cgroup_paths
def processes_in(own):
    top = "/sys/fs/cgroup/cpuacct" + own[0] if own[0] else "/sys/fs/cgroup" + own[1]
    with open(top + "/cgroup.procs") as file:
        return len(file.readlines())
def work():
    sum(range(30_000))
for number in range(500):
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            work()
        work()
        os._exit(0)
    os.waitpid(child, 0)
while processes_in(cpu_cgroup_paths()) > 2:  # the shell and this one
    time.sleep(0.01)
""", env=WITH_WORKLOADS)
        self.assertEqual(code, 0)
        path, used = out.split()
        self.assertRegex(path, "/kepler-run-sh-[0-9]+$")
        self.assertGreater(int(used), 3 * 10**8, "1,000 children worked")
        # kepler run does not wait for less than a millisecond, and reports it.
        self.assertGreaterEqual(report["cpu_seconds"], int(used) / 1e9 - 0.001, "%.6f s outside" % report["outside_cpu_seconds"])
        self.assertGreaterEqual(round((report["cpu_seconds"] + report["outside_cpu_seconds"]) * 1e9), int(used))
        self.assertLessEqual(report["cpu_seconds"], at_most)

    def test_on_a_busy_machine_its_energy_is_its_share_of_the_time(self):
        """The other load keeps every CPU busy, so processes have all the time of each of them without that of interrupts and of the
        host's other guests."""
        with Cgroup(f"/kepler-e2e-run-other-{os.getpid()}") as other, stress(other):
            wait_until(lambda: other.usage_ns() > 10**8, "the other load")
            others = machine_stat_ns("irq", "softirq", "steal")
            code, out, report = measure("sh", "-c", WITH_USAGE, "sh", "stress-ng", "--quiet", "--cpu", "2", "--timeout", "8")
        self.assertEqual(code, 0)
        package = report["zones"][0]
        self.assertAlmostEqual(package["machine_active_joules"] / package["machine_joules"], 1, delta=0.01, msg="every CPU was busy")
        others = (machine_stat_ns("irq", "softirq", "steal") - others) / 1e9
        time_share = int(out.split()[1]) / 1e9 / (report["measured_seconds"] * report["cpus"] - others)
        print(f"share of the energy {package['share']:.4f}, of the CPU time {time_share:.4f}; interrupts and steal {others:.2f} s",
              file=sys.stderr)
        self.assertAlmostEqual(package["share"] / time_share, 1, delta=0.01)

    def test_a_command_that_sleeps_uses_next_to_nothing(self):
        begin = time.monotonic()
        code, _, report, at_most = measure_in_a_cgroup("sleep", "1.2")
        took = time.monotonic() - begin
        self.assertEqual(code, 0)
        self.assertGreaterEqual(report["seconds"], 1.199)
        self.assertLessEqual(report["seconds"], took)
        self.assertLessEqual(report["cpu_seconds"], at_most)

    def test_cpu_time_of_a_run_within_the_command_is_named(self):
        # In several processes: time of one whose end the kernel does not report (unreported.py) is in the usage of the cgroup,
        # which is removed, so it goes to the cgroup above.
        burn = "for _ in 1 2 3 4; do (i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done) & done; wait"
        code, _, report = measure(binary(), "run", *METER, "--output=/dev/null", "--", "sh", "-c", burn)
        self.assertEqual(code, 0)
        self.assertGreater(report["outside_cpu_seconds"], 0.05)
        self.assertLess(measure("sh", "-c", burn)[2]["outside_cpu_seconds"], 0.01)

    def test_what_it_leaves_running_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            code, shell, report = measure("sh", "-c", f"echo $$; sleep 1000 >/dev/null 2>&1 & echo $! > {folder}/pid")
            with open(f"{folder}/pid", encoding="ascii") as file:
                left = int(file.read())
        with open(f"/proc/{left}/cgroup", encoding="ascii") as file:
            self.assertNotIn("kepler-run", file.read(), "it left the cgroup, which is gone")
        os.kill(left, signal.SIGKILL)
        self.assertEqual((code, report["left_running"]), (0, 1))
        self.assertFalse(group_is_left("sh", int(shell)))

    def test_a_command_of_no_time_has_no_platform_of_0_joules(self):
        _, _, report = measure("true")
        self.assertEqual(report["unmeasured"], ["platform"], "its first estimate comes later")
        self.assertNotIn("platform", [zone["zone"] for zone in report["zones"]])
        self.assertRegex(run("true").stderr, r"Not measured: platform: its meter had no reading within the \d\.\d+ s\n")


if __name__ == "__main__":
    run_tests()
