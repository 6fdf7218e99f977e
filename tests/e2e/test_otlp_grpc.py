"""The exporter of OTLP over gRPC, with grpcio as the server: figures, statuses, outages, TLS."""
import os
import re
import shutil
import tempfile
import time
import unittest

import grpc

from harness import Agent, free_port, require, run_tests, wait_until
from http_double import make_certificate
from otlp import check_figures, counted, pair_of_one_tick
from otlp_grpc import RETRY_IN_2_S, OtlpGrpcServer, abort
from prometheus import replace_once
from push_server import check_refused

CONFIG = """
cpu: {preferredMeters: [fake]}
monitor: {interval: 1s}
exporter:
  otlp:
    enabled: true
    protocol: grpc
    endpoint: %s
    interval: 1s
"""


class Figures(unittest.TestCase):
    def test_a_push_has_the_figures_of_the_scrape_of_its_time(self):
        for compression in ("gzip", "none"):
            with OtlpGrpcServer() as server, \
                    Agent(config=CONFIG % server.url + f"    compression: {compression}\n") as agent:
                server.wait(2)
                scrape, push = pair_of_one_tick(agent, server)
                check_figures(self, scrape, push)
                self.assertEqual(push.resource["service.name"], "kepler")

    def test_the_configuration_of_the_page_works(self):
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "opentelemetry.md"), encoding="utf-8") as file:
            config = re.search(r"^## gRPC\n\n```yaml\n(.*?)^```", file.read(), re.DOTALL | re.MULTILINE)[1]
        with OtlpGrpcServer() as server, Agent(config=replace_once(config, "http://localhost:4317", server.url)):
            self.assertEqual(server.wait().resource["service.name"], "kepler")

    def test_environment_variables_choose_grpc(self):
        with OtlpGrpcServer() as server:
            environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": server.url, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
                           "OTEL_EXPORTER_OTLP_HEADERS": "x-team=blue%20sky", "OTEL_METRIC_EXPORT_INTERVAL": "1000"}
            with Agent("--exporter.otlp", config="cpu: {preferredMeters: [fake]}\nmonitor: {interval: 1s}\n",
                       env=environment):
                self.assertEqual(server.wait().headers["x-team"], "blue sky")

    def test_bad_settings_are_refused_by_the_check_too(self):
        for text, key in (("protocol: grpc, endpoint: 'http://h:4317/v1/metrics'", "endpoint"),
                          ("protocol: http/json", "protocol")):
            check_refused(self, "otlp", text, key)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as headers:
            headers.write("grpc-timeout: 1S\n")
            headers.flush()
            check_refused(self, "otlp", f"protocol: grpc, headersFile: {headers.name}", "headersFile")


