"""The exporter of OTLP: the same figures as a scrape, through servers that are away, slow, full or wrong."""
import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from exposition import microjoules
from harness import Agent, end, free_port, require, run_tests, run_to_end, wait_until
from http_double import make_certificate
from otlp import DeltaServer, OtlpServer, add_up, check_figures, counted, pair_of_one_tick
from prometheus import replace_once
from push_server import check_refused

COLLECTOR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "cluster", "bin", "otelcol-0.165.0")
CONFIG = """
cpu: {preferredMeters: [fake]}
monitor: {interval: 1s}
exporter:
  otlp:
    enabled: true
    endpoint: %s
    interval: 1s
"""


class Figures(unittest.TestCase):
    def test_a_push_has_the_figures_of_the_scrape_of_its_time(self):
        with OtlpServer() as server, Agent(config=CONFIG % server.url) as agent:
            server.wait(2)
            scrape, push = pair_of_one_tick(agent, server)
            check_figures(self, scrape, push)
            own = push.of("process.cpu.time", process__pid=str(agent.process.pid))
            self.assertEqual([(point.unit, point.is_sum) for point in own], [("s", True)])
            self.assertEqual({point.unit for point in push.of("hw.energy")}, {"J"})
            self.assertEqual(push.resource["service.name"], "kepler")
            self.assertTrue(push.resource["host.name"])
            self.assertEqual(push.headers["Content-Encoding"], "gzip")
            for point in push.points:
                self.assertLessEqual(point.start, point.time)
                self.assertGreater(point.start, 10**18 if point.is_sum else -1)

    def test_the_configuration_of_the_page_works(self):
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "opentelemetry.md"), encoding="utf-8") as file:
            text = file.read()
        for place, kind in (("", OtlpServer), ("## Delta temporality\n[^`]*", DeltaServer)):
            config = re.search(rf"^{place}```yaml\n(exporter:.*?)^```", text, re.DOTALL | re.MULTILINE)[1]
            with kind() as server, Agent(config=replace_once(config, "http://localhost:4318", server.url)):
                self.assertEqual(server.wait().resource["service.name"], "kepler")

    def test_the_sums_of_deltas_are_the_totals_of_the_scrape(self):
        def answer(handler, number):
            status = {2: 503, 4: 503, 5: 503}.get(number, 200)
            handler.say(status)
            return status == 200
        with DeltaServer(answer) as server, Agent(config=CONFIG % server.url + "    temporality: delta\n") as agent:
            server.wait(6)
            scrape, push = pair_of_one_tick(agent, server)
            pushes = server.pushes[:server.pushes.index(push) + 1]
            check_figures(self, scrape, add_up(self, pushes))
            self.assertGreater(counted(agent, "kepler_push_failures_total", reason="throttled"), 2)
            self.assertLess(push.microjoules("hw.energy", hw__id="package"),
                            add_up(self, pushes).microjoules("hw.energy", hw__id="package"))

    def test_environment_variables_stand_in_for_keys(self):
        with OtlpServer() as server:
            environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": server.url, "OTEL_METRIC_EXPORT_INTERVAL": "1000",
                           "OTEL_EXPORTER_OTLP_HEADERS": "x-team=blue%20sky,authorization=Bearer%20s3cret",
                           "OTEL_EXPORTER_OTLP_COMPRESSION": "none", "OTEL_SERVICE_NAME": "watts",
                           "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}
            code, output = run_to_end("--exporter.otlp", f"--web.listen-address=127.0.0.1:{free_port()}", env=environment)
            self.assertEqual(code, 1, output)
            self.assertRegex(output, "exporter.otlp.endpoint: http://127.0.0.1:[0-9]+ would receive the token in plain text; use https")
            self.assertNotIn("s3cret", output)
            environment["OTEL_EXPORTER_OTLP_HEADERS"] = "x-team=blue%20sky"
            with Agent("--exporter.otlp", config="cpu: {preferredMeters: [fake]}\nmonitor: {interval: 1s}\n",
                       env=environment) as agent:
                push = server.wait()
                self.assertEqual(push.headers["x-team"], "blue sky")
                self.assertNotIn("Content-Encoding", push.headers)
                self.assertEqual(push.resource["service.name"], "watts")
                agent.wait_log("is ignored.*OTEL_EXPORTER_OTLP_PROTOCOL.*it is neither grpc nor http/protobuf")
                self.assertNotIn("blue sky", agent.log())

    def test_bad_settings_are_refused_by_the_check_too(self):
        for text, key in (("endpoint: 'http://u:p@h'", "endpoint"),
                          ("endpoint: 'ftp://h'", "endpoint"),
                          ("headersFile: /nowhere/x", "headersFile"),
                          ("tls: {caFile: /nowhere/x}", "tls.caFile"),
                          ("tls: {certFile: /dev/null}", "tls"),
                          ("compression: zstd", "compression"),
                          ("interval: 1ms", "interval")):
            check_refused(self, "otlp", text, key)


