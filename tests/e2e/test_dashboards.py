"""Dashboards and rules on real data: two agents, a cluster, containers and a virtual machine, a real Prometheus with the
rules. Every query of every panel and variable is asked as Grafana asks it."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
import urllib.request
import xml.etree.ElementTree

import grafana
from harness import Agent, binary, end, require, run_tests, wait_until
from kubernetes import NODE, Cluster, pod
from prometheus import CONFIG, Prometheus, replace_once
from upstream_dashboard import QUERIES, VARIABLES
from workloads import Cgroup

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ROOT / "deploy/rules"
# Names that are allowed, with what is special in PromQL, in regular expressions and in HTML.
ODD = r"""we"b.*[1]\d/(x|y)'+$<b>"""
HOSTILE = ['"', "\\", "a\"b\\'c", ".*", "(", "[", "$pod", "}", "{{", 'x"} or vector(1) #', "ü\u202e", "a\nb", ODD]
# Uses a third of a CPU, and starts short-lived processes.
WORK = "while :; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.05; done"
SETTINGS = {"monitor": {"interval": "1s"},
            "exporter": {"prometheus": {"debugCollectors": ["go", "process"], "metricsLevel": [
                "node", "process", "container", "vm", "pod", "namespace", "owner"]}}}

# Once these have a result, every panel should have data. Other tests have machines of the name "web".
READY = ("count(rate(kepler_ticks_total[10s])) == 2",
         "namespace_owner_zone:kepler_owner_cpu_joules:rate5m",
         *(f"count(sum by ({label}) (sum_over_time({rule}:increase1m{{{label}=~'{plain}|we.b.*'}}[1m])) > 0) == 2"
           for rule, label, plain in (("namespace_zone:kepler_pod_cpu_joules", "pod_namespace", "web"),
                                      ("node_container_zone:kepler_container_cpu_joules", "container_name", "server"),
                                      ("node_vm_zone:kepler_vm_cpu_joules", "vm_name", "guest"))))


class Scene:
    """A node with a meter and workloads, a node with a model, and Prometheus, from the first query of a test on."""

    def __init__(self, stack):
        directory = stack.enterClassContext(tempfile.TemporaryDirectory())
        cluster = stack.enterClassContext(Cluster())
        pods = []
        for number, (name, container) in enumerate((("web", "server"), (ODD, ODD))):
            uid, identifier = f"1b1d9e4e-0a3c-4f0e-9d3c-{os.getpid():011x}{number}", f"{os.getpid():063x}{number}"
            cgroup = stack.enterClassContext(Cgroup(f"/kubepods/burstable/pod{uid}/{identifier}"))
            self.run(stack, subprocess.Popen(["/bin/sh", "-c", cgroup.enter_script() + WORK]))
            pods.append(pod(uid, name, {container: identifier}, namespace=name))
        cluster.pods = pods
        program = f"{directory}/qemu-system-x86_64"
        shutil.copy(shutil.which("dash") or "/bin/sh", program)
        for name in ("guest", ODD):
            self.run(stack, subprocess.Popen([program, "-c", "--", WORK, "-uuid", f"uuid-of-{len(name)}", "-name", name]))
        metered = SETTINGS | {"cpu": {"preferredMeters": ["fake"]}} | json.loads(cluster.config())
        self.agents = [stack.enterClassContext(Agent(config=json.dumps(config)))
                       for config in (metered, SETTINGS | {"cpu": {"preferredMeters": []}, "model": {"guestIdle": True}})]
        self.server = stack.enterClassContext(Prometheus(*(agent.port for agent in self.agents), config=self.config(directory)))
        for query in READY:
            wait_until(lambda query=query: self.server.query(query), query, 60, period=0.5)

    @staticmethod
    def run(stack, process):
        stack.addClassCleanup(end, process)

    @staticmethod
    def config(directory):
        """With the rules as they are, but evaluated each second: "a minute" is three seconds."""
        for path in RULES.glob("*.yaml"):
            text = path.read_text(encoding="utf-8").replace("interval: 1m", "interval: 1s").replace("offset 1m", "offset 3s")
            pathlib.Path(directory, path.name).write_text(text, encoding="utf-8")
        return replace_once(CONFIG, "scrape_interval: 1s\n",
                            f"scrape_interval: 1s\n  evaluation_interval: 1s\nrule_files: ['{directory}/*.yaml']\n")


