"""kepler report: what files of a running agent add up to, also over a restart and with damaged lines."""
import csv
import gzip
import io
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest
from decimal import Decimal

from harness import Agent, binary, run_tests, wait_until
from test_json_lines import CONFIG, read


def report(*arguments, code=0, stdin=None):
    ended = subprocess.run([binary(), "report", *arguments], capture_output=True, text=True, timeout=60, check=False, input=stdin)
    if ended.returncode != code:
        raise AssertionError(f"{arguments}: exit code {ended.returncode}\n{ended.stdout}{ended.stderr}")
    return ended


def lines_of(*arguments):
    made = json.loads(report("--format=json", *arguments).stdout, parse_float=Decimal)
    total, = [line["joules"] for line in made["lines"] if line["kind"] == "total"]
    if sum(line["joules"] for line in made["lines"] if line["kind"] != "total") != total:
        raise AssertionError(f"the lines do not add up: {made}")
    return made, total


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.path = f"{self.folder}/kepler.jsonl"

    def ticks(self, path=None, is_written=False):
        """The energy of the node at each tick."""
        lines = [line for line in read(path or self.path, is_written) if line["level"] == "node" and line["zone"] == "package"]
        return [(line["time"], Decimal(line["joules"])) for line in lines]

    def measure(self, ticks, command="while :; do :; done"):
        """Lets an agent write that many ticks, while short processes run."""
        with Agent(config=CONFIG % (self.path, "")):
            worker = subprocess.Popen(["sh", "-c", command])
            try:
                before = len(self.ticks(is_written=True)) if os.path.exists(self.path) else 0
                wait_until(lambda: os.path.exists(self.path) and len(self.ticks(is_written=True)) >= before + ticks,
                           "ticks in the file")
                for _ in range(100):
                    subprocess.run(["true"], check=True)
            finally:
                worker.kill()
                worker.wait()

    def test_rows_and_rest_are_the_energy_of_the_node(self):
        self.measure(4)
        ticks = self.ticks()
        for by in ("process", "container", "node"):
            made, total = lines_of(f"--by={by}", self.path)
            self.assertEqual(total, ticks[-1][1] - ticks[0][1], by)
            self.assertEqual((made["from"], made["to"]), (ticks[0][0], ticks[-1][0]))
            self.assertEqual(made["incomplete_ticks"], 0)
        names = {line["name"] for line in lines_of("--by=process", self.path)[0]["lines"]}
        self.assertIn("sh", names)
        made, total = lines_of("--by=process", f"--from={ticks[1][0]}", f"--to={ticks[2][0]}", self.path)
        self.assertEqual(total, ticks[2][1] - ticks[1][1])
        # One file twice, and on standard input.
        self.assertEqual(lines_of("--by=process", self.path, self.path)[1], ticks[-1][1] - ticks[0][1])
        with open(self.path, encoding="utf-8") as file:
            self.assertIn("total", report("--by=node", "-", stdin=file.read()).stdout)

    def test_restart_of_the_agent(self):
        self.measure(2)
        first = self.ticks()
        os.rename(self.path, f"{self.path}.1")
        time.sleep(1)
        self.measure(2)
        second = self.ticks()
        made, total = lines_of("--by=process", self.path, f"{self.path}.1")
        self.assertEqual(total, first[-1][1] - first[0][1] + second[-1][1])
        self.assertEqual(len(made["downtimes"]), 1)
        self.assertEqual(made["downtimes"][0]["from"], first[-1][0])

    def test_damaged_lines_are_named_and_left_out(self):
        self.measure(3)
        whole = lines_of("--by=node", self.path)[1]
        with open(self.path, encoding="utf-8") as file:
            lines = file.read().splitlines(keepends=True)
        with open(f"{self.folder}/damaged", "w", encoding="utf-8") as file:
            file.writelines(["<html>\n", *lines, '{"version":1,"time":"20'])
        ended = report("--by=node", "--format=csv", f"{self.folder}/damaged")
        self.assertIn(f"{self.folder}/damaged:1: ", ended.stderr)
        self.assertEqual(len(ended.stderr.splitlines()), 2, f"the line, and the note of the fake meter: {ended.stderr}")
        with open(f"{self.folder}/late", "w", encoding="utf-8") as file:
            file.writelines([*lines, '{"version": x}\n'])
        late = report("--by=node", f"{self.folder}/late")
        self.assertRegex(late.stderr, rf"{self.folder}/late:{len(lines) + 1}: .*near byte 12:")
        rows = list(csv.DictReader(io.StringIO(ended.stdout)))
        self.assertEqual(Decimal(rows[-1]["joules"]), whole)
        with open(f"{self.folder}/other", "w", encoding="utf-8") as file:
            file.write("no JSON\n" * 50)
        ended = report(f"{self.folder}/other", code=1)
        self.assertIn("40 more lines cannot be read", ended.stderr)
        self.assertIn("no line of a node", ended.stderr)

    def test_lines_of_other_tools(self):
        """jq and Python write 0.000082 as 8.2e-05, and some editors begin a file with a byte order mark."""
        self.measure(3)
        whole = lines_of("--by=process", self.path)
        with open(self.path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file.read().splitlines()]
        with open(f"{self.folder}/python", "w", encoding="utf-8-sig") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        with open(f"{self.folder}/exponents", "w", encoding="utf-8") as file:
            file.writelines(re.sub(r'(joules": |package": )([\d.e-]+)', lambda found: f"{found[1]}{Decimal(found[2]):E}", json.dumps(line)) + "\n"
                            for line in lines)
        for path in (f"{self.folder}/python", f"{self.folder}/exponents"):
            self.assertEqual(report("--by=process", path).stderr, "")
            self.assertEqual(lines_of("--by=process", path), whole, path)

    def test_a_level_that_the_file_lacks(self):
        self.measure(2)
        self.assertRegex(report(self.path, code=1).stderr, "no energy of level 'namespace'; use --by=process, container.* or node, or add")

    def test_compressed_and_cut_files(self):
        self.measure(2)
        with open(self.path, encoding="utf-8") as file:
            lines = file.read().splitlines(keepends=True)
        with gzip.open(f"{self.folder}/a.gz", "wt", encoding="utf-8") as file:
            file.writelines(lines)
        ended = report("--by=node", f"{self.folder}/a.gz", code=1)
        self.assertEqual(ended.stderr, f"kepler report: {self.folder}/a.gz: compressed with gzip; use zcat FILE | kepler report -\n")
        self.assertIn("total", report("--by=node", "--", self.path).stdout)

    def test_cost_carbon_and_output(self):
        self.measure(2)
        series = f"{self.folder}/carbon.csv"
        with open(series, "w", encoding="utf-8") as file:
            file.write("time,g_per_kwh\n2020-01-01T00:00:00Z,360\n")
        made, total = lines_of("--by=node", "--price=0.5", f"--carbon={series}", self.path)
        row = made["lines"][-1]
        self.assertAlmostEqual(float(row["cost"]), float(total) / 3.6e6 * 0.5, delta=1e-6)
        self.assertAlmostEqual(float(row["co2_g"]), float(total) / 1e4, delta=1e-5)
        page = f"{self.folder}/report.html"
        report("--by", "process", "--format=html", f"--output={page}", self.path)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(("<script" in text, "<svg" in text), (False, True))

    def test_output_replaces_a_file_and_follows_no_link(self):
        self.measure(2)
        page, link = f"{self.folder}/page", f"{self.folder}/link"
        for content in ("", "old"):
            with open(page, "w", encoding="utf-8") as file:
                file.write(content)
            before = os.stat(page).st_ino
            report("--by=node", f"--output={page}", self.path)
            self.assertNotEqual(os.stat(page).st_ino, before)
        os.symlink(page, link)
        with open(page, "w", encoding="utf-8") as file:
            file.write("precious")
        self.assertIn("symbolic link", report("--by=node", f"--output={link}", self.path, code=1).stderr)
        with open(page, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")
        self.assertIn("total", report("--by=node", "--output=/dev/stdout", self.path).stdout)
        self.assertEqual(sorted(os.listdir(self.folder)), ["kepler.jsonl", "link", "page"])

    def test_a_file_as_standard_input_is_read_from_its_begin(self):
        self.measure(2)
        with open(self.path, encoding="utf-8") as file:
            redirected = subprocess.run([binary(), "report", "--by=node", "--format=csv", "-"], stdin=file, capture_output=True,
                                        text=True, timeout=60, check=False)
        named = report("--by=node", "--format=csv", self.path)
        self.assertEqual((redirected.returncode, redirected.stdout, redirected.stderr), (0, named.stdout, named.stderr))
        self.assertRegex(named.stderr, "^[^\n]+: the energy of zone package is simulated: nothing is measured\n$")

    def test_output_replaces_no_file_that_is_read(self):
        lines, carbon = f"{self.folder}/lines", f"{self.folder}/carbon.csv"
        for path in (lines, carbon):
            with open(path, "w", encoding="utf-8") as file:
                file.write("precious\n")
        os.link(lines, f"{self.folder}/hard")
        os.symlink(lines, f"{self.folder}/soft")
        for output, arguments in ((lines, ["-"]), (lines, ["/dev/stdin"]), (f"{self.folder}/hard", ["-"]), (lines, [f"{self.folder}/hard"]),
                                  (lines, [f"{self.folder}/soft"]), (carbon, [f"--carbon={carbon}", lines])):
            with open(lines, encoding="utf-8") as file:
                ended = subprocess.run([binary(), "report", "--by=node", f"--output={output}", *arguments], stdin=file,
                                       capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((ended.returncode, ended.stdout), (1, ""), (output, arguments))
            self.assertIn(f"{output}: --output is one of the files to read", ended.stderr)
        for path in (lines, carbon):
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), "precious\n")

    def test_pipes_and_devices(self):
        self.measure(2)
        pipe = f"{self.folder}/pipe"
        os.mkfifo(pipe)
        with subprocess.Popen([binary(), "report", "--by=node", pipe], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as waiting:
            self.assertIn(f"{pipe}: the pipe has no data yet", waiting.stderr.readline())
            with open(self.path, encoding="utf-8") as file, open(pipe, "w", encoding="utf-8") as out:
                out.write(file.read())
            self.assertIn("total", waiting.communicate(timeout=60)[0])
            self.assertEqual(waiting.returncode, 0)
        self.assertIn("a device", report("/dev/zero", code=1).stderr)

    def test_help_has_only_flags_of_its_own(self):
        text = report("--help").stdout
        self.assertIn("--output", text)
        self.assertNotIn("--config", text)
        self.assertIn("unknown long flag", report("--config.file=x", "y", code=2).stderr)

    def test_example_of_the_page(self):
        page = pathlib.Path(__file__).parents[2] / "docs/report.md"
        example = re.search(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)[1]
        config = f"{self.folder}/config.yaml"
        with open(config, "w", encoding="utf-8") as file:
            file.write(example.replace("/var/lib/kepler", self.folder))
        checked = subprocess.run([binary(), f"--config.file={config}", "--config.check"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_wrong_calls(self):
        for code, arguments, says in ((2, [], "no file"), (2, ["--by=rack", "x"], "--by"), (1, ["/nowhere"], "/nowhere"),
                                      (2, ["--zone=package", "--zone=package", "x"], "'package' is named twice"),
                                      (2, ["--zone=package", "--zone=core", "x"], "'package' and 'core' overlap"),
                                      (2, ["--zone=package,core", "x"], "'package' and 'core' overlap"),
                                      (2, ["--from=then", "x"], "--from"),
                                      (2, ["--from=2027", "x"], "a year or a day alone"), (2, ["--price=-1", "x"], "--price"),
                                      (2, ["--price=0,30", "x"], "the decimal sign is a point, so write 0.30"),
                                      (2, ["--carbon=380,5", "x"], "the decimal sign is a point, so write 380.5"),
                                      (2, ["--price=", "x"], "--price: is empty"), (2, ["--carbon=", "x"], "--carbon: is empty"),
                                      (2, ["--from=-5h", "x"], "without the minus sign"), (2, ["--to=-1s", "x"], "without the minus sign"),
                                      (1, ["--", "--by=x"], "open --by=x: "), (1, ["--by=node", "--", "-x"], "open -x: "), (2, ["--"], "no file"),
                                      (2, ["--output", "--"], "expected argument"),
                                      (1, ["--carbon=/nowhere", "x"], "/nowhere"),
                                      (1, [f"--output={__file__}", __file__], "one of the files")):
            ended = report(*arguments, code=code)
            self.assertIn(says, ended.stderr)
            self.assertEqual(ended.stdout, "")


if __name__ == "__main__":
    run_tests()
