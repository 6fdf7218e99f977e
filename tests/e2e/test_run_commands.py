"""kepler run: what the command and its caller see of it, whatever else runs on the machine."""
import json
import os
import pty
import signal
import subprocess
import tempfile
import unittest

from harness import Agent, binary, end, require, run_tests, wait_until
from kepler_run import CONFIG, METER, group_is_left, run, set_up_meter

setUpModule = set_up_meter


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

    def test_a_running_agent_lists_the_command_as_a_container(self):
        with Agent("--monitor.interval=200ms", config=CONFIG) as agent:
            command = subprocess.Popen([binary(), "run", *METER, "--", "sh", "-c", "echo $$; while :; do :; done"],
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            self.addCleanup(end, command)
            self.addCleanup(command.wait, 30)  # without kepler run the shell would go on for ever
            self.addCleanup(command.terminate)
            # Other tests run commands too.
            own = {"runtime": "kepler-run", "container_id": f"sh-{int(command.stdout.readline())}", "zone": "package"}
            wait_until(lambda: agent.scrape().series("kepler_container_cpu_watts", **own), "its series")
            command.terminate()
            self.assertEqual(command.wait(30), 128 + signal.SIGTERM)

    def test_it_has_its_own_help(self):
        done = subprocess.run([binary(), "run", "--help"], capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.startswith("usage: kepler run "), done.stderr)


if __name__ == "__main__":
    run_tests()