class Dashboards(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scene = Scene(cls)
        cls.server = cls.scene.server
        cls.dashboards = {path.stem: grafana.Dashboard(path) for path in sorted(grafana.FOLDER.glob("*.json"))}

    def values(self, dashboard, **chosen):
        """Of the node with a meter, where Grafana would choose the first node."""
        one_node = any(one["name"] == "node" and not one["includeAll"] for one in dashboard.variables)
        return dashboard.values(self.server, **({"node": NODE} if one_node else {}) | chosen)

    def ask(self, dashboard, values):
        """(title, samples) of each query."""
        for title, kind, expression in dashboard.queries():
            with self.subTest(dashboard.json["uid"], panel=title, values=values):
                yield title, grafana.samples(self.server, kind, grafana.substituted(expression, values, dashboard.choices))

    def test_every_rule_is_evaluated_and_has_data(self):
        groups = json.loads(self.server.get("/api/v1/rules"))["data"]["groups"]
        rules = [rule for group in groups for rule in group["rules"]]
        self.assertEqual({rule["name"]: rule["lastError"] for rule in rules if rule["health"] != "ok"}, {})
        recorded = {rule["name"] for rule in rules if rule["type"] == "recording"}
        self.assertEqual({name for name in recorded if not self.server.query(f"count({{__name__='{name}'}})")}, set())
        firing = {rule["name"] for rule in rules if rule["type"] == "alerting" and rule["state"] == "firing"}
        self.assertEqual(firing, set())

    def test_every_panel_has_data(self):
        self.assertGreaterEqual(sum(len(list(one.queries())) for one in self.dashboards.values()), 21)
        for dashboard in self.dashboards.values():
            values, options = self.values(dashboard)
            for name, some in options.items():
                self.assertTrue(some, f"{dashboard.json['uid']}: variable {name} has no value")
            for title, found in self.ask(dashboard, values):
                self.assertTrue(found, title)

    def test_the_model_has_an_estimate_within_its_error(self):
        health = self.dashboards["kepler-health"]
        values, _ = self.values(health)
        of_panel = [found[-1] for title, found in self.ask(health, values) if title == "Estimated power and its mean error"]
        upper, estimate, lower = of_panel
        self.assertLess(lower, estimate)
        self.assertLess(estimate, upper)

    def test_odd_names_select_what_they_name(self):
        for uid, name in (("kepler-namespaces", "namespace"), ("kepler-namespaces", "pod"), ("kepler-workloads", "container"),
                          ("kepler-vms", "vm")):
            dashboard = self.dashboards[uid]
            plain = "server" if name == "container" else "guest" if name == "vm" else "web"
            for chosen in (ODD, [ODD], [ODD, plain]):
                values, options = self.values(dashboard, **{name: chosen})
                self.assertLessEqual({ODD, plain}, set(options[name]))
                for title, found in self.ask(dashboard, values):
                    self.assertTrue(found, title)
            selected = next(expression for title, _, expression in dashboard.queries() if title.startswith("Selected"))
            label = {"namespace": "pod_namespace", "pod": "pod_name", "container": "container_name", "vm": "vm_name"}[name]
            values, _ = self.values(dashboard, **{name: ODD})
            series = self.server.ask(query=grafana.substituted(selected, values, dashboard.choices))
            self.assertEqual({one["metric"][label] for one in series}, {ODD})

    def test_hostile_values_select_nothing_and_are_no_error(self):
        for dashboard in self.dashboards.values():
            for hostile in HOSTILE:
                values, _ = self.values(dashboard)
                values |= {name: hostile for name in values}
                for title, found in self.ask(dashboard, values):
                    self.assertEqual(found, [], title)
                self.values(dashboard, **values)  # its queries with these values

    def test_the_dashboard_of_kepler_0_11_has_data(self):
        """Its variables and queries work unchanged."""
        values = {}
        for name, query in VARIABLES.items():
            options = grafana.asked(self.server, grafana.substituted(query, values, {"namespace", "pod", "zone", "vm"}))
            self.assertTrue(options, name)
            values[name] = {"container": "server", "vm": "guest"}.get(name, options[0])
        values |= {"namespace": grafana.ALL, "pod": grafana.ALL, "zone": grafana.ALL,
                   "process": str(self.scene.agents[0].process.pid)}  # which does not end
        metered = self.server.ask(query=f'kepler_pod_informer_pods{{node_name="{NODE}"}}')[0]["metric"]["instance"]
        self.assertIn(metered, grafana.asked(self.server, grafana.substituted(VARIABLES["node"], values, set())))
        values["node"] = metered
        for query in QUERIES:
            with self.subTest(query):
                asked = grafana.substituted(query, values, {"namespace", "pod", "zone", "container", "vm"})
                self.assertTrue(grafana.samples(self.server, "table", asked))
                self.assertTrue(grafana.samples(self.server, "timeseries", asked))
        self.assertEqual(len(re.findall(r"_watts", " ".join(QUERIES))), 19)

    def test_the_pictures_of_the_page_can_be_drawn(self):
        with tempfile.TemporaryDirectory() as directory:
            for uid, dashboard in self.dashboards.items():
                output = f"{directory}/{uid}.svg"
                subprocess.run([sys.executable, ROOT / "tools/dashboards/draw.py", f"http://127.0.0.1:{self.server.port}",
                                grafana.FOLDER / f"{uid}.json", output, f"node={NODE}"], check=True, timeout=60)
                words = [one.text for one in xml.etree.ElementTree.parse(output).iter("{http://www.w3.org/2000/svg}text")]
                self.assertLessEqual({panel["title"] for panel in dashboard.json["panels"]}, set(words))
                self.assertIn("not by Grafana", words[0])


# Writes its arguments, environment and provisioning files to $OUT, and runs until it is killed.
GRAFANA = """#!/bin/sh
{ echo "$@"; env | grep ^GF_; cat "$GF_PATHS_PROVISIONING"/*/*.yaml; } >"$OUT.new"
mv "$OUT.new" "$OUT"
exec sleep 600
"""


class Demo(unittest.TestCase):
    """`make demo`, without the build."""

    def start(self, *names, **environment):
        """The demo, and the port of each program."""
        require(shutil.which("prometheus"), "prometheus is not installed")
        demo = subprocess.Popen([ROOT / "tools/demo.sh"], stdout=subprocess.PIPE, text=True, start_new_session=True,
                                env=os.environ | {"KEPLER_BIN": binary()} | environment)
        self.addCleanup(end, demo)
        return demo, [int(re.search(rf"{name}: .*127\.0\.0\.1:(\d+)", demo.stdout.readline())[1]) for name in names]

    def test_it_shows_where_the_rules_have_data_and_leaves_nothing(self):
        demo, ports = self.start("agent", "Prometheus")
        url = f"http://127.0.0.1:{ports[1]}/api/v1/query?query=node_zone:kepler_node_cpu_watts:sum"

        def has_data():
            with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]["result"]
            return None
        try:
            wait_until(has_data, "data of a rule", 60)
        finally:
            demo.terminate()
            demo.wait(30)
        for port in ports:
            wait_until(lambda port=port: not listens(port), f"the end of what listens on {port}")

    def test_an_installed_grafana_gets_the_data_source_and_the_dashboards(self):
        """A double of Grafana, which only notes how it was started."""
        home = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        program, noted = home / "bin/grafana", home / "noted"
        program.parent.mkdir()
        program.write_text(GRAFANA, encoding="utf-8")
        program.chmod(0o755)
        demo, (_, prometheus, port) = self.start("agent", "Prometheus", "Grafana", GRAFANA_HOME=str(home), OUT=str(noted))
        try:
            wait_until(noted.exists, "the start of Grafana")
        finally:
            demo.terminate()
            demo.wait(30)
        text = noted.read_text(encoding="utf-8")
        for line in (f"server --homepath={home}", f"GF_SERVER_HTTP_PORT={port}", "GF_SERVER_HTTP_ADDR=127.0.0.1",
                     f"url: http://127.0.0.1:{prometheus}", f"path: {grafana.FOLDER}"):
            self.assertRegex(text, rf"(?m)^\s*{re.escape(line)}$")


def listens(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


if __name__ == "__main__":
    run_tests()
