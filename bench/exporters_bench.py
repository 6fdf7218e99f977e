#!/usr/bin/env python3
"""What every exporter and 50 viewers of the live page cost: an agent that sends by OpenTelemetry and remote write, writes JSON
lines, compared with a plain agent, at the same time and with the same processes. See
tools/bench.sh."""
import argparse
import http.server
import socket
import tempfile
import threading
import time
from pathlib import Path

from measure import (BUDGETED, SOURCES, TICK_BUDGETS, Agent, Meter, Scraper, Sleepers, Table, Tools, add_source_option, median,
                     memory_bytes, sample)

INTERVAL = 2  # seconds between ticks, scrapes and pushes
VIEWERS = 50
SCRAPE_BUDGET = 0.12  # of the yardstick
MEMORY_BUDGET = 45e6  # bytes
PUSHERS = {"otlp": "a push by OpenTelemetry", "remote_write": "a push by remote write", "json_lines": "a tick in JSON lines"}
CONFIG = """
exporter:
  otlp: {{enabled: true, endpoint: "http://127.0.0.1:{port}", interval: {interval}s}}
  remoteWrite: {{enabled: true, url: "http://127.0.0.1:{port}/api/v1/write", interval: {interval}s}}
  jsonLines: {{path: {directory}/energy.jsonl, interval: {interval}s}}
"""


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


def measure(tools, count, source, rounds, table):
    asked = [f"--activity.source={source}"]
    with tempfile.TemporaryDirectory() as directory, Sink() as sink, Meter() as meter, Sleepers(tools, count):
        config = CONFIG.format(port=sink.server_port, interval=INTERVAL, directory=directory)
        with Agent(tools, meter, f"{INTERVAL}s", options=asked) as plain, \
                Agent(tools, meter, f"{INTERVAL}s", options=asked, config=config) as full, Viewers(full.port, VIEWERS):
            both, yardsticks, begin = (Costs(plain), Costs(full)), [], None
            for number in range(rounds + 4):
                time.sleep(INTERVAL)
                for costs in both:
                    costs.mark()
                yardsticks.append(tools.yardstick(1)[0])
                if number == 3:
                    begin = time.monotonic(), {name: thread_seconds(full.pid, name) for name in PUSHERS}, \
                        [agent.cpu() for agent in (plain, full)]
            pushes = (time.monotonic() - begin[0]) / INTERVAL
            pushers = {name: (thread_seconds(full.pid, name) - before) / pushes for name, before in begin[1].items()}
            whole = [(agent.cpu() - before) / pushes for agent, before in zip((plain, full), begin[2])]
            dropped = sum(float(line.split()[-1]) for line in Scraper(full.port).scrape("identity")[0].decode().splitlines()
                          if line.startswith("kepler_push_dropped_points_total{"))
            memory = [memory_bytes(agent.pid, field) for agent in (plain, full) for field in ("VmRSS", "VmHWM")]
    yardstick, label = median(yardsticks), f"{count:,} processes, {source}"
    for costs, kind in zip(both, ("plain", f"all exporters, {VIEWERS} viewers")):
        table.cost(f"{label}: tick, {kind}", median(costs.ticks[3:]), yardstick, TICK_BUDGETS[source])
        table.cost(f"{label}: scrape gzip, {kind}", median(costs.scrapes[3:]), yardstick, SCRAPE_BUDGET)
    for name, title in PUSHERS.items():
        table.cost(f"{label}: {title}", pushers[name], yardstick)
    table.cost(f"{label}: whole agent per {INTERVAL} s, plain", whole[0], yardstick)
    table.cost(f"{label}: whole agent per {INTERVAL} s, all exporters", whole[1], yardstick)
    table.add(f"{label}: data points that were dropped", f"{dropped:.0f}", budget="0", ok=dropped == 0)
    table.add(f"{label}: RSS / highest, plain", f"{memory[0] / 1e6:.1f} / {memory[1] / 1e6:.1f} MB")
    table.add(f"{label}: RSS / highest, all exporters", f"{memory[2] / 1e6:.1f} / {memory[3] / 1e6:.1f} MB", budget="<= 45 MB",
              ok=memory[3] <= MEMORY_BUDGET)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="build directory")
    parser.add_argument("--processes", type=int, default=BUDGETED)
    parser.add_argument("--rounds", type=int, default=12, help="ticks to measure")
    add_source_option(parser)
    parser.add_argument("--strict", action="store_true", help="exit 1 if a budget is exceeded")
    options = parser.parse_args()
    table = Table()
    for source in options.source or SOURCES:
        measure(Tools(options.build), options.processes, source, options.rounds, table)
    return table.finish(options.strict)


if __name__ == "__main__":
    raise SystemExit(main())
