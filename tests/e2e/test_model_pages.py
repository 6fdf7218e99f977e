"""The pages about models: each command in docs/model.md and docs/model-for-another-machine.md is run as it stands there, and
prints what the page shows.

Prometheus has the measurements of data/nx12.csv as an agent would have exported them, at their own time and once more in the last
hours. Every shown line must be printed, in that order; numbers may differ by half a percent, and "..." stands for any text.
  tests/e2e/test_model_pages.py --write    writes the lines that are printed now into the pages (KEPLER_BIN and KEPLER_MODEL_BIN
                                           as for other tests)"""
import contextlib
import csv
import difflib
import os
import re
import shutil
import subprocess
import sys
import time
import unittest

from harness import Agent, require, run_tests, scratch_directory, wait_until
from prometheus import Prometheus

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NX12 = os.path.join(ROOT, "data", "nx12.csv")
PAGES = ("docs/model.md", "docs/model-for-another-machine.md")
# Take minutes (load on the machine), or show what differs between machines: these are run without a comparison, or not at all.
NOT_RUN = ("kepler-model collect --output=",)
NOT_COMPARED = ("kepler-model machine", "cat machine.json", "kepler-model collect --dry-run")
TYPES = ('{"1":{"attrs":{"processor":"intel_xeon_gold_6230","cores":40,"chips":2,"memory":187,"frequency":3900},'
         '"members":["a"]}}')
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def exposition():
    """OpenMetrics of the table's rows: what an agent on that machine would have counted."""
    with open(NX12, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    step = 3
    begin_of_recent = len(rows) - 500  # enough to train on, and quick
    recent = int(time.time()) - step * 500 - 60
    series = [("kepler_node_cpu_seconds", 'node_name="nx12"', "bpf_cpu_time_us", 1e-3)]
    series += [("kepler_node_softirqs", f'node_name="nx12",type="{kind}"', f"bpf_{kind}_irq", 1)
               for kind in ("block", "net_rx", "net_tx")]
    series += [("kepler_node_cpu_cycles", 'node_name="nx12"', "cpu_cycles", 1)]
    series += [("kepler_node_cpu_joules", f'node_name="nx12",path="intel-rapl:0",zone="{zone}"', f"{zone}_power", 1)
               for zone in ("dram", "package")]
    lines, last = [], None
    for name, labels, column, scale in series:
        if name != last:
            lines.append(f"# TYPE {name} counter")
            last = name
        total = 0
        points = []
        for row in rows:
            total += max(float(row[column]), 0) * scale * step
            points.append((int(row["timestamp"]), total))
        later = [(when - points[begin_of_recent][0] + recent, value) for when, value in points[begin_of_recent:]]
        lines += [f"{name}_total{{{labels}}} {value:.6f} {when}" for when, value in points + later]
    return "\n".join([*lines, "# EOF", ""])


class Recorded(Prometheus):
    """A Prometheus that has these samples, however old, and scrapes nothing."""

    def __enter__(self):
        with open(self.path("samples.txt"), "w", encoding="ascii") as file:
            file.write(exposition())
        made = subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", "--quiet", self.path("samples.txt"),
                               self.path("data")], capture_output=True, text=True, timeout=60, check=False)
        if made.returncode:
            raise AssertionError(made.stderr)
        return super().__enter__()


class Page:
    """The commands of a page in their order, and the lines that are shown below each."""

    def __init__(self, path):
        self.path = path
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            self.lines = file.read().splitlines()
        self.commands = []  # [text, numbers of the lines shown]
        block = None
        for number, line in enumerate(self.lines):
            if line.startswith("```"):
                block, has_command = None if block is not None else line[3:], False
            elif block == "sh" and line.strip():
                self.commands.append((re.sub(r"\s+# .*", "", line), []))
            elif block == "" and line.startswith("$ "):
                self.commands.append((line[2:], []))
                has_command = True
            elif block == "" and has_command:
                self.commands[-1][1].append(number)


def is_shown(shown, printed):
    """Whether a printed line is what the page shows."""
    if "..." in shown:
        return re.fullmatch(".*".join(map(re.escape, shown.split("..."))), printed) is not None
    if NUMBER.sub("0", " ".join(shown.split())) != NUMBER.sub("0", " ".join(printed.split())):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed))
    return all(abs(float(one) - float(two)) <= 0.005 * abs(float(one)) for one, two in pairs)