class Faults(unittest.TestCase):
    def test_an_outage_loses_nothing(self):
        port = free_port()
        with Agent(config=CONFIG % f"http://127.0.0.1:{port}") as agent:
            wait_until(lambda: counted(agent, "kepler_push_queue_requests") >= 3, "requests that wait")
            times = []
            for _ in range(2):  # the second server finds a connection that the first one has closed
                begin = time.time_ns()
                with OtlpGrpcServer(port=port) as server:
                    wait_until(lambda: server.pushes and server.pushes[-1].time > begin, "a push of a tick after the outage", 60)
                    server.wait(2)
                times += [push.time for push in server.pushes]
            self.assertEqual(times, sorted(times), "in order")
            self.assertGreaterEqual(len(set(times)), 5)
            self.assertLessEqual(len(times) - len(set(times)), 1, "one answer may be lost when a server stops")
            for reason in ("queue_full", "refused", "partial"):
                self.assertEqual(counted(agent, "kepler_push_dropped_points_total", reason=reason), 0)

    def test_statuses_are_those_of_the_specification(self):
        said = []
        steps = [(grpc.StatusCode.UNAVAILABLE, "no%backend", RETRY_IN_2_S), (grpc.StatusCode.DATA_LOSS, "torn", None),
                 (grpc.StatusCode.RESOURCE_EXHAUSTED, "busy", RETRY_IN_2_S), None,
                 (grpc.StatusCode.RESOURCE_EXHAUSTED, "zu groß", None), (grpc.StatusCode.INVALID_ARGUMENT, "bad name", None)]

        def answer(context, number):
            said.append(time.monotonic())
            if number <= len(steps) and steps[number - 1]:
                abort(context, *steps[number - 1])
            if number == len(steps) + 1:
                return b"\x0a\xd7\x01\x08\x05\x12\xd2\x01" + b"no pid " * 30  # 5 rejected; long enough to be compressed
            return b""
        with OtlpGrpcServer(answer) as server, Agent(config=CONFIG % server.url) as agent:
            server.wait(3)
            for number, delay in ((1, 1.9), (2, 0.7), (3, 1.9)):
                self.assertGreater(said[number] - said[number - 1], delay, f"the delay after call {number}")
            wait_until(lambda: counted(agent, "kepler_push_failures_total", reason="partial") == 1, "the partial success")
            self.assertEqual(counted(agent, "kepler_push_dropped_points_total", reason="partial"), 5)
            self.assertEqual(counted(agent, "kepler_push_failures_total", reason="throttled"), 2)
            self.assertEqual(counted(agent, "kepler_push_failures_total", reason="server"), 1)
            self.assertEqual(counted(agent, "kepler_push_failures_total", reason="refused"), 2)
            self.assertGreater(counted(agent, "kepler_push_dropped_points_total", reason="refused"), 10)
            for text in ("answered UNAVAILABLE: no%backend", "answered RESOURCE_EXHAUSTED: zu groß", "no pid"):
                agent.wait_log(text)

    def test_a_server_that_hangs_delays_neither_scrapes_nor_the_stop(self):
        with OtlpGrpcServer() as server, Agent(config=CONFIG % server.url + "    timeout: 1s\n") as agent:
            server.wait()
            server.answer = server.hang
            wait_until(lambda: counted(agent, "kepler_push_failures_total", reason="timeout") > 0, "a timeout")
            begin = time.monotonic()
            agent.scrape_after()
            self.assertLess(time.monotonic() - begin, 30, "the server hangs for 60 s")
            begin = time.monotonic()
            self.assertEqual(agent.stop(), 0)
            self.assertLess(time.monotonic() - begin, 30)

    def test_a_server_of_http_is_named(self):
        with Agent() as other, Agent(config=CONFIG % f"http://127.0.0.1:{other.port}") as agent:
            agent.wait_log("the server (violates HTTP/2|closed the connection)|reset by peer")
            self.assertEqual(counted(agent, "kepler_push_dropped_points_total", reason="refused"), 0)


class Tls(unittest.TestCase):
    def test_certificates_are_read_again(self):
        require(shutil.which("openssl"), "openssl makes the certificates")
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as own:
            for place in (folder, own):
                make_certificate(place)
            with open(f"{folder}/headers", "w", encoding="ascii") as file:
                file.write("Authorization: Bearer first\n")
            settings = f"    headersFile: {folder}/headers\n    tls: {{caFile: {folder}/ca.pem, certFile: {own}/cert.pem, " \
                       f"keyFile: {own}/key.pem}}\n"
            shutil.copy(f"{own}/cert.pem", f"{folder}/ca.pem")  # not that of the server
            with OtlpGrpcServer(tls=(f"{folder}/cert.pem", f"{folder}/key.pem", f"{own}/cert.pem")) as server, \
                    Agent(config=CONFIG % server.url + settings) as agent:
                wait_until(lambda: counted(agent, "kepler_push_failures_total", reason="certificate") > 0, "a refusal")
                self.assertEqual(server.calls, 0)
                shutil.copy(f"{folder}/cert.pem", f"{folder}/ca.pem")
                self.assertEqual(server.wait().headers["authorization"], "Bearer first")


if __name__ == "__main__":
    run_tests()
