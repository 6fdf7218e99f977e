"""The exporter of remote write: the figures of a scrape, through servers that are away, throttled or wrong."""
import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import time
import types
import unittest

import exact_totals
from doc_pages import code_blocks
from exposition import microjoules
from harness import Agent, end, free_port, require, run_tests, run_to_end, wait_until
from http_double import make_certificate
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from prometheus import NEWER, THANOS, VICTORIA, Prometheus, ThanosReceive, VictoriaMetrics, replace_once
from push_server import check_refused
from remote_write import WRITTEN, RemoteWriteServer
from remote_write import microjoules as pushed
from workloads import Churn

OUTAGE = int(os.environ.get("KEPLER_E2E_OUTAGE", "3"))  # seconds without a server, where it is a real one
CONFIG = """
cpu: {preferredMeters: [fake]}
monitor: {interval: 1s}
exporter:
  remoteWrite:
    enabled: true
    url: %s
    interval: 1s
"""
# Ended processes are listed, for a short time only, so that many series end.
SHORT_LISTS = ("interval: 1s}", "interval: 1s, minTerminatedEnergyThreshold: 0, terminatedRetention: 2s}")
VERSION_2 = "    version: 2\n"
# Families with values of the moment of a scrape or a push: their series are compared, their values are not.
OF_THE_MOMENT = ("kepler_http_", "kepler_push_", "kepler_config_", "kepler_log_", "process_")
# Families about one page of /metrics.
OF_A_PAGE = ("kepler_cut_series", "kepler_exposed_series", "promhttp_metric_handler_errors_total")
SUMS = ("kepler_node_cpu_joules_total", "kepler_node_cpu_active_joules_total", "kepler_process_cpu_joules_total",
        "kepler_node_cpu_unlisted_joules_total", "kepler_node_cpu_unattributed_joules_total")


def page(language):
    return code_blocks("remote-write.md", language)


def counted(agent, family, **labels):
    return int(agent.scrape().value(family, exporter="remote_write", **labels))


def dropped(agent):
    return {reason: counted(agent, "kepler_push_dropped_points_total", reason=reason)
            for reason in ("queue_full", "refused", "partial")}


def taken_at(scrape):
    """When the figures of a scrape were taken, in milliseconds since the epoch."""
    return int(scrape.value("kepler_snapshot_timestamp_seconds") * 1000)


def scraped_labels(labels):
    """As a server stores them."""
    return tuple(sorted(("exported_instance" if name == "instance" else name, value) for name, value in labels if value))