class Collector(contextlib.AbstractContextManager):
    """An OpenTelemetry Collector that gives what it receives to `url`, and answers only then."""

    def __init__(self, folder, url, protocol):
        self.port = free_port()
        self.config = os.path.join(folder, "collector.yaml")
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump({"receivers": {"otlp": {"protocols": {protocol: {"endpoint": f"127.0.0.1:{self.port}"}}}},
                       "exporters": {"otlphttp": {"endpoint": url, "sending_queue": {"enabled": False}}},
                       "service": {"telemetry": {"metrics": {"level": "none"}},
                                   "pipelines": {"metrics": {"receivers": ["otlp"], "exporters": ["otlphttp"]}}}}, file)

    def __enter__(self):
        with open(f"{self.config}.log", "ab") as log:
            self.process = subprocess.Popen([COLLECTOR, f"--config={self.config}"], stdout=log, stderr=log)
        return self

    def __exit__(self, *_):
        end(self.process)


class RealCollector(unittest.TestCase):
    def test_a_collector_passes_on_every_tick_of_an_outage(self):
        self.check("http", "http/protobuf")

    def test_a_collector_passes_on_every_tick_of_an_outage_by_grpc(self):
        self.check("grpc", "grpc")

    def test_deltas_through_a_collector_add_up_to_the_totals(self):
        self.check("http", "http/protobuf", DeltaServer)

    def test_deltas_through_a_collector_add_up_to_the_totals_by_grpc(self):
        self.check("grpc", "grpc", DeltaServer)

    def check(self, receiver, protocol, kind=OtlpServer):
        """KEPLER_E2E_OUTAGE: seconds without a Collector."""
        require(os.access(COLLECTOR, os.X_OK), f"{COLLECTOR} is missing: tests/cluster/programs.py otelcol builds it")
        outage = float(os.environ.get("KEPLER_E2E_OUTAGE", "4"))
        with tempfile.TemporaryDirectory() as folder, kind() as server:
            collector = Collector(folder, server.url.removesuffix("/v1/metrics"), receiver)
            interval = max(1, outage / 30)  # the queue has a limit
            config = (CONFIG % f"http://127.0.0.1:{collector.port}").replace("    interval: 1s", f"    interval: {interval:g}s")
            config += f"    protocol: {protocol}\n    temporality: {'delta' if kind is DeltaServer else 'cumulative'}\n"
            with Agent(config=config) as agent:
                scrapes = {}

                def look():
                    scrape = agent.scrape()
                    scrapes.setdefault(round(scrape.value("kepler_snapshot_timestamp_seconds") * 10**3), scrape)
                with collector:
                    server.wait(2)
                waiting = time.monotonic() + outage

                def queued_for_long():
                    look()
                    queued = counted(agent, "kepler_push_queue_requests")
                    return time.monotonic() > waiting and queued > outage / interval / 2 and queued
                # Ticks of a busy machine may be late.
                queued = wait_until(queued_for_long, "requests that wait", outage + 2 * interval + 30, period=0.5)
                with collector:
                    wait_until(lambda: look() or counted(agent, "kepler_push_queue_requests") == 0, "the end of the queue",
                               120 + 2 * interval)
                    for reason in ("queue_full", "refused", "partial"):
                        self.assertEqual(counted(agent, "kepler_push_dropped_points_total", reason=reason), 0)
                received = list(server.pushes)  # the last request of the Collector may come later
                pushes = {round(push.time / 10**6): push for push in received}
                # The request whose answer was lost when the Collector stopped is sent again.
                self.assertLessEqual(len(received) - len(pushes), 1)
                for push in received:
                    self.assertEqual(sorted(map(str, push.points)), sorted(map(str, pushes[round(push.time / 10**6)].points)))
                if kind is DeltaServer:
                    pushes = self.add_up_to_each(received)
                both = pushes.keys() & scrapes.keys()
                print(f"{len(pushes)} ticks through the Collector, {queued} waited for {outage:g} s, {len(both)} compared",
                      flush=True)
                self.assertGreater(len(both), min(outage / interval / 2, 3))
                for at in both:
                    for zone in scrapes[at].zones():
                        for family, name, label in (("kepler_node_cpu_joules_total", "hw.energy", "hw__id"),
                                                    ("kepler_process_cpu_joules_total", "kepler_process_cpu_joules", "zone")):
                            self.assertEqual(pushes[at].microjoules(name, **{label: zone}),
                                             microjoules(scrapes[at].sum(family, zone=zone)), (at, name, zone))

    def add_up_to_each(self, deltas):
        """{time: a push with the sums of all deltas up to then}"""
        return {round(push.time / 10**6): add_up(self, deltas[:index + 1]) for index, push in enumerate(deltas)}


