#!/usr/bin/env python3
"""This agent and Debian's prometheus-process-exporter side by side. See tools/bench_peer.sh."""
import argparse
import gzip
import http.client
import shutil
import subprocess
import tempfile
import time

from agent_bench import MB, Rounds
from measure import Agent, Meter, Scraper, Sleepers, Tools, cpu_seconds, free_port, median, memory_bytes

PEER = "prometheus-process-exporter"
# Without a configuration it names no process. With this one it does what the agent does: each process by itself.
PER_PROCESS = 'process_names: [{name: "{{.Comm}}:{{.PID}}", cmdline: [".+"]}]\n'
EACH = f"{PEER}, each process"
EACH_LEAN = f"{PEER}, each process, no threads, no smaps"
UNCONFIGURED = f"{PEER} as installed: no process"
LEAN = ["-threads=false", "-gather-smaps=false"]
TICKS_PER_SCRAPE = 3  # the default interval of 5 s, a Prometheus that asks every 15 s
KEPLER = f"kepler, the scrape and the {TICKS_PER_SCRAPE} ticks that feed it"
ALONE = "kepler, of that the scrape"
BUDGET = 50


class Figures:
    """What the rounds of one program gave."""

    def __init__(self):
        self.cpu, self.wall, self.memory, self.size, self.plain_size = [], [], [], 0, 0


class Peer:
    def __init__(self, options):
        self.port = free_port()
        self._process = subprocess.Popen([PEER, f"-web.listen-address=127.0.0.1:{self.port}", *options],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pid = self._process.pid

    def __enter__(self):
        for _ in range(3_000):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            try:
                connection.request("GET", "/")
                connection.getresponse().read()
                return self
            except OSError:
                time.sleep(0.02)
            finally:
                connection.close()
        raise SystemExit(f"bench_peer: {PEER} does not answer")

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()

    def settled_cpu(self):
        """The CPU clock once garbage of the scrape is collected."""
        before = cpu_seconds(self.pid)
        while True:
            time.sleep(0.5)
            now = cpu_seconds(self.pid)
            if now - before < 0.01:
                return now
            before = now


def measure_peer(options, scrapes, into):
    with Peer(options) as peer:
        scraper = Scraper(peer.port)
        scraper.scrape()  # the first one meets every process for the first time
        for _ in range(scrapes):
            before = peer.settled_cpu()
            body, wall = scraper.scrape()
            into.cpu.append(peer.settled_cpu() - before)
            into.wall.append(wall)
        into.memory.append(memory_bytes(peer.pid))
        into.size, into.plain_size = len(body), len(gzip.decompress(body))


def measure_kepler(tools, meter, scrapes, whole, alone):
    """The peer reads /proc when it is asked, the agent at its ticks: only with them both have done the same work."""
    with Agent(tools, meter, "5s") as agent:
        work = Rounds(tools, agent, 5)
        work.run(scrapes + 1)
        tick = median(work.ticks)
        whole.cpu += [scrape + TICKS_PER_SCRAPE * tick for scrape in work.gzip]
        alone.cpu += work.gzip
        for figures in (whole, alone):
            figures.wall += work.gzip_wall
            figures.memory.append(memory_bytes(agent.pid))
            figures.size, figures.plain_size = work.gzip_bytes, work.identity_bytes


def show(everything):
    """A row for each program; the peer's costs as multiples of the agent's."""
    print(f"{'per scrape, medians':69} | {'CPU':>10} | {'wall':>8} | {'RSS':>8} | {'gzip / plain':>16} |  CPU | wall | RSS")
    whole = everything[KEPLER]
    for name, figures in everything.items():
        cpu, wall, memory = median(figures.cpu), median(figures.wall), median(figures.memory)
        row = (f"{name:69} | {cpu * 1e3:7.1f} ms | {wall * 1e3:5.0f} ms | {memory / MB:5.1f} MB | "
               f"{figures.size / MB:4.2f} / {figures.plain_size / MB:5.2f} MB |")
        if name not in (KEPLER, ALONE):
            row += (f" {cpu / median(whole.cpu):3.0f}x | {wall / median(whole.wall):3.0f}x |"
                    f" {memory / median(whole.memory):.1f}x")
        print(row)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="build directory")
    parser.add_argument("--processes", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=2, help="turns of each program")
    parser.add_argument("--scrapes", type=int, default=3, help="scrapes measured in each turn")
    parser.add_argument("--strict", action="store_true",
                        help=f"exit 1 if the agent's scrape with its ticks is not {BUDGET} times cheaper")
    options = parser.parse_args()
    if shutil.which(PEER) is None:
        raise SystemExit(f"bench_peer: no {PEER}: tools/setup.sh test installs it")
    tools = Tools(options.build)
    everything = {name: Figures() for name in (KEPLER, ALONE, EACH, EACH_LEAN, UNCONFIGURED)}
    yardsticks = []
    with Meter() as meter, Sleepers(tools, options.processes), tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
        config.write(PER_PROCESS)
        config.flush()
        configured = [f"-config.path={config.name}"]
        flags = {EACH: configured, EACH_LEAN: [*configured, *LEAN], UNCONFIGURED: []}
        for _ in range(options.rounds):
            yardsticks.append(tools.yardstick())
            measure_kepler(tools, meter, options.scrapes, everything[KEPLER], everything[ALONE])
            for name, its_flags in flags.items():
                measure_peer(its_flags, options.scrapes, everything[name])
    print(f"{yardsticks[-1][1]} processes, yardstick {median([cost for cost, _ in yardsticks]) * 1e3:.1f} ms")
    show(everything)
    least = min(median(everything[name].cpu) for name in (EACH, EACH_LEAN)) / median(everything[KEPLER].cpu)
    print(f"least CPU ratio, all that a scrape needs: {least:.0f} (budget >= {BUDGET}: {'ok' if least >= BUDGET else 'OVER'})")
    return 1 if options.strict and least < BUDGET else 0


if __name__ == "__main__":
    raise SystemExit(main())