class Figures(unittest.TestCase):
    def check_same_as_scrape(self, config, extra=""):
        with RemoteWriteServer() as server, Agent(config=config % server.url + extra) as agent:
            def pair():
                scrape = agent.scrape()
                return wait_until(lambda: taken_at(scrape) < max(server.times, default=0), "the next push") and (
                    taken_at(scrape) in server.complete() and (scrape, server.complete()[taken_at(scrape)]))
            scrape, push = wait_until(pair, "a push and a scrape of one tick")
            instance, = {dict(labels)["node_name"] for labels in push if "node_name" in dict(labels)}
            values = {}
            for labels, point in push.items():
                labels = dict(labels)
                self.assertEqual((labels.pop("job"), labels.pop("instance")), ("kepler", instance))
                name = labels.pop("__name__")
                self.assertEqual(point.kind, scrape.types[name])
                values.setdefault(name, {})[tuple(sorted(labels.items()))] = point.value
            expected = {name: {scraped_labels(labels): float(value) for labels, value in family.items()}
                        for name, family in scrape.families.items() if name not in OF_A_PAGE}
            self.assertEqual({name: family.keys() for name, family in values.items()},
                             {name: family.keys() for name, family in expected.items()})
            for name in expected.keys():
                if not name.startswith(OF_THE_MOMENT):
                    self.assertEqual(values[name], expected[name], name)
            for name in SUMS:
                self.assertEqual(pushed(push, name), microjoules(scrape.sum(name)), name)
            self.assertGreater(pushed(push, "kepler_node_cpu_joules_total"), 0)
            return scrape, push

    def test_version_1_has_the_series_and_values_of_a_scrape(self):
        _, push = self.check_same_as_scrape(CONFIG)
        self.assertEqual({point.start for point in push.values()}, {0})

    def test_version_2_has_start_times_too(self):
        scrape, push = self.check_same_as_scrape(CONFIG, VERSION_2)
        self.assertIn("state", {label for labels in push for label, _ in labels})
        for labels, point in push.items():
            if point.kind == "gauge":
                self.assertEqual(point.start, 0)
            elif point.value > 0:
                self.assertTrue(point.time - 60_000 < point.start < point.time, (labels, point))

    def test_exact_totals_have_one_series_without_state(self):
        _, push = self.check_same_as_scrape(replace_once(CONFIG, "exporter:\n", "exporter:\n  prometheus: {exactTotals: true}\n"))
        self.assertNotIn("state", {label for labels in push if dict(labels)["__name__"] == "kepler_process_cpu_joules_total"
                                   for label, _ in labels})

    def test_names_and_labels_are_those_that_the_page_has(self):
        config = replace_once(CONFIG, "exporter:\n", "exporter:\n  prometheus: {names: both, labelNames: kubernetes}\n")
        _, push = self.check_same_as_scrape(config)
        node, = [dict(labels) for labels in push if ("__name__", "kepler_node_package_joules_total") in labels
                 and ("mode", "idle") in labels]
        self.assertEqual(node["exported_instance"], node["node_name"])

    def test_the_configuration_of_the_page_works(self):
        with RemoteWriteServer() as server, Agent(config=replace_once(page("yaml")[0], "http://localhost:9090/api/v1/write", server.url)):
            wait_until(lambda: server.pushes, "a push")

    def test_an_ended_series_gets_one_stale_marker(self):
        # Listed for five pushes after its end: on a busy machine a push may be seconds late. Few pushes with few processes: the
        # servers of this test would fall ever further behind if they had to read all that other tests start.
        listed = replace_once(CONFIG, "interval: 1s}", "interval: 1s, minTerminatedEnergyThreshold: 0, terminatedRetention: 15s,"
                                                       " maxTerminated: 100}")
        listed = replace_once(listed, "exporter:\n", "exporter:\n  prometheus: {limits: {maxProcesses: 100, kernelThreads: none}}\n")
        listed = replace_once(listed, "    interval: 1s\n", "    interval: 3s\n")
        with contextlib.ExitStack() as stack:
            servers = {version: stack.enter_context(RemoteWriteServer()) for version in ("", VERSION_2)}
            for version, server in servers.items():
                stack.enter_context(Agent(config=listed % server.url + version))
            # It computes: the list of ended processes has a limit, and those with most energy stay in it.
            process = subprocess.Popen(["sh", "-c", "while :; do :; done"])
            stack.callback(end, process)
            pid = ("pid", str(process.pid))

            def marked(server):
                return [dict(labels) for time in sorted(server.ended) for labels in list(server.ended[time]) if pid in labels]

            def states(found):
                return {labels["state"] for labels in found if "state" in labels}

            def used(server):
                wanted = {pid, ("__name__", "kepler_process_cpu_seconds_total")}
                return max((point.value for push in list(server.complete().values()) for labels, point in push.items()
                            if wanted <= set(labels)), default=0)
            # Shown with this time, because the record of its end may be one that the kernel keeps from an agent.
            wait_until(lambda: all(used(server) > 0.2 for server in servers.values()), "CPU time of the process", 60)
            self.assertEqual([marked(server) for server in servers.values()], [[], []])
            end(process)
            for version, server in servers.items():
                with self.subTest(version):
                    wait_until(lambda: "terminated" in states(marked(server)), "the end of the last series", 60)
                    server.wait(len(server.pushes) + 2)
                    found = marked(server)
                    self.assertEqual(len(found), len({tuple(labels.items()) for labels in found}))
                    self.assertEqual(states(found), {"running", "terminated"})
                    self.assertIn("kepler_process_cpu_joules_total", {labels["__name__"] for labels in found})
                    self.assertFalse(any(pid in labels for labels in list(server.current)))

    def test_bad_settings_are_refused_by_the_check_too(self):
        for text, key in (("url: ''", "url"),
                          ("url: 'http://u:p@h'", "url"),
                          ("url: 'http://h', version: 3", "version"),
                          ("url: 'http://h', headersFile: /nowhere/x", "headersFile"),
                          ("url: 'https://h', tls: {caFile: /nowhere/x}", "tls.caFile"),
                          ("url: 'http://h', interval: 1ms", "interval")):
            check_refused(self, "remoteWrite", text, key)

    def test_the_check_warns_of_a_url_without_a_path(self):
        for url, is_warned in (("http://h:9090", True), ("http://h:9090/api/v1/write", False)):
            code, output = run_to_end("--config.check", "--exporter.remote-write", f"--exporter.remote-write.url={url}")
            self.assertEqual(code, 0, output)
            self.assertEqual("warning: --exporter.remote-write.url: has no path" in output, is_warned, output)


