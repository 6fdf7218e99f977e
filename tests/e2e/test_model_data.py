"""kepler-model query, extract and isolate: from a running agent and a real Prometheus to a table that train
reads, and what is said where servers and recordings are not as they should be."""
import base64
import csv
import json
import os
import random
import statistics
import threading
import time

from harness import Repeater, end, python_child, run_tests, wait_until
from http_double import Double, make_certificate
from powercap import PowercapTree, metered_agent
from prometheus import Prometheus
from test_model import ModelTest, run

NODE = 'node_name="worker"'


class Machine:
    """What an agent on a machine would expose: 20 W at rest, and 10 W for each busy CPU."""

    def __init__(self, path_label="intel-rapl:0"):
        self.lock = threading.Lock()
        self.dice = random.Random(1)
        self.path_label = path_label
        self.scrapes = 0
        self.restart()

    def restart(self):
        self.last = time.monotonic()
        self.cpu = self.joules = 0.0
        self.busy = 1.0

    def text(self):
        with self.lock:
            now = time.monotonic()
            self.scrapes += 1
            self.cpu += self.busy * (now - self.last)
            self.joules += (20 + 10 * self.busy) * (now - self.last)
            self.last = now
            self.busy = self.dice.uniform(0, 4)
            lines = [f"kepler_node_cpu_seconds_total{{{NODE}}} {self.cpu:.9f}",
                     f"kepler_node_cpu_cycles_total{{{NODE}}} {int(self.cpu * 3e9)}",
                     f'kepler_node_cpu_joules_total{{{NODE},path="{self.path_label}",zone="package"}} {self.joules:.6f}']
            lines += [f'kepler_node_softirqs_total{{{NODE},type="{kind}"}} {int(self.cpu * 100)}'
                      for kind in ("block", "net_rx", "net_tx")]
        return "".join(f"# TYPE {line.split('{')[0]} counter\n{line}\n" for line in lines)


def answer_of(series, status="success"):
    result = [{"metric": labels, "values": values} for labels, values in series]
    return json.dumps({"status": status, "data": {"resultType": "matrix", "result": result}})


class DataTest(ModelTest):
    def succeed(self, *arguments, **options):
        ended = run(*arguments, **options)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def refused(self, *arguments, code=1, **options):
        """The one line that says why."""
        before = sorted(os.listdir(self.directory))
        ended = run(*arguments, **options)
        self.assertEqual((ended.returncode, ended.stdout), (code, ""), ended.stderr)
        self.assertEqual(sorted(os.listdir(self.directory)), before, "nothing may be left behind")
        if code == 1:
            lines = [line for line in ended.stderr.splitlines() if "; retrying in " not in line]
            self.assertEqual(len(lines), 1, ended.stderr)
        return ended.stderr

    def table(self, name):
        with open(self.path(name), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def assert_power_of_machine(self, rows):
        """20 W at rest and 10 W for each busy CPU. If a busy machine delays a scrape or the meter, one row gets energy of the
        next one."""
        expected = [20 + float(row["bpf_cpu_time_ms"]) / 100 for row in rows]
        measured = [float(row["package_power"]) for row in rows]
        self.assertAlmostEqual(sum(measured) / sum(expected), 1, delta=0.05)
        self.assertLess(statistics.median(abs(a / b - 1) for a, b in zip(measured, expected)), 0.05)

    def query(self, url, *arguments):
        return json.loads(self.succeed("query", f"--server={url}", f"--output={self.path('raw.json')}", "--json",
                                       *arguments))

    def extract(self, *arguments, raw="raw.json"):
        return json.loads(self.succeed("extract", f"--input={self.path(raw)}", f"--output={self.path('table.csv')}",
                                       "--json", *arguments))


class FromPrometheus(DataTest):
    def test_a_real_prometheus_gives_a_model_of_the_machine(self):
        machine = Machine()
        with Double(lambda *_: (200, machine.text())) as exporter, Prometheus(exporter.port) as prometheus:
            wait_until(lambda: prometheus.scrapes() >= 22, "22 scrapes", 60, period=0.2)
            url = f"http://127.0.0.1:{prometheus.port}"
            said = self.query(url, "--last=60s", "--step=1s")
            self.assertEqual((said["metrics"], said["names"], said["series"]), ("kepler", 4, 6))
            none = run("query", f"--server={url}", "--last=10s", "--node=another", f"--output={self.path('none.json')}")
            self.assertIn("no samples at that time of that node", none.stderr)
            bad = run("query", f"--server={url}", "--last=10s", "--match=job=", f"--output={self.path('none.json')}")
            self.assertEqual(bad.returncode, 1)
            self.assertRegex(bad.stderr, r"answered 400: .*parse error")
        said = self.extract()
        self.assertGreaterEqual(said["rows"], 15)
        self.assertEqual(said["columns"], ["bpf_block_irq", "bpf_cpu_time_ms", "bpf_net_rx_irq", "bpf_net_tx_irq",
                                           "cpu_cycles", "package_power"])
        self.assertEqual({row["node"] for row in self.table("table.csv")}, {"worker"})
        self.assert_power_of_machine(self.table("table.csv"))
        figures = json.loads(self.succeed("train", f"--data={self.path('table.csv')}", "--features=bpf_cpu_time_ms",
                                          "--trainer=linear", f"--output={self.path('model')}", "--json"))
        self.assertGreater(figures["r2"], 0.9)


def busy_seconds():
    """Of all processors since the boot, as /proc/stat counts them: user, nice, system, irq, softirq."""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(text) for text in file.readline().split()[1:]]
    return sum(ticks[place] for place in (0, 1, 2, 5, 6)) / os.sysconf("SC_CLK_TCK")


