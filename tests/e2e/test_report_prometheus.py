"""kepler report --prometheus: what a real server has scraped adds up to the counters of the agents, whatever happens meanwhile."""
import contextlib
import datetime
import itertools
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
import unittest
from decimal import Decimal

from harness import Agent, free_port, run_tests, wait_until
from http_double import Double, make_certificate
from prometheus import Prometheus, replace_once
from test_report import lines_of, report
from test_teams import TEAMS, page as page_of_teams, scraped

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
AGENT = "cpu: {preferredMeters: [fake]}\nmonitor: {interval: 1s}\n"
NODE = 'kepler_node_cpu_joules_total{zone="package"}'
EMPTY = '{"status":"success","data":{"resultType":"matrix","result":[]}}'


def page():
    """The configuration of the server and the command, as docs/report.md has them."""
    with open(os.path.join(ROOT, "docs", "report.md"), encoding="utf-8") as file:
        section = file.read().split("## From a Prometheus server")[1].split("\n## ")[0]
    server, = re.findall(r"^```yaml\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    command, = re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return replace_once(server, "scrape_interval: 15s", "scrape_interval: 1s"), shlex.split(command)


def milliseconds(text):
    return round(datetime.datetime.fromisoformat(text).timestamp() * 1000)


def of(instance):
    """The series of the node that the server has from that target."""
    return NODE.replace("}", f',instance=~"{instance}.*"}}')


def joules(server, time_text, instance=""):
    """The energy of the node in the last scrape at that time, as the server has it."""
    values = server.at(of(instance), milliseconds(time_text))
    value, = values.values()
    return round(Decimal(value), 6)


def work(seconds):
    """Long and short processes."""
    until = time.monotonic() + seconds
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as busy:
        while time.monotonic() < until:
            subprocess.run(["sh", "-c", "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done"], check=True)
        busy.kill()


class ReportFromPrometheus(unittest.TestCase):
    def options(self, server, *more):
        command = page()[1]
        return [f"--prometheus=http://127.0.0.1:{server.port}" if option.startswith("--prometheus=") else option
                for option in command[2:] if not option.startswith("--by=")] + list(more)

    def settled(self, server, scrapes, series=NODE):
        """Waits for that number of scrapes that had energy."""
        wait_until(lambda: server.query(f"sum(count_over_time({series}[1h]))") >= [scrapes], f"{scrapes} scrapes", 60)

    def check_gaps(self, server, gaps):
        """A busy machine may delay scrapes of the server. Each gap has none."""
        times = [round(1000 * float(at)) for series in server.ask(query=f"{NODE}[1h]") for at, _ in series["values"]]
        for gap in gaps:
            begin, end = milliseconds(gap["from"]), milliseconds(gap["to"])
            self.assertGreater(end - begin, 2000, "more than one scrape is missing")
            self.assertEqual([at for at in times if begin < at < end], [], gap)

    def test_sums_are_the_counters_of_the_agent(self):
        with Agent(config=AGENT) as agent, Prometheus(agent.port, config=page()[0]) as server:
            self.settled(server, 2)
            work(4)
            self.settled(server, 6)
            middle = datetime.datetime.now(datetime.timezone.utc).isoformat()
            work(3)
            # The agent started within the period: all of its energy is in the report.
            for by in ("process", "container", "vm", "node"):
                made, total = lines_of(*self.options(server, f"--by={by}"))
                self.assertEqual(total, joules(server, made["to"]), by)
                self.assertEqual((made["incomplete_ticks"], made["impossible_ticks"], made["notes"]), (0, 0, []))
                self.check_gaps(server, made["gaps"])
            self.assertLessEqual(total, Decimal(str(agent.scrape().value("kepler_node_cpu_joules_total", zone="package"))))
            made, _ = lines_of(*self.options(server, "--by=process"))
            rows = {line["name"]: line["joules"] for line in made["lines"] if line["kind"] == "process"}
            self.assertGreater(rows["sh"], 0)
            # Two periods that meet are one; the first tick of the second is the last of the first.
            first, before = lines_of(*self.options(server, "--by=process", f"--to={middle}"))
            later = [option for option in self.options(server, "--by=process") if not option.startswith("--from=")]
            second, after = lines_of(*later, f"--from={middle}", f"--to={made['to']}")
            self.assertEqual(first["to"], second["from"])
            self.assertEqual(before + after, joules(server, second["to"]))
            self.assertEqual(after, joules(server, second["to"]) - joules(server, second["from"]))

    def test_restart_and_holes_are_named(self):
        config = page()[0]
        first, second = free_port(), free_port()
        with Prometheus(first, second, config=config) as server:
            with self.agent(first):
                self.settled(server, 6)
                os.kill(server.process.pid, signal.SIGSTOP)
                try:
                    work(8)
                finally:
                    os.kill(server.process.pid, signal.SIGCONT)
                self.settled(server, 8)
            time.sleep(3)
            begun = time.time()
            with self.agent(second):
                ready = time.time()
                self.settled(server, 4, of(f"127.0.0.1:{second}"))
                made, total = lines_of(*self.options(server, "--by=process"))
            down, = [time_ for time_ in made["downtimes"] if milliseconds(time_["to"]) > milliseconds(made["from"])]
            last = joules(server, down["from"], f"127.0.0.1:{first}")
            self.assertEqual(total, last + joules(server, made["to"], f"127.0.0.1:{second}"))
            self.assertGreaterEqual(milliseconds(down["to"]) / 1000, begun - 1)
            self.assertLessEqual(milliseconds(down["to"]) / 1000, ready + 1)
            self.assertTrue(made["gaps"], made)
            self.assertEqual((made["impossible_ticks"], made["notes"]), (0, []))
            self.assertIn("no ticks from", report(*self.options(server, "--by=node")).stdout)

    def test_namespaces_and_pods_whatever_the_labels_of_the_target(self):
        honors = page_of_teams("yaml")[1]
        for config in (honors, replace_once(honors, "    honor_labels: true\n", "")):
            with scraped(config) as server:
                # Pods of other tests on this machine are there from the first scrape on, without names.
                for team in TEAMS:
                    named = f'{{__name__="kepler_pod_cpu_joules_total",namespace="{team}"}} or ' \
                            f'{{__name__="kepler_pod_cpu_joules_total",exported_namespace="{team}"}}'
                    wait_until(lambda server=server, named=named: server.query(named), f"the pod of {team}", 60, period=0.5)
                self.settled(server, 5)
                for by, names in (("namespace", TEAMS), ("owner", TEAMS), ("pod", [f"{team}/{one.name}" for team, one in TEAMS.items()])):
                    made, total = lines_of(f"--prometheus=http://127.0.0.1:{server.port}", "--from=1h", f"--by={by}")
                    self.assertEqual(total, joules(server, made["to"]))
                    self.assertEqual((made["impossible_ticks"], made["incomplete_ticks"]), (0, 0))
                    rows = {line["name"]: line["joules"] for line in made["lines"] if line["kind"] == by}
                    if by == "owner":
                        rows = {name.split("/Deployment/")[0]: row for name, row in rows.items()}
                    # Pods of other tests on this machine have no name here, and rows with their ids or those of their owners.
                    named = {name for name in rows if by != "pod" or name.split("/")[0] in TEAMS}
                    self.assertEqual(named, set(names), by)
                    if by == "namespace":
                        series = f'sum by (namespace, exported_namespace) (kepler_namespace_cpu_joules_total{{zone="package"}} @ {milliseconds(made["to"]) / 1000})'
                        used = {labels.get("exported_namespace", labels["namespace"]): value for labels, value in
                                ((one["metric"], round(Decimal(one["value"][1]), 6)) for one in server.ask(query=series))}
                        for team in TEAMS:
                            self.assertEqual(rows[team], used[team])
                            self.assertGreater(rows[team], 0)

    @contextlib.contextmanager
    def agent(self, port):
        agent = Agent(config=AGENT)
        agent.args = [arg.replace(f":{agent.port}", f":{port}") for arg in agent.args]
        agent.port = port
        with agent:
            yield agent

    def test_projects_are_those_of_the_metadata_of_machines(self):
        node, scrapes = 'node_name="n1",zone="package"', itertools.count(1)
        projects = {"web": ("p1", "shop"), "db": ("p1", "shop"), "ci": ("p2", "build"), "old": ("", "")}

        def host(path, query):
            n = next(scrapes)
            lines = [f'kepler_node_cpu_{name}joules_total{{{node}}} {n * joules}'
                     for name, joules in (("", 16), ("active_", 15), ("idle_", 1), ("unattributed_", 0))]
            lines.append(f'kepler_node_cpu_unlisted_joules_total{{level="vm",reason="departed",{node}}} 0')
            for i, (name, (project_id, project)) in enumerate(projects.items()):
                vm = f'hypervisor="kvm",vm_id="{i}",vm_name="i-{i}"'
                lines.append(f'kepler_vm_cpu_joules_total{{state="running",{vm},{node}}} {n << i}')
                lines.append(f'kepler_vm_info{{instance_name="{name}",node_name="n1",project_id="{project_id}",project_name="{project}",{vm}}} 1')
            return 200, "".join(f"{line}\n" for line in lines)
        with Double(host) as double, Prometheus(double.port, config=page()[0]) as server:
            self.settled(server, 4)
            made, total = lines_of(*self.options(server, "--by=project"))
            times = total // 16
            self.assertGreater(times, 1)
            self.assertEqual({line["name"]: line["joules"] for line in made["lines"] if line["kind"] == "project"},
                             {"shop (p1)": 3 * times, "build (p2)": 4 * times, "(no project)": 8 * times})
            self.assertEqual((made["impossible_ticks"], made["incomplete_ticks"]), (0, 0))

    def test_answers_that_are_no_answers(self):
        zones = '{"status":"success","data":["package"]}'

        def server(ranges, status=200):
            return Double(lambda path, query: (200, zones) if "/label/" in path else (status, ranges))
        series = '{"metric":{"__name__":"kepler_node_cpu_joules_total","node_name":"n","zone":"package"},"values":[[%d,"%s"]]}'
        answer = '{"status":"success","data":{"resultType":"matrix","result":[%s]}}'
        now = time.time()
        for ranges, status, says in (
                (EMPTY, 200, "has no samples of zone package"),
                ('{"status":"error","errorType":"bad_data","error":"bad matcher"}', 400, "answered 400: bad matcher"),
                ("no such page", 404, "answered 404: no such page"),
                (EMPTY[:-9], 200, "parse JSON"),
                ("<html>log in</html>", 200, "HTML, not JSON"),
                ('{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"2"]}]}}', 200, "values"),
                (answer % (series % (now, "-1")), 200, "-1 is not a number of joules"),
                (answer % (series % (now, "x")), 200, "\"x\" is not a number"),
                (answer % (series % (now, "1")).replace("node_name", "node"), 200, "no label node_name")):
            with server(ranges, status) as double:
                ended = report(f"--prometheus={double.url}", "--from=1h", "--by=node", code=1)
                self.assertIn(says, ended.stderr)
                self.assertIn(double.url, ended.stderr)
                self.assertEqual(ended.stdout, "")
        with Double(lambda path, query: (200, '{"status":"success","data":[]}')) as double:
            self.assertIn("has no energy of nodes in the period", report(f"--prometheus={double.url}", "--from=1h", code=1).stderr)
        with server(EMPTY) as double:
            self.assertIn("has no zone 'x'; it has package",
                          report(f"--prometheus={double.url}", "--from=1h", "--by=node", "--zone=x", code=1).stderr)

    def test_ranges_that_are_too_large_are_halved(self):
        seen = []

        def answer(path, query):
            if "/label/" in path:
                return 200, '{"status":"success","warnings":["zones are missing"],"data":["package"]}'
            length = int(re.search(r"\[(\d+)ms\]", query["query"]).group(1)) / 1000
            end = float(query["time"])
            seen.append((end - length, end))
            if length > 1000:
                return 422, '{"status":"error","error":"query processing would load too many samples into memory"}'
            times = range(int((end - length) // 15 + 1) * 15, int(end) + 1, 15)
            values = ",".join(f'[{at},"{at - 1000000000}.5"]' for at in times)
            return 200, ('{"status":"success","warnings":["a store is down"],"data":{"resultType":"matrix","result":[{"metric":{"__name__":'
                         f'"kepler_node_cpu_joules_total","node_name":"n","zone":"package"}},"values":[{values}]}}]}}}}')
        with Double(answer) as double:
            made, total = lines_of(f"--prometheus={double.url}", "--from=1700000000", "--to=1700010000", "--by=node")
            for warning in ("a store is down", "zones are missing"):
                self.assertIn(f"{double.url} warns: {warning}", made["notes"])
        self.assertEqual((total, made["ticks"]), (1700010000 // 15 * 15 - 1700000000 // 15 * 15, 667))
        self.assertTrue(any(end - begin > 1000 for begin, end in seen))
        self.assertLess(len(seen), 50)

    def test_a_server_that_always_runs_out_of_time_is_given_up_without_waits(self):
        asked = []

        def answer(path, query):
            if "/label/" in path:
                return 200, '{"status":"success","data":["package"]}'
            asked.append(query["query"])
            return 503, '{"status":"error","errorType":"timeout","error":"query timed out in expression evaluation"}'
        with Double(answer) as double:
            ended = report(f"--prometheus={double.url}", "--from=1h", "--by=node", code=1)
        self.assertIn("query timed out in expression evaluation", ended.stderr)
        self.assertNotIn("retrying", ended.stderr)
        self.assertEqual(len(asked), len(set(asked)), "each range is asked for once")

    def test_tls_and_logins(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        files, secret = make_certificate(folder), f"{folder}/secret"
        with open(secret, "w", encoding="ascii") as file:
            file.write("open sesame\n")
        with Double(lambda path, query: (200, '{"status":"success","data":[]}')) as double:
            plain = report(f"--prometheus={double.url}", "--from=1h", "--user=me", f"--password-file={secret}", code=1)
            self.assertIn("use https", plain.stderr)
            self.assertEqual(double.logins, set())
        with Double(lambda path, query: (200, '{"status":"success","data":[]}'), files) as double:
            there = [f"--prometheus={double.url}", "--from=1h"]
            self.assertIn("certificate", report(*there, code=1).stderr)
            for login, header in ((["--user=me", f"--password-file={secret}"], "Basic bWU6b3BlbiBzZXNhbWU="), ([], None)):
                double.logins.clear()
                self.assertIn("has no energy of nodes", report(*there, f"--ca-file={files[0]}", *login, code=1).stderr)
                self.assertEqual(double.logins, {header})

    def test_wrong_calls(self):
        there = "--prometheus=http://127.0.0.1:1"
        for code, arguments, says in ((2, [there], "from: is required with --prometheus"),
                                      (2, [there, "--from=1h", "file"], "cannot be combined with files"),
                                      (2, ["--prometheus=ftp://x", "--from=1h"], "prometheus"),
                                      (2, [there, "--from=1h", "--user=a"], "password-file"),
                                      (1, [there, "--from=1h", "--ca-file=/nowhere"], "/nowhere"),
                                      (2, [there, "--from=2099-01-01T00:00:00Z"], "--from: must be before now"),
                                      (1, [there, "--from=1h"], "127.0.0.1:1")):
            self.assertIn(says, report(*arguments, code=code).stderr)


if __name__ == "__main__":
    run_tests()
