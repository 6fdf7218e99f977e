#!/usr/bin/env python3
"""Speed and memory of the whole agent on this kernel, as ratios to the yardstick of the same run. See tools/bench.sh."""
import gzip
import subprocess
import threading
import time

from measure import (BUDGETED, SOURCES, TICK_BUDGETS, Agent, Meter, Scraper, Sleepers, Table, Tools, median, memory_bytes,
                     parser_of, quiet_moments, sample)

MB = 1e6
REPEATS = 10  # scrapes of one snapshot per round
MEMORY_BUDGETS = {200: 14, BUDGETED: 36}  # MB
MAX_START = 0.5  # seconds
PROTOBUF = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"


class Rounds:
    """One round per tick, at a quiet moment half an interval after it, so that each figure is a difference of two readings of
    the agent's CPU clock with exactly that work between them. The yardstick is measured in every round, in the rhythm of the
    ticks, so its caches are equally cold."""

    def __init__(self, tools, agent, interval):
        self._tools, self._agent, self._interval = tools, agent, interval
        self.ticks, self.own_ticks, self.gzip, self.again, self.identity, self.yardsticks = [], [], [], [], [], []
        self.gzip_wall, self.gzip_bytes, self.identity_bytes = [], 0, 0
        self.protobuf, self.protobuf_bytes = [], 0

    def run(self, count):
        scraper = Scraper(self._agent.port)
        before = None  # (agent's CPU clock, ticks, CPU of ticks) at the end of the former round
        for _, _ in zip(range(count), quiet_moments(self._agent, self._interval)):
            before = self._round(scraper, self._agent.cpu(), before)

    def _round(self, scraper, arrived, before):
        body, wall = scraper.scrape("gzip")
        first = self._agent.settled_cpu()
        same = all([scraper.scrape("gzip")[0] == body for _ in range(REPEATS)])
        again = self._agent.settled_cpu()
        plain = scraper.scrape("identity")[0]
        after_plain = self._agent.settled_cpu()
        protobuf = scraper.scrape("gzip", PROTOBUF)[0]
        end = self._agent.settled_cpu()
        self.yardsticks.append(self._tools.yardstick(1)[0])
        text = gzip.decompress(body).decode()
        ticks, tick_cpu = sample(text, "kepler_ticks_total"), sample(text, "kepler_tick_cpu_seconds_total")
        if before and ticks > before[1]:  # more than one only where the machine is busy
            self.ticks.append((arrived - before[0]) / (ticks - before[1]))
            self.own_ticks.append((tick_cpu - before[2]) / (ticks - before[1]))
        # Not the text: figures of the HTTP server differ between renderings of one snapshot.
        taken = "kepler_snapshot_timestamp_seconds"
        if not same or sample(plain.decode(), taken) != sample(text, taken):
            return None  # a tick came between: neither the scrapes nor the next tick stand alone
        self.gzip.append(first - arrived)
        self.gzip_wall.append(wall)
        self.again.append((again - first) / REPEATS)
        self.identity.append(after_plain - again)
        self.protobuf.append(end - after_plain)
        self.gzip_bytes, self.identity_bytes, self.protobuf_bytes = len(body), len(plain), len(protobuf)
        return end, ticks, tick_cpu


def watch_memory(pid, stop, seen):
    while not stop.wait(0.02):
        seen.append(memory_bytes(pid))


def many_scrapers(tools, agent, connections, seconds):
    """Scrapes a second, failures, slowest in ms, growth of the RSS in bytes."""
    Scraper(agent.port).scrape("gzip")
    stop, seen = threading.Event(), [memory_bytes(agent.pid)]
    watcher = threading.Thread(target=watch_memory, args=(agent.pid, stop, seen))
    watcher.start()
    out = subprocess.run([tools.scrapers, str(agent.port), str(connections), str(seconds)], check=True, capture_output=True,
                         text=True).stdout
    stop.set()
    watcher.join()
    scrapes, _, failed, slowest = map(int, out.split())
    return scrapes / seconds, failed, slowest, max(seen) - seen[0]


