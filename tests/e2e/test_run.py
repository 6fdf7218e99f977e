"""kepler run: a command's energy is its share of the CPU time, whatever the command does. The simulated meter counts."""
import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from harness import Agent, binary, end, require, run_tests, wait_until
from workloads import Cgroup, machine_stat_ns

CONFIG = "cpu: {preferredMeters: [fake]}\n"
WITH_WORKLOADS = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.abspath(__file__))}
METER = []  # flags for the simulated meter
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


def setUpModule():
    folder = unittest.enterModuleContext(tempfile.TemporaryDirectory())
    os.chmod(folder, 0o755)
    with open(f"{folder}/kepler.yaml", "w", encoding="ascii") as file:
        file.write(CONFIG)
    METER.append(f"--config.file={folder}/kepler.yaml")


def run(*command, options=(), prefix=(), **how):
    return subprocess.run([*prefix, binary(), "run", *METER, *options, "--", *command], capture_output=True, text=True, timeout=120,
                          **how)


def measure(*command, options=(), **how):
    """(exit code, stdout, the report)"""
    done = run(*command, options=("--json", *options), **how)
    return done.returncode, done.stdout, json.loads(done.stderr)


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


def group_is_left(program, pid):
    """Whether the cgroup of that command exists. Other runs on this machine have commands of the same name."""
    return any(os.path.exists(f"{top}/kepler-run-{program}-{pid}")
               for top in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/cpuacct"))


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
        burn = "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done"
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


class Commands(unittest.TestCase):
    def setUp(self):
        require(os.geteuid() == 0, "only root may make cgroups here")

    def test_exit_codes_are_those_of_a_shell(self):
        for command, code in ((("true",), 0), (("sh", "-c", "echo $$; exit 3"), 3), (("sh", "-c", "echo $$; kill -9 $$"), 137),
                              (("/nowhere/x",), 127), (("/etc/passwd",), 126), ((), 125)):
            with self.subTest(command):
                done = run(*command)
                self.assertEqual(done.returncode, code, done.stderr)
                if done.stdout:
                    self.assertFalse(group_is_left("sh", int(done.stdout)), "the cgroup is removed")

    def test_the_command_has_stdin_and_stdout_for_itself(self):
        done = run("cat", input="text")
        self.assertEqual(done.stdout, "text")
        self.assertIn("Machine joules", done.stderr)

    def test_the_report_goes_to_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("true", options=("--json", f"--output={folder}/report"))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            with open(f"{folder}/report", encoding="utf-8") as file:
                self.assertEqual(json.load(file)["command"], ["true"])
            self.assertEqual(run("true", options=(f"--output={folder}/no/report",)).returncode, 125)
            done = run("sh", "-c", f"rmdir {folder}/new; exit 3", options=("--output", f"{folder}/new/report"))
            self.assertEqual(done.returncode, 125, "the directory was missing before the start")
            os.mkdir(f"{folder}/new")
            done = run("sh", "-c", f"rmdir {folder}/new; exit 3", options=("--output", f"{folder}/new/report"))
            self.assertEqual(done.returncode, 3, "the command's own counts")
            self.assertIn("Machine joules", done.stderr, "the report is not lost")

    def test_a_pipe_that_nobody_reads_is_refused_before_the_start(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkfifo(f"{folder}/pipe")
            done = run("touch", f"{folder}/ran", options=(f"--output={folder}/pipe",))
            self.assertEqual(done.returncode, 125)
            self.assertIn("pipe: it is a pipe that no process reads", done.stderr)
            self.assertFalse(os.path.exists(f"{folder}/ran"))

    def test_a_mistake_in_the_options_is_no_failure_of_the_command(self):
        done = run("true", options=("--typo",))
        self.assertEqual((done.returncode, done.stderr), (125, "kepler run: error: unknown long flag '--typo', try --help\n"))
        done = run("true", options=("--log.level=loud",))
        self.assertEqual((done.returncode, done.stderr[:32]), (125, "kepler run: error: --log.level: "), done.stderr)
        self.assertEqual(run("true", options=("--config.file=/nowhere",)).returncode, 125)
        done = run("true", options=("--json=maybe",))
        self.assertEqual((done.returncode, done.stderr), (125, "kepler run: error: flag '--json' must be true or false, not 'maybe', "
                                                               "try --help\n"))

        self.assertIn("expected argument for flag '--output'", run("true", options=("--output",)).stderr)

    def test_json_has_the_forms_of_other_flags(self):
        for options, is_json in ((("--json=true",), True), (("--json=false",), False), (("--json", "--no-json"), False)):
            done = run("true", options=options)
            self.assertEqual((done.returncode, done.stderr.startswith("{")), (0, is_json), done.stderr)

    def test_full_disk_leaves_the_exit_code_of_the_command(self):
        for command, code in (("true", 0), ("false", 1)):
            done = run(command, options=("--output=/dev/full",))
            self.assertEqual(done.returncode, code)
            self.assertIn("kepler run: write /dev/full: No space left on device", done.stderr)
            self.assertIn("Machine joules", done.stderr, "the report is not lost")

    def test_sigterm_reaches_the_command(self):
        agent = subprocess.Popen([binary(), "run", "--json", *METER, "--", "sh", "-c", "echo up; exec sleep 1000"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(end, agent)
        self.assertEqual(agent.stdout.readline(), "up\n")
        agent.terminate()
        self.assertEqual(json.loads(agent.communicate(timeout=30)[1])["exit_code"], 128 + signal.SIGTERM)
        self.assertEqual(agent.returncode, 128 + signal.SIGTERM)

    def test_a_command_that_needs_a_terminal_has_it_and_ctrl_c_ends_only_the_command(self):
        pid, terminal = pty.fork()
        if pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's job in the background ignores it
            os.execv(binary(), [binary(), "run", *METER, "--", "sh", "-c", "test -t 0 && echo is-terminal; exec sleep 1000"])
        seen = b""
        while b"is-terminal" not in seen:
            seen += os.read(terminal, 1000)
        os.write(terminal, b"\x03")
        while b"Machine joules" not in seen:
            seen += os.read(terminal, 1000)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 128 + signal.SIGINT)
        os.close(terminal)

    def test_a_user_who_may_not_make_cgroups_is_told_what_to_do(self):
        done = run("true", user=65534, group=65534, extra_groups=[])
        self.assertEqual(done.returncode, 125)
        self.assertIn("Permission denied; run it as root, or with systemd-run --user --scope in front of it", done.stderr)

    def test_the_cgroup_of_a_killed_run_is_removed_once_it_is_empty(self):
        killed = subprocess.Popen([binary(), "run", *METER, "--", "sh", "-c", "echo $$; exec sleep 1000"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(end, killed)
        command = int(killed.stdout.readline())
        killed.kill()
        killed.wait()
        self.assertEqual(run("true").returncode, 0)
        self.assertTrue(group_is_left("sh", command), "the command still runs in it")
        os.kill(command, signal.SIGKILL)
        wait_until(lambda: not os.path.exists(f"/proc/{command}"), "the end of the command")
        self.assertEqual(run("true").returncode, 0)
        self.assertFalse(group_is_left("sh", command))

    def test_a_command_of_no_time_has_no_platform_of_0_joules(self):
        _, _, report = measure("true")
        self.assertEqual(report["unmeasured"], ["platform"], "its first estimate comes later")
        self.assertNotIn("platform", [zone["zone"] for zone in report["zones"]])
        self.assertIn("Not measured: platform: its meter had no reading within the 0.0", run("true").stderr)

    def test_a_running_agent_lists_the_command_as_a_container(self):
        with Agent("--monitor.interval=200ms", config=CONFIG) as agent:
            command = subprocess.Popen([binary(), "run", *METER, "--", "sh", "-c", "while :; do :; done"], stderr=subprocess.DEVNULL)
            self.addCleanup(end, command)
            wait_until(lambda: agent.scrape().series("kepler_container_cpu_watts", runtime="kepler-run", zone="package"), "its series")
            command.terminate()
            self.assertEqual(command.wait(30), 128 + signal.SIGTERM)

    def test_it_has_its_own_help(self):
        done = subprocess.run([binary(), "run", "--help"], capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.startswith("usage: kepler run "), done.stderr)


if __name__ == "__main__":
    run_tests()
