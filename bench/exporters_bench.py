#!/usr/bin/env python3
"""What every exporter and 50 viewers of the live page cost: agents that send by OpenTelemetry and remote write and write JSON
lines, compared with a plain agent, at the same time and with the same processes. See tools/bench.sh."""
import contextlib
import http.server
import socket
import tempfile
import threading
import time
from concurrent import futures
from pathlib import Path

from measure import BUDGETED, SOURCES, Agent, Meter, Scraper, Sleepers, Table, Tools, median, memory_bytes, parser_of, sample

INTERVAL = 2  # seconds between ticks, scrapes and pushes
VIEWERS = 50
ADDED_BUDGET = 1.1  # of the plain agent's tick and scrape
MEMORY_BUDGET = 45e6  # bytes
PUSHERS = {"otlp": "a push by OpenTelemetry", "remote_write": "a push by remote write", "json_lines": "a tick in JSON lines"}
CONFIG = """
exporter:
  otlp: {{enabled: true, endpoint: "http://127.0.0.1:{port}", interval: {interval}s}}
  remoteWrite: {{enabled: true, url: "http://127.0.0.1:{port}/api/v1/write", interval: {interval}s}}
  jsonLines: {{path: {directory}/energy.jsonl, interval: {interval}s}}
"""
# The other form of both pushes.
OTHER = {"otlp": "a push by OpenTelemetry: gRPC, deltas, queue on disk",
         "remote_write": "a push by remote write: queue on disk"}
OTHER_CONFIG = """
exporter:
  otlp: {{enabled: true, endpoint: "http://127.0.0.1:{grpc}", interval: {interval}s, protocol: grpc, temporality: delta,
          queueDirectory: {directory}/otlp}}
  remoteWrite: {{enabled: true, url: "http://127.0.0.1:{port}/api/v1/write", interval: {interval}s,
                queueDirectory: {directory}/remote-write}}
"""


@contextlib.contextmanager
def grpc_sink():
    """The port of a server that accepts everything; None without Debian's python3-grpcio."""
    try:
        import grpc  # pylint: disable=import-outside-toplevel
    except ImportError:
        yield None
        return
    server = grpc.server(futures.ThreadPoolExecutor(2))
    accept = grpc.unary_unary_rpc_method_handler(lambda body, context: b"")
    service = "opentelemetry.proto.collector.metrics.v1.MetricsService"
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, {"Export": accept})])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield port
    finally:
        server.stop(0).wait()


class Sink(http.server.ThreadingHTTPServer):
    """A server that accepts everything."""
    daemon_threads = True

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self


class Viewers:
    """Open live pages: each reads its stream of events and drops it."""

    def __init__(self, port, count):
        self._sockets = []
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", port))
            connection.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
            self._sockets.append(connection)
        self._threads = [threading.Thread(target=self._drop, args=(connection,)) for connection in self._sockets]

    @staticmethod
    def _drop(connection):
        try:
            while connection.recv(1 << 20):
                pass
        except OSError:
            pass

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        for connection in self._sockets:
            connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()


def thread_seconds(pid, name):
    """CPU time of the threads of a process with this name, by schedstat."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().strip() == name:
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


class Costs:
    """CPU time per tick and per scrape of an agent, measured between two calls of mark()."""

    def __init__(self, agent):
        self._pid, self._scraper, self._before = agent.pid, Scraper(agent.port), None
        self.ticks, self.scrapes = [], []

    def mark(self):
        before = thread_seconds(self._pid, "scrapes")
        self._scraper.scrape("gzip")
        time.sleep(0.03)
        self.scrapes.append(thread_seconds(self._pid, "scrapes") - before)
        text = self._scraper.scrape("identity")[0].decode()
        now = sample(text, "kepler_ticks_total"), sample(text, "kepler_tick_cpu_seconds_total")
        if self._before and now[0] > self._before[0]:
            self.ticks.append((now[1] - self._before[1]) / (now[0] - self._before[0]))
        self._before = now


class Pushes:
    """CPU time of the exporters' threads of an agent for each push, from here on."""

    def __init__(self, agent, titles):
        self._pid, self._titles, self._begin = agent.pid, titles, time.monotonic()
        self._before = {name: thread_seconds(agent.pid, name) for name in titles}

    def costs(self):
        pushes = (time.monotonic() - self._begin) / INTERVAL
        return {title: (thread_seconds(self._pid, name) - self._before[name]) / pushes for name, title in self._titles.items()}


