"""Models of guests: what a guest sees, joined with the energy that its host's agent gave its virtual machine, by way of a
real Prometheus and from two recordings; and the model in the agent of the guest."""
import json
import os
import random
import threading
import time

from harness import Agent, run_tests, wait_until
from http_double import Double
from prometheus import Prometheus
from test_model_data import DataTest, run

WATTS_PER_CPU, WATTS_PER_FAULT = 9, 0.0004


def page(samples):
    return "".join(f"# TYPE {name.split('{')[0]} {kind}\n{name} {value:.9f}\n" for name, kind, value in samples)


class Pair:
    """A guest with two CPUs, and its host: 9 W for each busy CPU and 0.4 mW for each page fault a second."""

    def __init__(self):
        self.lock, self.dice = threading.Lock(), random.Random(2)
        self.last = time.monotonic()
        self.cpu = self.faults = self.joules = 0.0
        self.busy, self.rate = 1.0, 1000.0

    def advance(self):
        now = time.monotonic()
        seconds, self.last = now - self.last, now
        self.cpu += self.busy * seconds
        self.faults += self.rate * seconds
        self.joules += (WATTS_PER_CPU * self.busy + WATTS_PER_FAULT * self.rate) * seconds

    def guest(self):
        with self.lock:
            self.advance()
            node = '{node_name="guest"}'
            return page([(f"kepler_node_cpu_seconds_total{node}", "counter", self.cpu),
                         (f"kepler_node_page_faults_total{node}", "counter", self.faults),
                         (f"kepler_node_cpus{node}", "gauge", 2),
                         ('kepler_node_cpu_joules_total{node_name="guest",path="model",zone="package"}', "counter",
                          self.cpu * 77)])

    def host(self):
        with self.lock:
            self.advance()
            self.busy, self.rate = self.dice.uniform(0, 2), self.dice.uniform(0, 5000)
            machine = 'hypervisor="kvm",node_name="host",state="running"'
            return page([('kepler_node_cpu_joules_total{node_name="host",path="p",zone="package"}', "counter", 1e6),
                         ('kepler_node_energy_source_info{node_name="host",path="p",source="rapl",zone="package"}', "gauge",
                          1),
                         (f'kepler_vm_cpu_joules_total{{{machine},vm_id="1-2",vm_name="web-1",zone="package"}}', "counter",
                          self.joules),
                         (f'kepler_vm_cpu_joules_total{{{machine},vm_id="9-9",vm_name="secret",zone="package"}}', "counter",
                          7)])


def recording(**series):
    """A recording of 120 samples, 5 s apart: {metric: [(labels, value by seconds)]}."""
    times = [1_700_000_000 + 5 * i for i in range(120)]
    return {metric: [{"metric": labels, "values": [[t, str(value(t - times[0]))] for t in times]}
                     for labels, value in of_metric] for metric, of_metric in series.items()}


def busy(cpus):
    """CPU seconds of a guest whose load changes each minute."""
    return lambda seconds: cpus * sum(min(max(seconds - 60 * i, 0), 60) * (0.1 + 0.075 * (i * 7 % 10)) for i in range(10))


