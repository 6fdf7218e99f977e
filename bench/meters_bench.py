#!/usr/bin/env python3
"""What meters of the whole machine cost: CPU time of a tick, memory and threads of an agent with all meters that are files,
compared with an agent without any, at the same time and with the same processes. See tools/bench.sh."""
import os
import time

from measure import BUDGETED, Agent, Meter, Scraper, Sleepers, Table, Tools, median, memory_bytes, parser_of, sample

INTERVAL = 2  # seconds
MAX_TICK = 1e-3  # seconds of CPU time on the collection thread
MAX_MEMORY = 0.5e6  # bytes
SENSORS = {  # file: content
    "cray/pm_counters/energy": "1000 J 1 us", "cray/pm_counters/cpu_energy": "500 J 1 us",
    "cray/pm_counters/memory_energy": "100 J 1 us",
    "class/hwmon/hwmon0/device/name": "power_meter", "class/hwmon/hwmon0/device/power1_average": "210000000",
    "class/hwmon/hwmon1/device/name": "power_meter", "class/hwmon/hwmon1/device/power1_average": "190000000",
    "class/hwmon/hwmon2/name": "corsairpsu", "class/hwmon/hwmon2/power1_label": "power total",
    "class/hwmon/hwmon2/power1_input": "187500000", "class/hwmon/hwmon2/power2_input": "150000000",
    "class/hwmon/hwmon2/power3_input": "20000000", "class/hwmon/hwmon2/power4_input": "17500000",
    "class/power_supply/BAT0/type": "Battery", "class/power_supply/BAT0/status": "Discharging",
    "class/power_supply/BAT0/power_now": "20000000",
}


class PlatformMeter(Meter):
    """The tree of Meter with ten sensors of four meters of the machine."""

    def __init__(self):
        super().__init__()
        for name, content in SENSORS.items():
            path = self.sysfs / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content + "\n")


def thread_count(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


class Costs:
    """The ticks of one agent between two calls of mark()."""

    def __init__(self, agent):
        self._agent, self._scraper = agent, Scraper(agent.port)
        self.ticks, self._before = [], None

    def mark(self):
        text = self._scraper.scrape("identity")[0].decode()
        now = sample(text, "kepler_ticks_total"), sample(text, "kepler_tick_cpu_seconds_total")
        if self._before and now[0] > self._before[0]:
            self.ticks.append((now[1] - self._before[1]) / (now[0] - self._before[0]))
        self._before = now


def measure(tools, count, rounds, table):
    asked = ["--activity.source=procfs"]
    with Meter() as plain, PlatformMeter() as full, Sleepers(tools, count):
        with Agent(tools, plain, f"{INTERVAL}s", options=asked) as without, \
                Agent(tools, full, f"{INTERVAL}s", options=asked) as with_meters:
            both = Costs(without), Costs(with_meters)
            for _ in range(rounds + 4):
                time.sleep(INTERVAL)
                for costs in both:
                    costs.mark()
            ticks = [median(costs.ticks[3:]) for costs in both]
            memory = [memory_bytes(agent.pid) for agent in (without, with_meters)]
            threads = [thread_count(agent.pid) for agent in (without, with_meters)]
    more_tick, more_memory = ticks[1] - ticks[0], memory[1] - memory[0]
    label = f"{count:,} processes"
    table.add(f"{label}: CPU time of a tick without them", f"{ticks[0] * 1e3:.2f} ms")
    table.add(f"{label}: meters of the machine add", f"{more_tick * 1e3:.2f} ms", budget="<= 1 ms", ok=more_tick <= MAX_TICK)
    table.add(f"{label}: RSS without them", f"{memory[0] / 1e6:.1f} MB")
    table.add(f"{label}: meters of the machine add", f"{more_memory / 1e6:.2f} MB", budget="<= 0.5 MB",
              ok=more_memory <= MAX_MEMORY)
    table.add(f"{label}: threads without and with four meters", f"{threads[0]}, {threads[1]}", budget="one for each meter",
              ok=threads[1] - threads[0] == 4)


def main():
    parser = parser_of(__doc__, with_source=False)
    parser.add_argument("--processes", type=int, default=BUDGETED)
    parser.add_argument("--rounds", type=int, default=12, help="ticks to measure")
    options = parser.parse_args()
    table = Table()
    measure(Tools(options.build), options.processes, options.rounds, table)
    return table.finish(options.strict)


if __name__ == "__main__":
    raise SystemExit(main())