class Faults(unittest.TestCase):
    def test_an_outage_loses_nothing(self):
        port = free_port()
        with Agent(config=CONFIG % f"http://127.0.0.1:{port}") as agent:
            wait_until(lambda: counted(agent, "kepler_push_queue_requests") >= 3, "requests that wait")
            self.assertGreater(counted(agent, "kepler_push_failures_total", reason="connection"), 0)
            begin = time.time_ns()
            with OtlpServer(port=port) as server:
                wait_until(lambda: server.pushes and server.pushes[-1].time > begin, "a push of a tick after the outage", 60)
                times = [push.time for push in server.pushes]
                self.assertEqual(times, sorted(set(times)), "each once, in order")
                self.assertGreaterEqual(len(times), 3)
                joules = [push.microjoules("hw.energy", hw__id="package") for push in server.pushes]
                self.assertEqual(joules, sorted(joules))
            for reason in ("queue_full", "refused", "partial"):
                self.assertEqual(counted(agent, "kepler_push_dropped_points_total", reason=reason), 0)

    def test_throttled_then_refused_then_accepted_in_part(self):
        said = []

        def answer(handler, number):
            said.append((number, time.monotonic()))
            if number == 1:
                handler.say(429, Retry_After="2")
            elif number == 3:
                handler.say(400, b"\x12\x08bad name")  # google.rpc.Status: message
            elif number == 4:
                handler.say(200, b"\x0a\x0a\x08\x05\x12\x06no pid")  # partial_success: 5 rejected
            else:
                handler.say(200)
            return number != 1 and number != 3
        with OtlpServer(answer) as server, Agent(config=CONFIG % server.url) as agent:
            server.wait(3)
            self.assertGreater(said[1][1] - said[0][1], 1.9, "Retry-After")
            self.assertEqual(counted(agent, "kepler_push_failures_total", reason="throttled"), 1)
            wait_until(lambda: counted(agent, "kepler_push_failures_total", reason="partial") == 1, "the partial success")
            self.assertEqual(counted(agent, "kepler_push_dropped_points_total", reason="partial"), 5)
            self.assertGreater(counted(agent, "kepler_push_dropped_points_total", reason="refused"), 10)
            agent.wait_log("bad name")
            agent.wait_log("no pid")

    def test_a_server_that_hangs_delays_neither_scrapes_nor_the_stop(self):
        with OtlpServer(lambda handler, _: handler.say_endlessly()) as server, Agent(config=CONFIG % server.url) as agent:
            wait_until(lambda: server.requests, "a request")
            begin = time.monotonic()
            agent.scrape_after()
            self.assertLess(time.monotonic() - begin, 30, "the answer lasts for a minute")
            wait_until(lambda: counted(agent, "kepler_push_failures_total", reason="answer") > 0, "an answer that is too long", 60)
            begin = time.monotonic()
            self.assertEqual(agent.stop(), 0)
            self.assertLess(time.monotonic() - begin, 30)

    def test_certificates_and_headers_from_files(self):
        require(shutil.which("openssl"), "openssl makes the certificates")
        with tempfile.TemporaryDirectory() as folder:
            files = make_certificate(folder)
            with open(f"{folder}/headers", "w", encoding="ascii") as file:
                file.write("Authorization: Bearer first\nX-Team: blue\n")
            with OtlpServer(tls=files) as server:
                with Agent(config=CONFIG % server.url) as agent:
                    wait_until(lambda: counted(agent, "kepler_push_failures_total", reason="certificate") > 0, "a refusal")
                    self.assertEqual(server.pushes, [])
                with Agent(config=CONFIG % server.url + f"    headersFile: {folder}/headers\n"
                                                         f"    tls: {{caFile: {folder}/cert.pem}}\n") as agent:
                    push = server.wait()
                    self.assertEqual((push.headers["Authorization"], push.headers["X-Team"]), ("Bearer first", "blue"))
                    with open(f"{folder}/headers", "w", encoding="ascii") as file:
                        file.write("Authorization: Bearer second\n")
                    wait_until(lambda: server.pushes[-1].headers["Authorization"] == "Bearer second", "the new token")
                    self.assertNotIn("first", agent.log())


if __name__ == "__main__":
    run_tests()