class Metered(Repeater):
    """A meter that counts 20 W, and 10 J for each busy second of a processor."""

    def __init__(self, tree):
        super().__init__(pause=0.02)
        self.tree = tree
        self.last = (time.monotonic(), busy_seconds())

    def step(self):
        now = (time.monotonic(), busy_seconds())
        joules = 20 * (now[0] - self.last[0]) + 10 * (now[1] - self.last[1])
        self.last = now
        self.tree.advance(round(joules * 1e6))


BURN = """
import sys, time
while True:
    end = time.monotonic() + 3
    while time.monotonic() < end: pass
    time.sleep(3)
"""


class FromTheAgent(DataTest):
    """The real agent with a meter of ours, and a real Prometheus that scrapes it."""

    def test_four_commands_make_a_model(self):
        with PowercapTree({"intel-rapl:0": ("package-0", 0)}) as tree, Metered(tree), \
                metered_agent(tree) as agent, Prometheus(agent.port) as prometheus:
            burning = python_child(BURN)
            try:
                wait_until(lambda: prometheus.scrapes() >= 30, "30 scrapes", 90, period=0.2)
            finally:
                end(burning)
            url = f"http://127.0.0.1:{prometheus.port}"
            self.query(url, "--last=60s", "--step=1s")
            collected = json.loads(self.succeed(
                "collect", "--schedule=idle", "--idle=6s", "--interval=1s", "--duration=6s", "--json",
                f"--server=http://127.0.0.1:{agent.port}", f"--output={self.path('collected.csv')}"))
        self.assertGreaterEqual(collected["rows"], 2)
        said = self.extract()
        self.assertIn("package_power", said["columns"])
        self.assertNotIn("platform_power", said["columns"], "an estimate is no label")
        for column in ("bpf_cpu_time_ms", "bpf_net_rx_irq", "bpf_net_tx_irq", "bpf_block_irq"):
            self.assertIn(column, said["columns"])
        self.assert_power_of_machine(self.table("table.csv") + self.table("collected.csv"))
        self.succeed("isolate", f"--input={self.path('table.csv')}", f"--output={self.path('dynamic.csv')}")
        figures = json.loads(self.succeed("train", f"--data={self.path('table.csv')}", "--features=bpf_cpu_time_ms",
                                          "--trainer=linear", f"--output={self.path('model')}", "--json"))
        self.assertLess(figures["mae"], 3)