def dropped_points(agent):
    lines = Scraper(agent.port).scrape("identity")[0].decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("kepler_push_dropped_points_total{"))


def measure(tools, count, source, rounds, table):
    asked, interval = [f"--activity.source={source}"], f"{INTERVAL}s"
    label = f"{count:,} processes, {source}"
    with tempfile.TemporaryDirectory() as directory, Sink() as sink, grpc_sink() as grpc, Meter() as meter, Sleepers(tools, count):
        places = {"port": sink.server_port, "grpc": grpc, "interval": INTERVAL, "directory": directory}
        with Agent(tools, meter, interval, options=asked) as plain, \
                Agent(tools, meter, interval, options=asked, config=CONFIG.format(**places)) as full, Viewers(full.port, VIEWERS):
            both, yardsticks = (Costs(plain), Costs(full)), []
            for number in range(rounds + 4):
                time.sleep(INTERVAL)
                for costs in both:
                    costs.mark()
                yardsticks.append(tools.yardstick(1)[0])
                if number == 3:
                    begin, cpu, pushes = time.monotonic(), [agent.cpu() for agent in (plain, full)], Pushes(full, PUSHERS)
            pushers, ticks = pushes.costs(), (time.monotonic() - begin) / INTERVAL
            whole = [(agent.cpu() - before) / ticks for agent, before in zip((plain, full), cpu)]
            dropped = dropped_points(full)
            memory = [memory_bytes(agent.pid, field) for agent in (plain, full) for field in ("VmRSS", "VmHWM")]
        if grpc:
            with Agent(tools, meter, interval, options=asked, config=OTHER_CONFIG.format(**places)) as other:
                time.sleep(4 * INTERVAL)
                pushes = Pushes(other, OTHER)
                time.sleep(rounds * INTERVAL)
                pushers |= pushes.costs()
                dropped += dropped_points(other)
    yardstick = median(yardsticks)
    for what in ("ticks", "scrapes"):
        costs = [median(getattr(costs, what)[3:]) for costs in both]
        name = {"ticks": "tick", "scrapes": "scrape gzip"}[what]
        for cost, kind in zip(costs, ("plain", f"all exporters, {VIEWERS} viewers")):
            table.cost(f"{label}: {name}, {kind}", cost, yardstick)
        table.add(f"{label}: {name}, of the plain agent's", "", ratio=f"{costs[1] / costs[0]:.2f}", budget=f"<= {ADDED_BUDGET}",
                  ok=costs[1] <= ADDED_BUDGET * costs[0])
    for title, cost in pushers.items():
        table.cost(f"{label}: {title}", cost, yardstick)
    table.cost(f"{label}: whole agent per {INTERVAL} s, plain", whole[0], yardstick)
    table.cost(f"{label}: whole agent per {INTERVAL} s, all exporters", whole[1], yardstick)
    table.add(f"{label}: data points that were dropped", f"{dropped:.0f}", budget="0", ok=dropped == 0)
    table.add(f"{label}: RSS / highest, plain", f"{memory[0] / 1e6:.1f} / {memory[1] / 1e6:.1f} MB")
    table.add(f"{label}: RSS / highest, all exporters", f"{memory[2] / 1e6:.1f} / {memory[3] / 1e6:.1f} MB", budget="<= 45 MB",
              ok=memory[3] <= MEMORY_BUDGET)
    if not grpc:
        print("no gRPC: install python3-grpcio")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--processes", type=int, default=BUDGETED)
    parser.add_argument("--rounds", type=int, default=12, help="ticks to measure")
    options = parser.parse_args()
    table = Table()
    for source in options.source or SOURCES:
        measure(Tools(options.build), options.processes, source, options.rounds, table)
    return table.finish(options.strict)


if __name__ == "__main__":
    raise SystemExit(main())
