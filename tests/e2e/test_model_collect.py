"""kepler-model collect: tables of this machine under the real stress-ng."""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess

from harness import end, require, run_tests, wait_until
from http_double import Double
from test_model import PROGRAM, run
from test_model_data import DataTest, Machine


def stress_processes(session):
    """Those of stress-ng that live and are of this session, whoever their parent is by now."""
    found = []
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if entry.isdigit():
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                    stat = re.search(r"\((.*)\) (.) -?\d+ -?\d+ (-?\d+)", file.read())
                name, state, of = stat.groups() if stat else ("", "", "0")
                if name.startswith("stress-ng") and state != "Z" and int(of) == session:
                    found.append(int(entry))
    return found


class Collected(DataTest):
    """This machine under the real stress-ng, and what an agent would say of it."""

    QUICK = {"--duration": "3s", "--idle": "3s", "--pause": "200ms", "--interval": "500ms"}

    def setUp(self):
        super().setUp()
        self.exporter = self.enterContext(Double(lambda *_: (200, self.machine.text())))
        self.machine = Machine()

    def collect(self, *arguments):
        flags = {"--server": f"{self.exporter.url}/metrics", "--output": self.path("table.csv"), **self.QUICK}
        given = {argument.split("=")[0] for argument in arguments}
        return ("collect", *(f"{name}={value}" for name, value in flags.items() if name not in given), *arguments)

    def test_dry_run_prints_the_phases(self):
        said = self.succeed("collect", "--dry-run", "--schedule=cpu:1+2,vm:1", "--duration=30s")
        self.assertEqual(said, "idle for 60 s\ncpu x 1 for 30 s\ncpu x 2 for 30 s\nvm x 1 for 30 s\n"
                               "4 phases, 3 minutes with the pauses\n")
        said = json.loads(self.succeed("collect", "--dry-run", "--json", "--schedule=cpu:1+1", "--duration=30s"))
        self.assertEqual(said, {"phases": [{"stressor": "idle", "instances": 0, "seconds": 60},
                                           {"stressor": "cpu", "instances": 1, "seconds": 30}], "seconds": 95})
        shuffled = self.succeed("collect", "--dry-run", "--seed=3")
        self.assertEqual(shuffled, self.succeed("collect", "--dry-run", "--seed=3"))
        self.assertNotEqual(shuffled, self.succeed("collect", "--dry-run"))
        self.assertEqual(os.listdir(self.directory), [])

    def test_dry_run_names_the_stressors_that_are_not_there(self):
        self.assertIn("stress-ng is not installed",
                      run("collect", "--dry-run", "--schedule=cpuu:1", env={"PATH": "/none"}).stderr)
        require(shutil.which("stress-ng"), "stress-ng is not installed")
        ended = run("collect", "--dry-run", "--schedule=cpu:1,streem:1")
        self.assertIn("no stressor streem; skipping it; did you mean stream?", ended.stderr)
        self.assertIn("\n2 phases", ended.stdout)
        ended = run("collect", "--dry-run", "--schedule=bogus")
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn("none of these stressors", ended.stderr)

    def test_phases_of_stress_ng_are_a_table(self):
        require(shutil.which("stress-ng"), "stress-ng is not installed")
        ended = run(*self.collect("--schedule=cpu:1,no-such-stressor:1,vm:1", "--json"))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("this stress-ng has no stressor no-such-stressor; skipping it", ended.stderr)
        said = json.loads(ended.stdout)
        self.assertEqual((said["phases"], said["failed_phases"], said["stopped"]), (3, 0, False))
        rows = self.table("table.csv")
        self.assertEqual(len(rows), said["rows"])
        self.assertEqual([(p, s, i) for p, s, i in dict.fromkeys((r["phase"], r["stressor"], r["instances"]) for r in rows)],
                         [("0", "idle", "0"), ("1", "cpu", "1"), ("2", "vm", "1")])
        self.assert_power_of_machine(rows)
        with open(self.path("machine.json"), encoding="utf-8") as file:
            self.assertIsInstance(json.load(file), dict)

    def test_a_signal_ends_it_with_what_there_is_and_no_orphan(self):
        require(shutil.which("stress-ng"), "stress-ng is not installed")
        for number in (signal.SIGINT, signal.SIGTERM):
            name = f"{number.name}/table.csv"
            with self.loaded(name) as process:
                process.send_signal(number)
                said = process.communicate(timeout=30)[1]
            self.assertEqual(process.returncode, 1)
            self.assertRegex(said, r"stopped before the end: \d+ rows of 2 phases")
            self.assertEqual(stress_processes(process.pid), [])
            self.assertTrue(self.table(name))

    @contextlib.contextmanager
    def loaded(self, name="table.csv"):
        """The program, once two instances of a long load run and some rows of them are measured."""
        process = subprocess.Popen([PROGRAM, *self.collect("--schedule=cpu:2", "--duration=60s",
                                                           f"--output={self.path(name)}")],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            wait_until(lambda: len(stress_processes(process.pid)) >= 3, "stress-ng", 30)
            scrapes = self.machine.scrapes
            wait_until(lambda: self.machine.scrapes >= scrapes + 6, "scrapes of the load", 30)
            yield process
        finally:
            end(process)

    def test_killed_it_leaves_no_load_for_long(self):
        require(shutil.which("stress-ng"), "stress-ng is not installed")
        with self.loaded() as process:
            process.kill()
            process.wait()
        wait_until(lambda: not stress_processes(process.pid), "the end of stress-ng", 20)

    def test_what_is_missing_is_named(self):
        self.assertIn("install the package stress-ng", self.refused(*self.collect("--schedule=cpu:1"), env={"PATH": "/none"}))
        self.machine.text = lambda: "up 1\n"
        self.assertIn("no metric of Kepler", self.refused(*self.collect("--schedule=idle")))
        self.machine.text = lambda: "kepler_node_cpu_joules_total{ broken\n"
        self.assertIn("line 1: no sample of kepler_node_cpu_joules_total",
                      self.refused(*self.collect("--schedule=idle")))
        self.machine = Machine(path_label="model")
        self.assertIn("all energy is estimated by a model", self.refused(*self.collect("--schedule=idle")))
        with Double(lambda *_: None) as gone:
            pass
        self.assertIn("Connection refused", self.refused(*self.collect("--schedule=idle", f"--server={gone.url}")))

    def test_what_makes_no_rows_is_kept(self):
        text = self.machine.text()
        self.machine.text = lambda: text
        ended = run(*self.collect("--schedule=idle"))
        self.assertEqual(ended.returncode, 1)
        raw = self.path("table.csv.raw.json")
        self.assertIn(f"no energy of worker changes", ended.stderr)
        self.assertIn(f"the recording is in {raw}", ended.stderr)
        self.assertEqual(os.listdir(self.directory), ["table.csv.raw.json"])
        self.assertIn("changes, so", self.refused("extract", f"--input={raw}", "--output=-"))

    def test_the_files_are_looked_at_before_the_work(self):
        self.assertIn("are the same file", self.refused(*self.collect("--schedule=idle",
                                                                 f"--output={self.path('machine.json')}")))
        self.write("machine.json", '{"processor": "another", "cores": 1}')
        self.machine.text = lambda: "up 1\n"
        said = run(*self.collect("--schedule=idle")).stderr
        self.assertIn("machine.json describes another machine and will be replaced", said)
        os.remove(self.path("machine.json"))
        os.mkdir(self.path("machine.json"))
        self.assertIn("machine.json", self.refused(*self.collect("--schedule=idle"), code=3))
        os.rmdir(self.path("machine.json"))
        os.mkfifo(self.path("pipe"))
        for path, why, code in (("pipe", "a pipe or a device", 1), (".", "Is a directory", 3),
                                ("none/", "Is a directory", 3)):
            with self.subTest(path=path):
                self.assertIn(why, self.refused(*self.collect("--schedule=idle", f"--output={self.path(path)}"),
                                                code=code))

    def test_wrong_flags(self):
        for flags, said in ((("--schedule=cpu:0",), "'cpu:0'"), (("--schedule=cpu:99999",), "the maximum is"),
                            (("--interval=2s",), "a third"),
                            (("--seed=-1",), "seed"), (("--server=x",), "server")):
            with self.subTest(flags=flags):
                self.assertIn(said, self.refused(*self.collect(*flags), code=2))
        self.assertIn("output", self.refused("collect", code=2))


if __name__ == "__main__":
    run_tests()