class FromServers(DataTest):
    """Doubles that answer as a Prometheus would on a bad day."""

    NAMES = ["kepler_node_cpu_joules_total", "kepler_node_cpu_seconds_total", "up"]

    def server(self, answer, tls=None):
        """answer(query) is asked for each range; names are known."""
        def say(path, query):
            if path.endswith("/api/v1/label/__name__/values"):
                return 200, json.dumps({"status": "success", "data": self.NAMES})
            return answer(query)
        return self.enterContext(Double(say, tls))

    @staticmethod
    def steady(query, change=lambda time, value: value):
        start, end, step = (float(query[name]) for name in ("start", "end", "step"))
        rate = 40 if "joules" in query["query"] else 2
        times = [start + i * step for i in range(int((end - start) / step + 1e-6) + 1)]
        labels = {"__name__": "x", "node_name": "worker", "zone": "package"}
        return 200, answer_of([(labels, [[t, str(change(t, rate * t))] for t in times])])

    RANGE = ("--start=1700000000", "--end=1700000600")

    def test_a_million_samples_in_windows_of_eleven_thousand(self):
        asked = []

        def answer(query):
            asked.append(query)
            return self.steady(query)
        said = self.query(self.server(answer).url, "--start=1700000000", "--end=1700499999", "--step=1s")
        self.assertEqual(said["samples"], 1_000_000)
        self.assertEqual(said["series"], 2)
        self.assertEqual(said["queries"], 92)
        for query in asked:
            self.assertLess(float(query["end"]) - float(query["start"]), 11_000)
        self.assertEqual(self.extract()["rows"], 499_998)

    def test_what_extract_could_not_read_is_refused_early(self):
        asked = []

        def answer(query):
            asked.append(query)
            return self.steady(query)
        to = ("query", f"--server={self.server(answer).url}", f"--output={self.path('raw.json')}")
        said = self.refused(*to, "--start=1000000000", "--end=1100000000", "--step=1s")
        self.assertRegex(said, r"would have about \d+ MiB or more, but extract reads at most 1024 MiB")
        self.assertEqual(len(asked), 1)

    def test_whoever_is_busy_is_asked_again(self):
        statuses = [503, 429, 500]

        def answer(query):
            return (statuses.pop(), "busy") if statuses else self.steady(query)
        ended = run("query", f"--server={self.server(answer).url}", *self.RANGE, f"--output={self.path('raw.json')}", "--json")
        self.assertEqual(json.loads(ended.stdout)["retries"], 3)
        self.assertRegex(ended.stderr, r"http://\S+ answered 503; retrying in 2 s \(3 of 4\)\n")

    def test_a_user_with_a_password_over_tls(self):
        files = make_certificate(self.directory)
        double = self.server(self.steady, files)
        for text, password in (("open sesame", "open sesame"), (" open sesame \n", " open sesame ")):
            double.logins.clear()
            self.query(double.url, *self.RANGE, "--user=Aladdin", f"--ca-file={files[0]}",
                       f"--password-file={self.write('password', text)}")
            self.assertEqual(double.logins,
                             {"Basic " + base64.b64encode(f"Aladdin:{password}".encode()).decode()})

    def test_too_many_samples_are_asked_for_in_pieces(self):
        def answer(query):
            if float(query["end"]) - float(query["start"]) > 2000:
                return 422, json.dumps({"status": "error", "errorType": "execution",
                                        "error": "query processing would load too many samples into memory"})
            return self.steady(query)
        said = self.query(self.server(answer).url, "--start=1700000000", "--end=1700010000")
        self.assertEqual(said["samples"], 2 * 2001)
        self.assertEqual(self.extract()["rows"], 1999)

    def test_what_the_server_says_is_shown(self):
        refusal = json.dumps({"status": "error", "errorType": "bad_data", "error": 'parse error: unexpected "}"'})
        to = ("query", *self.RANGE, f"--output={self.path('raw.json')}")
        for status, body, said in ((400, refusal, 'answered 400: parse error: unexpected "}"'),
                                   (401, "Unauthorized\n", "answered 401: Unauthorized"),
                                   (404, "", "answered 404: it gave no reason"),
                                   (302, "", "answered 302: it gave no reason"),
                                   (200, "<html>", "HTML, not JSON"),
                                   (200, "{}", "data.result is missing"),
                                   (200, '{"status":"success","data":{"result":[{"metric":{}', "incomplete JSON"),
                                   (200, answer_of([({}, [[1, "x"]])]), '"x" is not a number'),
                                   (200, answer_of([]), "no samples at that time")):
            with self.subTest(status=status, body=body):
                server = self.server(lambda _, s=status, b=body: (s, b))
                self.assertIn(said, self.refused(*to, f"--server={server.url}"))

    def test_a_server_that_hangs_or_is_not_there(self):
        to = ("query", *self.RANGE, f"--output={self.path('raw.json')}", "--timeout=300ms", "--retries=1")
        begin = time.monotonic()
        self.assertIn("no answer in time", self.refused(*to, f"--server={self.server(lambda _: None).url}"))
        self.assertLess(time.monotonic() - begin, 10)
        with Double(lambda *_: None) as gone:
            pass
        self.assertIn("Connection refused", self.refused(*to, f"--server={gone.url}"))

    def test_servers_without_an_agent(self):
        server = self.enterContext(Double(lambda *_: (200, json.dumps({"status": "success", "data": ["up"]}))))
        self.assertIn("has no metrics of Kepler in that time; check that it scrapes the agent",
                      self.refused("query", *self.RANGE, f"--server={server.url}", f"--output={self.path('raw.json')}"))

    def test_wrong_flags(self):
        to = ("query", "--server=http://127.0.0.1:9", f"--output={self.path('raw.json')}")
        for flags, said in (((), "is missing: set --start or --last"), (("--last=1h", "--start=1"), "cannot be combined with --last"),
                            (("--start=yesterday",), "a time like"), (("--start=20", "--end=10"), "before the end"),
                            (("--last=1h", "--step=0s"), "step"), (("--last=1h", "--user=me"), "set --user and --password-file together"),
                            (("--last=1h", "--user=m:e", "--password-file=x"), "colon"),
                            (("--last=1h", "--user=me", "--password-file=x", "--bearer-token-file=x"), "cannot be combined with --bearer-token-file"),
                            (("--last=1h", "--step=333333us"), "whole milliseconds")):
            with self.subTest(flags=flags):
                self.assertIn(said, self.refused(*to, *flags, code=2))
        said = self.refused("query", "--last=1h", "--server=ftp://x", f"--output={self.path('raw.json')}", code=2)
        self.assertIn("must begin with https:// or http://", said)
        token = self.write("token", "secret\n")
        for flags in ((f"--bearer-token-file={token}",), ("--user=me", f"--password-file={token}")):
            said = self.refused(*to, "--last=1h", *flags)
            self.assertIn("use https", said)
            self.assertNotIn("secret", said)

    def test_restarts_gaps_and_stale_samples(self):
        def change(when, value):
            if 1_700_000_200 <= when < 1_700_000_300:
                return "NaN"
            return value - 1_700_000_400 * (value / when) if when >= 1_700_000_400 else value
        said = self.query(self.server(lambda query: self.steady(query, change)).url, *self.RANGE)
        self.assertEqual(said["not_finite_samples"], 40)
        said = self.extract()
        self.assertEqual((said["dropped"]["reset"], said["dropped"]["gap"]), (1, 1))
        for row in self.table("table.csv"):
            self.assertAlmostEqual(float(row["package_power"]), 40, delta=1e-3)
            self.assertAlmostEqual(float(row["bpf_cpu_time_ms"]), 2000, delta=1e-1)


