"""kepler top on real terminals (tmux): keys, sizes, an agent that goes and comes back, pipes, and names of attackers."""
import contextlib
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from harness import Agent, binary, end, free_port, python_child, require, run_tests, wait_until
from http_double import Double, Handler, HttpServer
from powercap import ONE_PACKAGE, PowercapTree
from workloads import BURN_A_FIFTH

CONFIG = "cpu: {preferredMeters: [fake]}\nmonitor: {interval: 500ms, minTerminatedEnergyThreshold: 0}\n"
SIMULATED = "kepler top: power is simulated: the fake meter is in use, and nothing is measured\n"
USERS = "basic_auth_users:\n  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n"
BURN = """
with open("/proc/self/comm", "w") as file:
    file.write("kt-burner")
""" + BURN_A_FIFTH
# tmux may miss the end of its child, so the shell writes the exit code. It must outlive the signals of the terminal.
SHELL = 'trap : INT HUP TERM; code=$1; shift; "$@"; echo $? >"$code"'


def top(*args, **how):
    """One call that ends by itself; stdin and stdout are no terminals."""
    return subprocess.run([binary(), "top", *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, **how)


class Screen(contextlib.AbstractContextManager):
    """kepler top in a terminal of tmux. Without a url it finds the agent itself."""

    def __init__(self, url, *args, columns=80, lines=24, environment=("LANG=C.UTF-8",)):
        self.folder = tempfile.mkdtemp(prefix="kepler-top-")
        self.command = ["sh", "-c", SHELL, "sh", f"{self.folder}/code", "env", *environment, binary(), "top",
                        *([f"--url={url}"] if url else []), "--interval=200ms", *args]
        self.size = (columns, lines)

    def tmux(self, *args):
        return subprocess.run(["tmux", "-u", "-S", f"{self.folder}/socket", "-f", "/dev/null", *args], check=True,
                              stdout=subprocess.PIPE, text=True, timeout=30, env={**os.environ, "LANG": "C.UTF-8"}).stdout

    def __enter__(self):
        columns, lines = self.size
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(lines), "cat", ";", "set", "-g", "remain-on-exit", "on", ";",
                  "set", "-g", "status", "off", ";", "respawn-pane", "-k", *self.command)
        return self

    def __exit__(self, *unused):
        with contextlib.suppress(subprocess.CalledProcessError):
            self.tmux("kill-server")
        shutil.rmtree(self.folder, ignore_errors=True)

    def text(self):
        return self.tmux("capture-pane", "-p")

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def click(self, column, line):
        """As xterm sends it: button, column and line from 1, each + 32."""
        for button in (0, 3):
            self.tmux("send-keys", "-l", "\x1b[M" + "".join(chr(32 + number) for number in (button, column + 1, line + 1)))

    def resize(self, columns, lines):
        self.tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def pid(self):
        shell = int(self.tmux("display", "-p", "#{pane_pid}"))
        with open(f"/proc/{shell}/task/{shell}/children", encoding="ascii") as file:
            return int(file.read().split()[0])

    def wait_for(self, pattern):
        """The match of a regular expression on the screen."""
        found = []

        def matches():
            found[:] = [self.text()]
            return re.search(pattern, found[0])
        try:
            return wait_until(matches, f"{pattern!r} on the screen")
        except AssertionError as error:
            error.add_note(found[0])
            raise

    def exit_code(self):
        """Once it has ended."""
        def code():
            with contextlib.suppress(FileNotFoundError), open(f"{self.folder}/code", encoding="ascii") as file:
                return file.read().strip()
            return ""
        return int(wait_until(code, "the exit"))


def answering(answer):
    """Answers every request with the same JSON."""
    return Double(lambda *_: (200, json.dumps(answer)))


def url_of(agent):
    return f"http://127.0.0.1:{agent.port}"