class Runner(contextlib.ExitStack):
    """A directory in which the commands of pages are run, as a user's."""

    def __init__(self, server):
        super().__init__()
        self.directory = scratch_directory()
        self.callback(shutil.rmtree, self.directory)
        os.makedirs(self.path("sys/class"))
        os.symlink(os.path.join(ROOT, "data"), self.path("data"))
        for name in ("today.csv", "another-day.csv"):
            os.symlink(NX12, self.path(name))
        with open(self.path("node_type_index.json"), "w", encoding="ascii") as file:
            file.write(TYPES)
        self.texts = {"http://prometheus:9090": server, "/etc/kepler/models": self.path("models")}
        programs = os.path.dirname(os.path.abspath(os.environ["KEPLER_MODEL_BIN"]))
        self.environment = {**os.environ, "PWD": self.directory, "PATH": f"{programs}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}

    def path(self, name):
        return os.path.join(self.directory, name)

    def run(self, command):
        """What it prints, in the words of the page."""
        for shown, actual in self.texts.items():
            command = command.replace(shown, actual)
        if command.startswith("kepler "):
            self.start(command.split()[1:])
            return ""
        ended = subprocess.run(["bash", "-c", command], cwd=self.directory, env=self.environment, text=True, timeout=120,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        printed = ended.stdout
        for shown, actual in self.texts.items():
            printed = printed.replace(actual, shown)
        return printed

    def start(self, arguments):
        """An agent on a machine without a meter, in place of one that was started before."""
        arguments = [argument.replace("$PWD", self.directory) for argument in arguments]
        agent = Agent("--host.sysfs", self.path("sys"), "--monitor.interval=300ms", "--model.cache-dir=", *arguments,
                      config="model: {guestIdle: true}\n")
        self.enter_context(agent)
        self.texts["localhost:28282"] = f"127.0.0.1:{agent.port}"
        wait_until(lambda: agent.scrape().series("kepler_node_cpu_watts"), "watts")


def compare(shown, printed):
    """The first shown line that is not printed behind the one before it, or None."""
    rest = iter(printed)
    for line in shown:
        if not any(is_shown(line, other) for other in rest):
            return line
    return None


def rewrite(page, results):
    """Puts into the page, for each shown line, the line most like it that was printed behind the one before it."""
    for numbers, printed in results:
        place = 0
        for number in numbers:
            shown = page.lines[number]
            if any(is_shown(shown, line) for line in printed[place:]) and "..." in shown:
                continue
            likeness = [difflib.SequenceMatcher(None, NUMBER.sub("0", shown), NUMBER.sub("0", line)).ratio()
                        for line in printed[place:]]
            if likeness:
                place += likeness.index(max(likeness))
                line = printed[place]
                page.lines[number] = re.sub(r"auto\(.*\)", "auto(...)", line) if "auto(...)" in shown else line
                place += 1
    with open(os.path.join(ROOT, page.path), "w", encoding="utf-8") as file:
        file.write("\n".join(page.lines) + "\n")


def run_page(page, server):
    """(command, numbers of shown lines, printed lines) of each command that is run."""
    with Runner(server) as runner:
        for command, numbers in page.commands:
            if command.startswith(NOT_RUN):
                continue
            printed = runner.run(command).splitlines()
            yield command, [] if command.startswith(NOT_COMPARED) else numbers, printed


class Pages(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        require(shutil.which("promtool"), "promtool is not installed")
        cls.prometheus = cls.enterClassContext(Recorded())
        cls.server = f"http://127.0.0.1:{cls.prometheus.port}"

    def check(self, path):
        page = Page(path)
        self.assertGreater(len(page.commands), 8)
        for command, numbers, printed in run_page(page, self.server):
            with self.subTest(page=path, command=command):
                self.assertIsNone(compare([page.lines[number] for number in numbers], printed),
                                  "\n".join(["is not printed; run tests/e2e/test_model_pages.py --write. Printed:", *printed]))
                if not numbers:  # nothing shows that it should fail
                    self.assertNotRegex("\n".join(printed), r"(?m)^kepler-model: error|^kepler-model: .*(cannot|No such file)")

    def test_model(self):
        self.check("docs/model.md")

    def test_from_one_machine_to_another(self):
        self.check("docs/model-for-another-machine.md")

    def test_what_is_not_printed_is_found(self):
        printed = ["a 10.00 x", "b 7", "kepler_model_info{zone=\"package\"} 1"]
        self.assertIsNone(compare(["a 10.01 x", "kepler_model_info{...} 1"], printed))
        self.assertEqual(compare(["a 10.2 x"], printed), "a 10.2 x")
        self.assertEqual(compare(["b 7", "a 10.00 x"], printed), "a 10.00 x")
        self.assertEqual(compare(["c"], printed), "c")


def write_pages():
    with Recorded() as prometheus:
        for path in PAGES:
            page = Page(path)
            rewrite(page, [(numbers, printed) for _, numbers, printed in
                           run_page(page, f"http://127.0.0.1:{prometheus.port}") if numbers])
            print(path, "written")


if __name__ == "__main__":
    if "--write" in sys.argv:
        write_pages()
    else:
        run_tests()