class FromFiles(DataTest):
    def recording(self, **metrics):
        return self.write("raw.json", json.dumps(metrics))

    @staticmethod
    def line(labels, rate, count=12):
        return {"metric": labels, "values": [[1000 + 5 * i, str(rate * 5 * i)] for i in range(count)]}

    def test_recordings_of_older_kepler(self):
        here = {"instance": "n1", "job": "kepler-exporter"}
        self.recording(
            kepler_container_bpf_cpu_time_ms_total=[self.line({**here, "container_id": c}, 100) for c in "xy"],
            kepler_node_package_joules_total=[
                self.line({**here, "source": source, "package": p, "mode": mode}, watts)
                for source, watts in (("rapl-sysfs", 5), ("trained_power_model", 77)) for p in "01"
                for mode in ("idle", "dynamic")])
        said = self.extract()
        self.assertEqual((said["metrics"], said["rows"]), ("legacy", 10))
        row = self.table("table.csv")[0]
        self.assertEqual((float(row["bpf_cpu_time_ms"]), float(row["package_power"])), (200, 20))

    def test_estimates_are_no_labels(self):
        at = {"node_name": "a"}
        self.recording(kepler_node_cpu_seconds_total=[self.line(at, 1)],
                       kepler_node_cpu_joules_total=[self.line({**at, "zone": "package", "path": "model"}, 9)])
        flags = ("extract", f"--input={self.path('raw.json')}", f"--output={self.path('table.csv')}")
        self.assertIn("raw.json: all energy is estimated by a model", self.refused(*flags))
        self.succeed(*flags, "--allow-estimates")
        self.assertEqual(len(self.table("table.csv")), 10)

    def test_files_that_are_no_recording(self):
        for text, said in (("", "the text is empty"), ("[]", "an object of metrics"), ('{"a":[{"metric":{}}]}', "values"),
                           ("{}", "no energy")):
            with self.subTest(text=text):
                self.write("raw.json", text)
                self.assertIn(said, self.refused("extract", f"--input={self.path('raw.json')}", "--output=-"))
        self.assertIn("are the same file", self.refused("extract", f"--input={self.path('raw.json')}",
                                                f"--output={self.path('raw.json')}"))