class RealServer(unittest.TestCase):
    def check(self, extra, prometheus):
        """Through two outages: the sums at each time are those of the scrape of that time, though processes end."""
        config = CONFIG % prometheus.write_url + extra
        # The queue has a limit.
        config = config.replace("    interval: 1s", f"    interval: {max(1, OUTAGE / 30):g}s")
        with contextlib.ExitStack() as stack:
            agent = stack.enter_context(Agent(config=replace_once(config, *SHORT_LISTS)))
            scrapes = {}

            def scrape_until(condition):
                def done():
                    scrape = agent.scrape()
                    scrapes.setdefault(taken_at(scrape), scrape)
                    stack.enter_context(subprocess.Popen(["sleep", "1.3"]))
                    return condition()
                wait_until(done, "the queue", 90 + OUTAGE, period=0.2)

            def queued():
                return counted(agent, "kepler_push_queue_requests")
            begin = time.monotonic()
            with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as ending:
                scrape_until(lambda: queued() >= 3 and time.monotonic() > begin + OUTAGE)
                ending.kill()
            with prometheus:
                scrape_until(lambda: queued() == 0)
                prometheus.restart()
                scrape_until(lambda: queued() == 0 and len(scrapes) >= 10)
                self.assertEqual(set(dropped(agent).values()), {0}, agent.log())
                prometheus.flush()
                checked = 0
                for at, scrape in scrapes.items():
                    if {int(value * 1000) for value in prometheus.at("kepler_snapshot_timestamp_seconds", at).values()} != {at}:
                        continue  # of a tick between two pushes, or not sent yet
                    checked += 1
                    for name in SUMS:
                        found = prometheus.at(name, at)
                        self.assertEqual(sum(round(value * 1e6) for value in found.values()), microjoules(scrape.sum(name)), name)
                        self.assertEqual(len(found), len(scrape.series(name)), name)
                self.assertGreaterEqual(checked, 5)
                listed = [scrape.families["kepler_process_cpu_joules_total"].keys() for scrape in scrapes.values()]
                gone = set().union(*listed) - agent.scrape().families["kepler_process_cpu_joules_total"].keys()
                self.assertGreater(len(gone), 0, "no series ended")
                return prometheus.ask(query="kepler_node_cpu_joules_total")

    def test_debians_prometheus_stores_version_1(self):
        found = self.check("    instance: rack7\n    job: energy\n", Prometheus(flags=("--web.enable-remote-write-receiver",)))
        self.assertEqual({(series["metric"]["instance"], series["metric"]["job"]) for series in found}, {("rack7", "energy")})

    def test_prometheus_3_stores_version_2(self):
        require(os.access(NEWER, os.X_OK), "Prometheus 3.16 is not built: tests/cluster/programs.py prometheus")
        self.check(VERSION_2, Prometheus(program=NEWER, flags=("--web.enable-remote-write-receiver",)))

    def test_victoriametrics_stores_version_1(self):
        self.require_victoriametrics()
        self.check("", VictoriaMetrics())

    @staticmethod
    def require_victoriametrics():
        require(os.access(VICTORIA, os.X_OK), "VictoriaMetrics is not built: tests/cluster/programs.py victoria-metrics")

    def test_thanos_receive_stores_version_1(self):
        self.require_thanos()
        self.check("", ThanosReceive())

    @staticmethod
    def require_thanos():
        require(os.access(THANOS, os.X_OK), "Thanos is not built: tests/cluster/programs.py thanos")

    def test_the_page_gives_exact_totals(self):
        require(os.access(NEWER, os.X_OK), "Prometheus 3.16 is not built: tests/cluster/programs.py prometheus")
        flags = [word for word in page("sh")[-1].split() if re.match("--(web.enable|enable-feature)", word)]
        with contextlib.ExitStack() as stack:
            server = stack.enter_context(Prometheus(program=NEWER, flags=flags))
            tree = stack.enter_context(PowercapTree(ONE_PACKAGE))
            config = replace_once(page("yaml")[-1], "http://localhost:9090", f"http://127.0.0.1:{server.port}")
            target = types.SimpleNamespace(port=1)  # as exact_totals selects the series of an agent
            stack.enter_context(metered_agent(tree, interval="2s", config=config + "    interval: 2s\n"
                                                                                   "    instance: 127.0.0.1:1\n"))
            tree.start()
            stack.enter_context(Churn())
            wait_until(lambda: server.query("count_over_time(kepler_snapshot_timestamp_seconds[1h]) >= 4"), "pushes", 60)
            begin = time.time()
            wait_until(lambda: server.query("kepler_snapshot_timestamp_seconds")[0] > begin + 10, "a push after the window", 60)
            figures = list(exact_totals.Window(begin, begin + 10).figures(exact_totals.FLAGS, server, "exact", target))
            print("; ".join(map(str, figures)), flush=True)
            self.assertIn(exact_totals.TOLERANCE, [figure.bound for figure in figures])
            for figure in figures:
                if figure.bound is not None:
                    self.assertLess(abs(figure.off), figure.bound, str(figure))

    def test_debians_prometheus_without_version_2_is_noticed(self):
        self.check_without_version_2(Prometheus(flags=("--web.enable-remote-write-receiver",)))

    def test_victoriametrics_without_version_2_is_noticed(self):
        self.require_victoriametrics()
        self.check_without_version_2(VictoriaMetrics())

    def test_thanos_receive_without_version_2_is_noticed(self):
        self.require_thanos()
        self.check_without_version_2(ThanosReceive())

    def check_without_version_2(self, prometheus):
        with prometheus, Agent(config=CONFIG % prometheus.write_url + VERSION_2) as agent:
            agent.wait_log("data points rejected: .*set exporter.remoteWrite.version to 1")
            self.assertGreater(dropped(agent)["partial"], 10)
            self.assertEqual(prometheus.ask(query="kepler_node_cpu_joules_total"), [])