class Keys(unittest.TestCase):
    def setUp(self):
        require(shutil.which("tmux"), "tmux is missing")
        self.burners = [python_child(BURN) for _ in range(3)]
        for burner in self.burners:
            self.addCleanup(end, burner)
        self.agent = self.enterContext(Agent(config=CONFIG))
        self.url = url_of(self.agent)

    def test_levels_filter_order_and_help(self):
        with Screen(self.url, "--price=1000", columns=120, lines=30) as screen:
            screen.wait_for(r"Processes by watts, \d+ of \d+")
            screen.wait_for(r"\n *\d+\.\d\d .*kt-burner")
            screen.wait_for(r"package +\d+\.\d\d")
            screen.press("j")
            screen.wait_for(r"by joules.*\n.* JOULES↓")
            screen.press("/", "kt-b")
            screen.wait_for(r"filter: kt-b_")
            screen.press("Enter")
            screen.wait_for(r'Processes by joules, 3 of 3, filter "kt-b"')
            screen.press("Escape")
            screen.wait_for(r"Processes by joules, \d+ of \d+ ")
            screen.press("3")
            screen.wait_for(r"Pods by joules")
            screen.press("Tab")
            screen.wait_for(r"VMs by joules")
            screen.press("?")
            screen.wait_for(r"Press any key")
            screen.press("x")
            screen.wait_for(r"VMs by joules")
            screen.press("q")
            self.assertEqual(screen.exit_code(), 0)

    def test_the_selection_stays_on_its_process(self):
        with Screen(self.url, "--filter=kt-burner") as screen:
            screen.wait_for("Processes by watts, 3 of 3")
            screen.press("Down")
            screen.press("Down")
            # The first row is selected until both keys are read: the help, which is shown after them, says that they are.
            screen.press("?")
            screen.wait_for("Press any key")
            screen.press("x")
            last = self.detail(screen)
            self.assertIn(last, self.pids())
            for _ in range(3):
                before = screen.wait_for(r"\d\d:\d\d:\d\dZ")[0]
                wait_until(lambda: before not in screen.text(), "another second")
                self.assertEqual(self.detail(screen), last)
            end(next(burner for burner in self.burners if burner.pid == last))
            screen.wait_for(r"kt-burner \(ended\)")
            screen.press("/", "no", "Enter")
            screen.wait_for("no name contains the filter; Esc removes it")

    def pids(self):
        return [burner.pid for burner in self.burners]

    def detail(self, screen):
        return int(screen.wait_for(r"exe .* id (\d+)\n")[1])

    def test_cores_are_those_of_the_process(self):
        burner = self.burners[0].pid

        def clocks():
            return time.monotonic(), time.clock_gettime((~burner << 3) | 2)  # CPU clock of the burner (clock_getcpuclockid(3))
        begin, used_before = clocks()
        with Screen(self.url, "--filter=kt-burner", columns=100) as screen:
            found = screen.wait_for(rf"\n *[\d.]+ +[\d.k]+ +(\d\.\d\d) +\S+ +{burner} kt-burner")
        ended, used = clocks()
        mean = (used - used_before) / (ended - begin)
        self.assertTrue(mean / 10 < float(found[1]) <= 1.05, f"{found[1]} cores, {mean:.2f} from start to end")

    def test_every_size_is_used(self):
        with Screen(self.url, columns=40, lines=12) as screen:
            screen.wait_for(r"WATTS↓  JOULES NAME")
            for columns, lines in ((200, 50), (20, 6), (3, 2), (80, 24)):
                screen.resize(columns, lines)
                if columns >= 80:
                    screen.wait_for(r"CORES(.|\n)*\? help")
            screen.resize(40, 12)
            screen.wait_for(r"WATTS↓  JOULES NAME")
            self.assertTrue(all(len(line) <= 40 for line in screen.text().split("\n")))

    def test_clicks_sort_and_select(self):
        with Screen(self.url, "--filter=kt-burner") as screen:
            screen.wait_for("Processes by watts, 3 of 3")
            header = next(number for number, line in enumerate(screen.text().split("\n")) if "WATTS↓" in line)
            screen.click(12, header)
            screen.wait_for(r"by joules, 3 of 3(.|\n)* JOULES↓")
            screen.click(12, header + 3)

            def third_is_selected():
                text = screen.text()
                return re.findall(r" (\d+) kt-burner", text)[2:] == re.findall(r"exe .* id (\d+)\n", text)
            wait_until(third_is_selected, "the third row as the selected one")

    def test_signals_end_it_well(self):
        for stop in (lambda screen: screen.press("C-c"), lambda screen: os.kill(screen.pid(), signal.SIGTERM),
                     lambda screen: os.kill(screen.pid(), signal.SIGHUP)):
            with Screen(self.url) as screen:
                screen.wait_for("Processes by watts")
                stop(screen)
                self.assertEqual(screen.exit_code(), 0)

    def test_terminals_without_colour_or_unicode(self):
        for environment in (("LANG=C.UTF-8", "NO_COLOR=1"), ("LANG=C", "LC_ALL=C", "TERM=vt100"), ("LANG=C.UTF-8", "TERM=xterm-256color")):
            with self.subTest(environment), Screen(self.url, environment=environment) as screen:
                screen.wait_for(r"WATTS[↓*]")
                coloured = re.search(r"\x1b\[[0-9;]*3[1-7]m", screen.tmux("capture-pane", "-p", "-e"))
                self.assertEqual(bool(coloured), "TERM=xterm-256color" in environment)
                self.assertEqual(screen.text().isascii(), "LANG=C" in environment)

    def test_a_container_opens_its_processes(self):
        require(os.geteuid() == 0, "only root may make cgroups here")
        command = subprocess.Popen([binary(), "run", f"--config.file={self.agent.config_path}", "--", "sh", "-c",
                                    "echo $$; while :; do :; done"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(end, command)
        self.addCleanup(command.wait, 30)  # without kepler run the shell would go on for ever
        self.addCleanup(command.terminate)
        name = f"sh-{int(command.stdout.readline())}"  # other tests run commands too
        with Screen(self.url, "--level=container", f"--filter={name}", columns=100) as screen:
            screen.wait_for("Containers by watts, 1 of 1")
            screen.press("Enter")
            screen.wait_for(r"Processes of \S+ by watts, 1 of 1")
            screen.wait_for(r"\d sh ")
            screen.press("Escape")
            screen.wait_for(r"Containers by watts")
            command.terminate()
            command.wait(30)


class Faults(unittest.TestCase):
    def setUp(self):
        require(shutil.which("tmux"), "tmux is missing")

    def test_it_outlives_the_agent(self):
        with Agent(config=CONFIG) as agent, Screen(url_of(agent)) as screen:
            screen.wait_for("Processes by watts, [1-9]")
            agent.process.kill()
            agent.process.wait()
            screen.wait_for(r"no answer since \d\d:\d\d:\d\dZ: connect to http://127.0.0.1:\d+: Connection refused")
            self.assertIn("Processes by watts", screen.text(), "the last values stay")
            agent.__enter__()
            wait_until(lambda: "no answer" not in screen.text(), "an answer of the new agent")
            screen.wait_for("Processes by watts, [1-9]")

    def test_it_may_start_before_the_agent(self):
        with Screen("http://127.0.0.1:1") as screen:
            screen.wait_for("no answer since .* Connection refused")
            screen.press("q")
            self.assertEqual(screen.exit_code(), 0)

    def test_names_of_attackers_are_harmless(self):
        """No byte of a name reaches the terminal as a control character, with and without --once."""
        evil = "a\x1b]0;owned\x07b\x1b[31mred\x9b2Jc\r\nd\u202e日本"
        row = {"id": evil, "name": evil, "container": evil, "pod": evil, "namespace": evil, "exe": evil, "joules": 1, "watts": 1}
        answer = {"api": 1, "time": evil, "agent": {"node": evil, "version": evil}, "zones": [{"zone": evil, "watts": 1}],
                  "meters": [], "step_seconds": 1, "points": [],
                  "workloads": {"level": "process", "zone": evil, "total": 1, "matching": 1, "rows": [row]}}
        with answering(answer) as double:
            done = top(f"--url={double.url}", "--once")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotRegex(done.stdout, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
            self.assertIn("a?]0;owned?b?[31mred?2Jc??d?日本" if "日本" in done.stdout else "a?]0;owned?b?[31mred?2Jc??d?????", done.stdout)
            pid, terminal = pty.fork()
            if pid == 0:
                os.execve(binary(), [binary(), "top", f"--url={double.url}"], {**os.environ, "TERM": "xterm", "LANG": "C.UTF-8"})
            seen = b""
            while b"owned" not in seen:
                seen += os.read(terminal, 10_000)
            os.write(terminal, b"q")
            with contextlib.suppress(OSError):
                while chunk := os.read(terminal, 10_000):
                    seen += chunk
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
            os.close(terminal)
            for escape in (b"\x1b]", b"\x07", b"[31mred\x1b", b"\xc2\x9b", b"\xe2\x80\xae"):
                self.assertNotIn(escape, seen)

    def test_broken_answers_are_named(self):
        for answer, reason in (({"api": 2}, "another version of the API"), ({"api": 1, "workloads": []}, "workloads"), ([], "expected")):
            with self.subTest(answer), answering(answer) as double:
                done = top(f"--url={double.url}", "--once")
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(reason, done.stderr)


class WithoutAgent(unittest.TestCase):
    """kepler top measures in its own process. The only meter is a powercap tree of 50 W."""

    def setUp(self):
        require(shutil.which("tmux"), "tmux is missing")
        self.tree = self.enterContext(PowercapTree(ONE_PACKAGE))
        self.address = f"127.0.0.1:{free_port()}"
        self.config = os.path.join(self.tree.root, "kepler.yaml")
        self.flag = f"--config.file={self.config}"
        self.configure()
        self.tree.start()

    def configure(self, more=""):
        with open(self.config, "w", encoding="ascii") as file:
            file.write(f"host: {{sysfs: {self.tree.root}}}\nweb: {{listenAddresses: ['{self.address}']}}\n{more}")

    def test_the_screen_is_that_of_an_agent(self):
        with Screen(None, self.flag, columns=100) as screen:
            screen.wait_for(f"\nno agent at http://{self.address}, so this process measures\n")
            screen.wait_for(r"package +(49|50|51)\.\d\d")
            screen.wait_for(r"Processes by watts, \d+ of \d+(.|\n)* \d+\.\d\d +\d")
            pid = screen.pid()
            files = [os.readlink(entry.path) for entry in os.scandir(f"/proc/{pid}/fd") if os.path.islink(entry.path)]
            self.assertEqual([file for file in files if file.startswith("socket:")], [], "no port")
            screen.press("3")
            screen.wait_for("Pods by watts")
            self.assertNotIn("level=", screen.text())
            screen.press("q")
            self.assertEqual(screen.exit_code(), 0)
            self.assertNotIn("Pods by watts", screen.text(), "the screen is restored")
            self.assertNotIn("level=", screen.text())

    def test_signals_end_it_well(self):
        for stop in (lambda screen: screen.press("C-c"), lambda screen: os.kill(screen.pid(), signal.SIGTERM)):
            with Screen(None, self.flag) as screen:
                screen.wait_for("Processes by watts")
                stop(screen)
                self.assertEqual(screen.exit_code(), 0)

    def test_once_waits_for_a_whole_interval(self):
        done = top(self.flag, "--json", "--limit=2", "--interval=2s")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"kepler top: no agent at http://{self.address}, so this process measures\n", done.stderr)
        answer = json.loads(done.stdout)
        self.assertGreater(answer["interval_seconds"], 1.9)
        self.assertAlmostEqual(answer["zones"][0]["watts"], 50, delta=5)  # the meter moves once in 20 ms, or later on a busy machine
        self.assertEqual(len(answer["workloads"]["rows"]), 2)
        self.assertRegex(top(self.flag, "--once", "--level=container").stdout, r"package +\d+\.\d\d(.|\n)*Containers by watts")

    def test_an_agent_at_its_address_is_asked(self):
        with Agent(config=CONFIG) as agent:
            self.address = f"127.0.0.1:{agent.port}"
            self.configure()
            asked = top(self.flag, "--json", "--limit=1")
            self.assertEqual((asked.returncode, asked.stderr), (0, SIMULATED))
            self.assertEqual(json.loads(asked.stdout)["meters"][0]["name"], "fake")
            local = top(self.flag, "--local", "--json", "--limit=1")
            self.assertEqual(local.returncode, 0, local.stderr)
            self.assertNotIn(SIMULATED, local.stderr)
            self.assertEqual(json.loads(local.stdout)["meters"][0]["name"], "rapl (powercap)")

    def test_a_user_who_may_not_measure_is_told(self):
        require(os.geteuid() == 0, "only root may be somebody else")
        self.tree.stop()
        for entry in self.tree.entries:
            os.chmod(self.tree.path(entry, "energy_uj"), 0o400)
        nobody = {"user": 65534, "group": 65534, "extra_groups": []}
        done = top(self.flag, "--once", **nobody)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("power is an estimate: this user may not read the energy meters; run as root\n", done.stderr)
        self.assertIn("BPF needs root, or CAP_BPF and CAP_PERFMON\n", done.stderr)
        self.configure("meter: {require: true}\n")
        refused = top(self.flag, "--once", **nobody)
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("Permission denied", refused.stderr)

    def test_a_wrong_configuration_is_named(self):
        self.configure("monitor: {interval: soon}\n")
        done = top(self.flag, "--once")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("monitor.interval", done.stderr)


class Once(unittest.TestCase):
    def test_a_pipe_gets_one_table(self):
        with Agent(config=CONFIG) as agent:
            done = top(f"--url={url_of(agent)}", "--limit=3")
            self.assertEqual(done.returncode, 0)
            self.assertIn("stdin is not a terminal; printing one table, as with --once", done.stderr)
            self.assertRegex(done.stdout, r"Processes by watts, 3 of \d+")
            quiet = top(f"--url={url_of(agent)}", "--once", "--level=vm")
            self.assertEqual((quiet.returncode, quiet.stderr), (0, SIMULATED))
            asked = json.loads(top(f"--url={url_of(agent)}", "--once", "--json", "--limit=2", "--sort=cpu").stdout)
            self.assertEqual(asked["api"], 1)
            self.assertEqual(len(asked["workloads"]["rows"]), 2)

    def test_a_terminal_that_cannot_move_its_cursor_gets_one_table(self):
        with Agent(config=CONFIG) as agent:
            for name, reason in (("dumb", b"cannot move its cursor"), ("no-such-terminal", b"is unknown")):
                with self.subTest(name):
                    pid, terminal = pty.fork()
                    if pid == 0:
                        os.execve(binary(), [binary(), "top", f"--url={url_of(agent)}"], {**os.environ, "TERM": name})
                    seen = b""
                    with contextlib.suppress(OSError):
                        while chunk := os.read(terminal, 10_000):
                            seen += chunk
                    self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
                    os.close(terminal)
                    self.assertIn(b"TERM=" + name.encode(), seen)
                    self.assertIn(reason, seen)
                    self.assertIn(b"Processes by watts", seen)

    def test_a_redirect_is_named(self):
        class Redirect(Handler):
            def do_GET(self):
                self.say(302, Location="https://login.example/")
        with HttpServer(Redirect) as double:
            done = top(f"--url={double.url}", "--once")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, f"kepler top: {double.url}: 302: redirects to https://login.example/; "
                                      "set --url to the URL of the agent\n")

    def test_an_error_of_the_api_is_shown_as_text(self):
        with Agent(config=CONFIG) as agent:
            done = top(f"--url={url_of(agent)}", "--once", f"--filter={'x' * 65}")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"\Akepler top: http://127.0.0.1:\d+: 400: parameter \w+: [^{}]+\n\Z")

    def test_without_an_agent_it_fails(self):
        done = top("--url=http://127.0.0.1:1", "--once")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("Connection refused; is the agent running?", done.stderr)

    def test_logins(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        for name, text in (("web", USERS), ("password", "secret\n"), ("wrong", "other")):
            with open(f"{folder}/{name}", "w", encoding="ascii") as file:
                file.write(text)
        with Agent(f"--web.config.file={folder}/web", config=CONFIG, ready=False) as agent:
            agent.wait_log("started")
            ask = [f"--url={url_of(agent)}", "--once"]
            self.assertIn("401: set --user and --password-file", top(*ask).stderr)
            self.assertIn("401", top(*ask, "--user=alice", f"--password-file={folder}/wrong").stderr)
            wait_until(lambda: top(*ask, "--user=alice", f"--password-file={folder}/password").returncode == 0, "an answer")

    def test_it_has_its_own_help(self):
        done = top("--help")
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.startswith("usage: kepler top [<flags>]"), done.stderr)
        for flag in ("--colour", "--level=rack", "--limit=0", "--user=me"):
            refused = top(flag)
            self.assertEqual((refused.returncode, refused.stderr.count("\n")), (1, 1), refused.stderr)
            self.assertTrue(refused.stderr.startswith("kepler top: error: "), refused.stderr)


if __name__ == "__main__":
    run_tests()