def measure(tools, meter, count, source, table, rounds):
    largest = count == BUDGETED
    interval = 2 if largest else 1
    label = f"{count:,} processes, {source}"
    asked = [f"--activity.source={source}"]
    with Sleepers(tools, count):
        listed = tools.yardstick(1)[1]
        starts, start_costs = [], []
        for _ in range(3):
            with Agent(tools, meter, "5s", options=asked) as agent:
                starts.append(agent.ready_after)
                start_costs.append(agent.cpu())
        with Agent(tools, meter, f"{interval}s", options=asked) as agent:
            for _ in range(5):
                Scraper(agent.port).scrape("gzip")
                time.sleep(interval)
            memory = memory_bytes(agent.pid)
            work = Rounds(tools, agent, interval)
            work.run(rounds + 1)
            plain_memory = memory_bytes(agent.pid)
            peak = memory_bytes(agent.pid, "VmHWM")
        yardstick = median(work.yardsticks)
        print(f"{label}: {listed} in /proc, {len(work.ticks)} ticks, {len(work.gzip)} scrapes of each kind", flush=True)
        table.cost(f"{label}: tick, whole agent", median(work.ticks), yardstick, TICK_BUDGETS[source] if largest else None)
        table.cost(f"{label}: tick, by its own metric", median(work.own_ticks), yardstick)
        table.cost(f"{label}: scrape gzip, new snapshot", median(work.gzip), yardstick, 0.12 if largest else None)
        table.cost(f"{label}: scrape gzip, same snapshot", median(work.again), yardstick, 0.005 if largest else None)
        table.cost(f"{label}: scrape identity, new snapshot", median(work.identity), yardstick)
        table.cost(f"{label}: scrape protobuf gzip, new snapshot", median(work.protobuf), yardstick, 0.12 if largest else None)
        table.add(f"{label}: scrape wall time, gzip", f"{median(work.gzip_wall) * 1e3:.0f} ms")
        table.add(f"{label}: size gzip / identity / protobuf gzip",
                  f"{work.gzip_bytes / MB:.2f} / {work.identity_bytes / MB:.2f} / {work.protobuf_bytes / MB:.2f} MB")
        most = MEMORY_BUDGETS.get(count)
        table.add(f"{label}: RSS, read with gzip", f"{memory / MB:.1f} MB", budget=f"<= {most} MB" if most else "",
                  ok=memory <= most * MB if most else None)
        table.add(f"{label}: RSS, read without gzip too", f"{plain_memory / MB:.1f} MB", budget=f"<= {most} MB" if most else "",
                  ok=plain_memory <= most * MB if most else None)
        table.add(f"{label}: highest RSS, startup included", f"{peak / MB:.1f} MB", budget=f"<= {most} MB" if largest else "",
                  ok=peak <= most * MB if largest else None)
        table.cost(f"{label}: start to ready, CPU time", median(start_costs), yardstick)
        table.add(f"{label}: start to ready, wall time", f"{median(starts):.2f} s", budget=f"< {MAX_START} s",
                  ok=median(starts) < MAX_START)
        if largest:
            with Agent(tools, meter, "1h", options=asked) as agent:
                rate, failed, slowest, growth = many_scrapers(tools, agent, 50, 10)
            table.add(f"{label}: 50 scrapers at once, gzip", f"{rate:.0f} /s", budget=">= 200 /s, none fails",
                      ok=rate >= 200 and failed == 0)
            table.add(f"{label}: 50 scrapers, slowest scrape", f"{slowest} ms ({failed} failed)")
            table.add(f"{label}: 50 scrapers, RSS grows by", f"{growth / MB:.1f} MB", budget="< 10 MB", ok=growth < 10 * MB)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--processes", type=int, action="append", help="only this many; may be repeated")
    parser.add_argument("--rounds", type=int, default=12, help="ticks to measure for each number of processes")
    options = parser.parse_args()
    tools, table = Tools(options.build), Table()
    with Meter() as meter:
        for count in options.processes or [200, 1_000, BUDGETED]:
            for source in options.source or SOURCES:
                measure(tools, meter, count, source, table, options.rounds)
    return table.finish(options.strict)


if __name__ == "__main__":
    raise SystemExit(main())