class Faults(unittest.TestCase):
    def test_an_outage_loses_nothing_and_keeps_the_order(self):
        port = free_port()
        with Agent(config=CONFIG % f"http://127.0.0.1:{port}/api/v1/write") as agent:
            wait_until(lambda: counted(agent, "kepler_push_queue_requests") >= 3, "requests that wait")
            begin = time.time()
            with RemoteWriteServer(port=port) as server:
                wait_until(lambda: max(server.times, default=0) > begin * 1000, "a push of a tick after the outage", 60)
                self.assertEqual(server.times, sorted(server.times), "in order")
                self.assertGreaterEqual(len(server.pushes), 3)
                joules = [pushed(push, "kepler_node_cpu_joules_total") for _, push in sorted(server.complete().items())]
                self.assertEqual(joules, sorted(joules))
                self.assertGreaterEqual(counted(agent, "kepler_push_points_total"),
                                        sum(len(push) for push in server.complete().values()))
            self.assertEqual(set(dropped(agent).values()), {0})

    def test_throttled_then_refused_then_a_server_error(self):
        said = []

        def answer(handler, number):
            said.append(time.monotonic())
            if number == 1:
                handler.say(429, Retry_After="2")
            elif number == 2:
                handler.say(400, b"out of order sample")
            elif number == 3:
                handler.say(500, b"no space left")
            else:
                handler.say(204)
            return number > 3
        with RemoteWriteServer(answer) as server, Agent(config=CONFIG % server.url) as agent:
            server.wait()
            self.assertGreater(said[1] - said[0], 1.9, "Retry-After")
            self.assertEqual(counted(agent, "kepler_push_failures_total", reason="throttled"), 1)
            self.assertEqual(counted(agent, "kepler_push_failures_total", reason="refused"), 1)
            self.assertEqual(counted(agent, "kepler_push_failures_total", reason="server"), 1)
            self.assertGreater(dropped(agent)["refused"], 10)
            agent.wait_log("out of order sample")

    def test_version_2_counts_what_the_server_did_not_store(self):
        def answer(handler, number):
            if number == 1:
                handler.say(415, b"unknown proto")
            elif number == 2:
                handler.say(204)
            elif number == 3:
                handler.say(400, b"bad series", **{WRITTEN.replace("-", "_"): "7"})
            else:
                handler.say(204, **{WRITTEN.replace("-", "_"): "1000000"})
            return number != 1
        with RemoteWriteServer(answer) as server, Agent(config=CONFIG % server.url + VERSION_2) as agent:
            server.wait(4)
            agent.wait_log("set exporter.remoteWrite.version to 1.*unknown proto")
            agent.wait_log("data points rejected: .*set exporter.remoteWrite.version to 1.*has no " + WRITTEN)
            self.assertGreater(dropped(agent)["partial"], 10)
            self.assertGreater(dropped(agent)["refused"], 10)
            self.assertEqual(counted(agent, "kepler_push_failures_total", reason="partial"), 1)

    def test_an_endless_answer_delays_neither_scrapes_nor_the_stop(self):
        with RemoteWriteServer(lambda handler, _: handler.say_endlessly()) as server, Agent(config=CONFIG % server.url) as agent:
            wait_until(lambda: counted(agent, "kepler_push_failures_total", reason="answer") > 0, "an answer that is too long", 60)
            begin = time.monotonic()
            agent.scrape_after()
            self.assertEqual(agent.stop(), 0)
            self.assertLess(time.monotonic() - begin, 30, "the answer lasts for a minute")

    def test_certificates_and_tenants_from_files(self):
        require(shutil.which("openssl"), "openssl makes the certificates")
        with tempfile.TemporaryDirectory() as folder:
            files = make_certificate(folder)
            with open(f"{folder}/headers", "w", encoding="ascii") as file:
                file.write("Authorization: Bearer s3cret\nX-Scope-OrgID: blue\n")
            with RemoteWriteServer(tls=files) as server:
                with Agent(config=CONFIG % server.url) as agent:
                    wait_until(lambda: counted(agent, "kepler_push_failures_total", reason="certificate") > 0, "a refusal")
                    self.assertEqual(server.pushes, {})
                with Agent(config=CONFIG % server.url + f"    headersFile: {folder}/headers\n"
                                                         f"    tls: {{caFile: {folder}/cert.pem}}\n") as agent:
                    server.wait()
                    self.assertEqual((server.headers["Authorization"], server.headers["X-Scope-OrgID"]), ("Bearer s3cret", "blue"))
                    self.assertNotIn("s3cret", agent.log())


if __name__ == "__main__":
    run_tests()
