"""What the whole-agent measurements share: CPU clocks of other processes, sleeping processes, a meter that moves, the agent
itself, scrapes, tables. Linux only; needs no privilege."""
import argparse
import http.client
import os
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

SOURCES = ("bpf", "procfs")
TICK_BUDGETS = {"bpf": 0.10, "procfs": 0.25}  # of the yardstick, with BUDGETED processes
BUDGETED = 10_000
ZONES = {"intel-rapl:0": "package-0", "intel-rapl:0:0": "core", "intel-rapl:0:1": "dram", "intel-rapl:1": "psys"}


def cpu_seconds(pid):
    """CPU time of all threads of a process, living and dead, to the nanosecond: the clock of clock_getcpuclockid(3)."""
    return time.clock_gettime((~pid << 3) | 2)


def memory_bytes(pid, field="VmRSS"):
    text = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{field}:\s+(\d+) kB", text, re.M).group(1)) * 1024


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Tools:
    """The programs of bench/CMakeLists.txt and the agent, in a build directory; `more`: those that only some need."""

    def __init__(self, build, *more):
        wanted = {"kepler", "sleepers", "yardstick", "scrapers", *more}
        self._found = {path.name: path for path in Path(build).rglob("*") if path.is_file() and os.access(path, os.X_OK)
                       and path.name in wanted and "_CPack_Packages" not in path.parts}
        missing = wanted - self._found.keys()
        if missing:
            raise SystemExit(f"bench: {build} has no {', '.join(sorted(missing))}: build those targets first")
        self.kepler, self.sleepers = self._found["kepler"], self._found["sleepers"]
        self.yardstick_program, self.scrapers = self._found["yardstick"], self._found["scrapers"]

    def path(self, name):
        return self._found[name]

    def yardstick(self, passes=3):
        """CPU seconds of one plain pass over /proc now (median), and how many processes that were."""
        out = subprocess.run([self.yardstick_program, "/proc", str(passes)], check=True, capture_output=True, text=True).stdout
        microseconds, processes = out.split()
        return int(microseconds) / 1e6, int(processes)


class Sleepers:
    def __init__(self, tools, count):
        self._process = subprocess.Popen([tools.sleepers, str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self._process.stdout.readline() != "ready\n":
            raise SystemExit("bench: the sleeping processes cannot be started")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait()


class Meter:
    """A sysfs with four powercap zones that move, and the machine's own cgroups."""

    def __init__(self):
        self.sysfs = Path(tempfile.mkdtemp(prefix="kepler-bench-"))
        (self.sysfs / "fs").symlink_to("/sys/fs")
        for directory, name in ZONES.items():
            zone = self.sysfs / "class/powercap" / directory
            zone.mkdir(parents=True)
            (zone / "name").write_text(name + "\n")
            (zone / "max_energy_range_uj").write_text("262143328850\n")
        self._stop = threading.Event()
        self._begin = time.monotonic()
        self._write()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        shutil.rmtree(self.sysfs)

    def _run(self):
        while not self._stop.wait(0.1):
            self._write()

    def _write(self):
        for watts, directory in enumerate(ZONES, start=20):
            counter = self.sysfs / "class/powercap" / directory / "energy_uj"
            fresh = counter.with_suffix(".new")
            fresh.write_text(f"{int((time.monotonic() - self._begin) * watts * 1e6)}\n")
            fresh.replace(counter)  # a reader never sees half of it


class Scraper:
    """One kept connection, as a Prometheus server has it."""

    def __init__(self, port):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def scrape(self, encoding="gzip", accept="text/plain"):
        """The body as it came, and the wall time until its last byte."""
        begin = time.monotonic()
        self._connection.request("GET", "/metrics", headers={"Accept": accept, "Accept-Encoding": encoding})
        response = self._connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise SystemExit(f"bench: /metrics answered {response.status}: {body[:200]!r}")
        return body, time.monotonic() - begin


class Agent:
    """A running agent; `ready_after` is the wall time until its first complete snapshot."""

    def __init__(self, tools, meter, interval, staleness="1h", options=(), config=""):
        self.port = free_port()
        self._config = tempfile.NamedTemporaryFile("w", suffix=".yaml")
        self._config.write(f"monitor: {{interval: {interval}, staleness: {staleness}}}\n{config}")
        self._config.flush()
        begin = time.monotonic()
        self._process = subprocess.Popen(
            [tools.kepler, f"--config.file={self._config.name}", f"--host.sysfs={meter.sysfs}",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn", *options],
            stdout=subprocess.DEVNULL)
        self.pid = self._process.pid
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() - begin > 60:
                raise SystemExit("bench: the agent does not become ready: its own words are above")
            time.sleep(0.002)
        self.ready_after = time.monotonic() - begin

    def _is_ready(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/-/ready")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
        self._config.close()

    def cpu(self):
        return cpu_seconds(self.pid)

    def settled_cpu(self):
        """The CPU clock once the answer's last byte is behind the agent too."""
        time.sleep(0.03)
        return self.cpu()


def sample(text, name, label=""):
    """The value of the only sample of a family, or of the only one with `label`, written as NAME="VALUE"."""
    labels = rf"{{[^\n]*{label}[^\n]*}}" if label else r"(?:{[^\n]*})?"
    return float(re.search(rf"^{name}{labels} (\S+)$", text, re.M).group(1))


def quiet_moments(agent, interval):
    """Sleeps until half an interval after a tick, again and again."""
    text = Scraper(agent.port).scrape("identity")[0].decode()
    middle = sample(text, "kepler_snapshot_timestamp_seconds") + interval / 2
    while True:
        while middle < time.time():
            middle += interval
        time.sleep(middle - time.time())
        yield


def parser_of(description, with_source=True):
    """The arguments that the measurements share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("build", help="build directory")
    if with_source:
        parser.add_argument("--source", choices=SOURCES, action="append", help="only with this source of activity")
    parser.add_argument("--strict", action="store_true", help="exit 1 if a budget is exceeded")
    return parser


def median(values):
    if not values:
        raise SystemExit("bench: no undisturbed measurement: the machine is too busy")
    return statistics.median(values)


class Table:
    """figure | measured | yardstick | ratio | budget | verdict"""

    def __init__(self):
        self._rows = []
        self.over = 0

    def add(self, figure, measured, yardstick="", ratio="", budget="", ok=None):
        verdict = "" if ok is None else "ok" if ok else "OVER"
        self.over += ok is False
        self._rows.append((figure, measured, yardstick, ratio, budget, verdict))

    def cost(self, figure, seconds, yardstick, budget=None):
        """CPU time as a ratio to the yardstick of the same run."""
        ratio = seconds / yardstick
        self.add(figure, f"{seconds * 1e3:.2f} ms", f"{yardstick * 1e3:.1f} ms", f"{ratio:.3f}",
                 "" if budget is None else f"<= {budget}", None if budget is None else ratio <= budget)

    def print(self):
        rows = [("figure", "measured", "yardstick", "ratio", "budget", ""), *self._rows]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        for row in rows:
            print(" | ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
            if row is rows[0]:
                print("-|-".join("-" * width for width in widths))

    def finish(self, strict):
        """Prints the table. Returns the exit code."""
        self.print()
        if self.over:
            print(f"{self.over} over budget")
        return 1 if strict and self.over else 0