class GuestModels(DataTest):
    def write_both(self):
        """A guest of 2 CPUs; its host shares 3 W of idle power."""
        node, machine = {"node_name": "guest"}, {"node_name": "host", "vm_id": "1-2", "vm_name": "web-1",
                                                 "state": "running", "zone": "package"}
        self.write("guest.json", json.dumps(recording(
            kepler_node_cpu_seconds_total=[(node, busy(2))], kepler_node_cpus=[(node, lambda _: 2)],
            kepler_node_cpu_joules_total=[({**node, "zone": "package", "path": "model"}, lambda s: 77 * s)])))
        self.write("host.json", json.dumps(recording(
            kepler_vm_cpu_joules_total=[(machine, lambda s: WATTS_PER_CPU * busy(2)(s))],
            kepler_vm_cpu_idle_joules_total=[(machine, lambda s: 3 * s)])))

    def test_one_prometheus_of_host_and_guest(self):
        pair = Pair()
        with (Double(lambda *_: (200, pair.guest())) as guest, Double(lambda *_: (200, pair.host())) as host,
              Prometheus(guest.port, host.port) as prometheus):
            wait_until(lambda: prometheus.scrapes() >= 50, "25 scrapes of both", 90, period=0.2)
            url = f"http://127.0.0.1:{prometheus.port}"
            said = self.query(url, "--last=90s", "--step=1s", "--node=guest", "--vm=web-1")
            self.assertEqual((said["metrics"], said["names"], said["series"]), ("kepler", 5, 5))
            self.succeed("query", f"--server={url}", "--last=90s", "--step=1s", "--vm=1-2",
                         f"--output={self.path('host.json')}")
        with open(self.path("host.json"), encoding="utf-8") as file:
            given = file.read()
        self.assertIn("web-1", given)
        for other in ("secret", "guest", "kepler_node_cpu_joules_total", "kepler_node_cpu_seconds_total"):
            self.assertNotIn(other, given, "of other tenants and of the host, nothing is given away")
        said = self.extract("--vm=web-1")
        self.assertEqual((said["nodes"], said["columns"]),
                         (["guest"], ["bpf_cpu_time_ms", "cores", "page_faults", "package_power"]))
        self.assertGreaterEqual(said["rows"], 15)
        rows = self.table("table.csv")
        joules, busy, faults = (sum(float(row[column]) for row in rows)
                                   for column in ("package_power", "bpf_cpu_time_ms", "page_faults"))
        expected = WATTS_PER_CPU * busy / 1000 + WATTS_PER_FAULT * faults
        self.assertAlmostEqual(joules, expected, delta=0.15 * expected)

    def test_two_recordings_make_a_model_for_the_agent_in_the_guest(self):
        self.write_both()
        host = f"--host={self.path('host.json')}"
        said = self.extract(host, raw="guest.json")
        self.assertEqual(said["columns"], ["bpf_cpu_time_ms", "cores", "package_idle_power", "package_power"])
        self.assertIn("watts of guest are the active share of virtual machine web-1", said["notes"][0])
        for row in self.table("table.csv"):
            self.assertAlmostEqual(float(row["package_power"]), WATTS_PER_CPU * float(row["bpf_cpu_time_ms"]) / 1000,
                                   places=6)
            self.assertEqual((float(row["package_idle_power"]), float(row["cores"])), (3, 2))
        figures = json.loads(self.succeed(
            "train", f"--data={self.path('table.csv')}", "--features=bpf_cpu_time_ms", "--trainer=linear",
            "--power=DynPower", f"--output={self.path('model')}", "--json"))
        self.assertLess(figures["mape"], 1)
        os.makedirs(self.path("sys/class"))
        with Agent("--host.sysfs", self.path("sys"), f"--model.sources={self.path('model')}/model.json") as agent:
            labels, _ = agent.scrape().series("kepler_model_info", zone="package")[0]
        self.assertEqual((labels["name"], labels["scope"]), ("model", "load"))

    def test_guests_of_two_sizes_make_a_model_per_cpu_with_the_error_for_the_other_size(self):
        sizes = {"small": 4, "large": 8}
        self.write("guests.json", json.dumps(recording(
            kepler_node_cpu_seconds_total=[({"node_name": name}, busy(cpus)) for name, cpus in sizes.items()],
            kepler_node_cpus=[({"node_name": name}, lambda _, cpus=cpus: cpus) for name, cpus in sizes.items()],
            kepler_vm_cpu_joules_total=[({"node_name": "host", "vm_id": name, "vm_name": name, "state": "running",
                                          "zone": "package"}, lambda s, n=cpus: WATTS_PER_CPU * busy(n)(s) + n * s)
                                        for name, cpus in sizes.items()])))
        said = self.extract("--vm=small,large", raw="guests.json")
        self.assertEqual(said["nodes"], ["large", "small"])
        figures = json.loads(self.succeed(
            "train", f"--data={self.path('table.csv')}", "--features=bpf_cpu_time_ms", "--trainer=linear", "--per=core",
            "--power=DynPower", f"--output={self.path('model')}", "--json"))
        errors = {one["name"]: one["errors"][0]["mape"] for one in figures["machines"]}
        self.assertEqual({name: round(error, 3) for name, error in errors.items()}, {"small": 0, "large": 0})

    def test_what_is_missing_or_ambiguous_is_said(self):
        self.write_both()
        files = [f"--input={self.path('guest.json')}", f"--output={self.path('table.csv')}"]
        host = f"--host={self.path('host.json')}"
        for flags, says in {
            ("--vm=web-1",): "guest.json: no energy of virtual machines: kepler_vm_cpu_joules_total is missing",
            (host, "--vm=db"): 'host.json: no virtual machine "db"; available: web-1',
            (host, "--vm=host=web-1"): 'no node "host" in the recording of the guests; set --vm=NODE=VM; available: guest',
            (host, "--vm=web-1,1-2"): 'node "guest" has two virtual machines: web-1, 1-2; set one',
        }.items():
            self.assertIn(says, self.refused("extract", *files, *flags))
        self.assertIn("--metrics: legacy metrics have no energy", self.refused("extract", *files, host, "--metrics=legacy",
                                                                            code=2))
        self.write("host.json", '{"kepler_vm_cpu_joules_total": "x"}')
        self.assertIn("host.json: ", self.refused("extract", *files, host))
        self.assertEqual(run("extract", *files, "--host=/nowhere").returncode, 1)


if __name__ == "__main__":
    run_tests()