class Isolated(DataTest):
    """60 rows of two nodes: 30 W and 50 W at rest, 10 W for each busy CPU."""

    def setUp(self):
        super().setUp()
        lines = ["timestamp,node,bpf_cpu_time_ms,package_power,dram_power,note"]
        for i in range(60):
            for node, rest in (("a", 30), ("b", 50)):
                busy = max(0, i - 20) * 100
                lines.append(f'{1000 + 5 * i},{node},{busy},{rest + busy / 100},{"" if node == "b" else 4},"x, ""y"""')
        lines[9] = lines[9].replace(",30.0,", ",0,")  # one bad reading
        self.data = self.write("data.csv", "\n".join(lines) + "\n")

    def isolate(self, *arguments):
        return json.loads(self.succeed("isolate", f"--input={self.data}", f"--output={self.path('out.csv')}", "--json",
                                       *arguments))

    def rows(self, node):
        return [row for row in self.table("out.csv") if row["node"] == node]

    def assert_dynamic(self, rows):
        for row in rows:
            self.assertAlmostEqual(float(row["package_dynamic_power"]), float(row["bpf_cpu_time_ms"]) / 100, delta=1e-6)

    def test_none_leaves_everything(self):
        self.assertEqual(self.isolate("--method=none")["changed_rows"], 0)
        with open(self.data, encoding="utf-8") as before:
            rows = list(csv.DictReader(before))
        for row, out in zip(rows, self.table("out.csv"), strict=True):
            self.assertEqual({**row, "package_power": float(row["package_power"]), "dram_power": row["dram_power"]},
                             {**out, "package_power": float(out["package_power"]), "dram_power": out["dram_power"]})

    def test_idle_power_of_each_node_is_no_single_reading(self):
        said = self.isolate()
        self.assertIn("a: package_power: 30.000 W, percentile 10 of 20 rows with bpf_cpu_time_ms up to 0",
                      said["taken_off"])
        self.assertEqual((said["changed_rows"], said["clamped_to_0"]), (120, 1))
        self.assert_dynamic(self.rows("a"))
        self.assert_dynamic(self.rows("b"))
        self.assertEqual({row["dram_dynamic_power"] for row in self.rows("b")}, {""})
        self.assertEqual(self.rows("a")[0]["note"], 'x, "y"')

    def test_idle_power_of_each_machine_of_a_table_without_nodes(self):
        with open(self.data, encoding="utf-8") as file:
            text = file.read()
        self.data = self.write("machines.csv", text.replace("node", "machine"))
        self.assertEqual(self.isolate()["changed_rows"], 120)
        self.assert_dynamic(self.table("out.csv"))

    def test_a_model_of_the_result_is_of_dynamic_power(self):
        self.isolate()
        train = ("train", f"--data={self.path('out.csv')}", "--features=bpf_cpu_time_ms", "--trainer=linear",
                 f"--output={self.path('model')}")
        said = json.loads(self.succeed(*train, "--json"))
        self.assertEqual(said["components"]["package"]["target"], "package_dynamic_power")
        with open(self.path("model/model.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["output"], "DynPower")
        self.assertIn("out.csv: column 'package_dynamic_power' is without idle power, so it cannot train an AbsPower model",
                      self.refused(*train, "--power=AbsPower"))
        self.write("mixed.csv", "bpf_cpu_time_ms,package_dynamic_power,dram_power\n" + "1,2,3\n" * 5 + "2,3,4\n" * 5)
        self.assertIn("'dram_power' is not; train two models", self.refused(
            "train", f"--data={self.path('mixed.csv')}", "--features=bpf_cpu_time_ms", "--target=package_power,dram_power",
            f"--output={self.path('mixed')}"))
        judged = json.loads(self.succeed("evaluate", f"--model={self.path('model')}", f"--data={self.path('out.csv')}", "--json"))
        self.assertEqual(judged["components"]["package"]["target"], "package_dynamic_power")
        plotted = self.succeed("plot", f"--model={self.path('model')}", f"--data={self.path('out.csv')}",
                               f"--output={self.path('plot.html')}")
        self.assertIn("120 of 120 rows", plotted)
        self.assertIn("column 'package_dynamic_power' is without idle power already; use the table before isolate",
                      self.refused("isolate", f"--input={self.path('out.csv')}", "--output=-"))

    def test_columns_that_would_become_the_same_are_refused(self):
        self.data = self.write("twice.csv", "bpf_cpu_time_ms,package_power,package_watts\n1,2,3\n2,3,4\n")
        self.assertIn("columns 'package_power' and 'package_watts' are of the same component; remove one",
                      self.refused("isolate", f"--input={self.data}", "--output=-"))

    def test_a_machine_that_never_was_idle_is_told(self):
        self.assertNotIn("the minimum load", " ".join(self.isolate()["taken_off"]))
        self.data = self.write("busy.csv", "bpf_cpu_time_ms,package_power\n900,40\n1000,41\n")
        self.assertIn("package_power: the minimum load is 90 percent of the maximum, so the subtracted watts include more than idle power",
                      self.isolate()["taken_off"])

    def test_profiles(self):
        profile = self.write("profile.json", '{"package": 30, "dram_power": 4}')
        self.isolate("--method=profile", f"--profile={profile}")
        self.assert_dynamic(self.rows("a"))
        idle = self.write("idle.csv", "package_power,dram_power\n29,4\n30,4\n90,4\n")
        self.isolate("--method=profile", f"--idle={idle}")
        self.assert_dynamic(self.rows("a"))
        for text, said in (('{"package": 30}', "has no value for dram"), ('{"package": "x"}', "package: expected a number"),
                           ('{"package": -1}', "cannot be negative"), ("[", "parse JSON")):
            self.write("profile.json", text)
            self.assertIn(said, self.refused("isolate", f"--input={self.data}", "--output=-", "--method=profile",
                                             f"--profile={profile}"))

    def test_background_by_a_model(self):
        self.succeed("train", f"--data={self.data}", "--features=bpf_cpu_time_ms", "--trainer=linear", "--json",
                     f"--output={self.path('model')}")
        idle = self.write("idle.csv", "bpf_cpu_time_ms\n500\n1500\n")
        self.isolate("--method=background", f"--model={self.path('model')}", f"--background={idle}")
        for row in self.rows("b")[40:]:
            self.assertAlmostEqual(float(row["package_dynamic_power"]), float(row["bpf_cpu_time_ms"]) / 100 + 10, delta=1.5)

        with open(self.data, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.data = self.write("with.csv", "\n".join(
            [lines[0] + ",background_bpf_cpu_time_ms", *(line + ",1000" for line in lines[1:])]) + "\n")
        self.isolate("--method=background", f"--model={self.path('model')}")
        self.assertNotIn("background_bpf_cpu_time_ms", self.rows("b")[0])
        for row in self.rows("b")[40:]:
            self.assertAlmostEqual(float(row["package_dynamic_power"]), float(row["bpf_cpu_time_ms"]) / 100 + 10, delta=1.5)

    def test_wrong_flags_and_tables(self):
        to = ("isolate", f"--input={self.data}", "--output=-")
        for flags, said in ((("--method=profile",), "set --profile or --idle"),
                            (("--method=background",), "must be set: the model of the background"),
                            (("--idle=x",), "is for --method=profile"),
                            (("--method=none", "--share=20"), "is for --method=min-idle"),
                            (("--method=none", "--load=x"), "is for --method=min-idle"),
                            (("--method=best",), "min-idle")):
            self.assertIn(said, self.refused(*to, *flags, code=2))
        idle = self.write("idle.csv", "package_power\n30\n")
        for flag in ("--idle", "--profile"):
            self.assertIn("are the same file", self.refused("isolate", f"--input={self.data}", "--method=profile",
                                                       f"{flag}={idle}", f"--output={idle}"))
        self.assertIn("are the same file", self.refused("isolate", f"--input={self.data}", "--method=background", "--model=m",
                                                   f"--background={idle}", f"--output={idle}"))
        self.assertIn("no column 'frequency'", self.refused(*to, "--load=frequency"))
        self.data = self.write("data.csv", "bpf_cpu_time_ms,package_power\n1,inf\n")
        self.assertRegex(self.refused(*to), r"line 2, column \d+ \('package_power'\): 'inf' is not a finite number")
        self.write("data.csv", "bpf_cpu_time_ms,package_power\n1,-2\n2,5\n")
        self.assertIn("power is below 0 W in 1 of 2 rows (the first: line 2, column 'package_power': -2 W)",
                      self.refused(*to))
        self.write("data.csv", "bpf_cpu_time_ms,watt\n1,2\n")
        self.assertIn("no column of watts", self.refused(*to))


if __name__ == "__main__":
    run_tests()
