#!/usr/bin/env python3
"""What BPF accounting costs on this kernel: the machine while it runs, and the agent itself. See tools/bench.sh."""
import gzip
import os
import statistics
import subprocess
import time

from measure import (BUDGETED, SOURCES, TICK_BUDGETS, Agent, Meter, Scraper, Sleepers, Table, Tools, median, parser_of,
                     quiet_moments, sample)

SWITCHES, LIVES = 200_000, 5_000  # about half a second each
EXITS = 20_000  # thread exits a second
BPF = "--activity.source=bpf"


class Pairs:
    """A cost with the agent and without it, in turns: without, with, with, without, and so on. So either comes first as often,
    a drift of the machine's speed cancels out, and one agent serves two neighbouring rounds. It is started and stopped
    each time: programs stay attached while an agent is merely stopped. It ticks every second, five times as often as by
    default, so that short rounds have ticks in them too."""

    def __init__(self, tools, meter, options, cost):
        self._tools, self._meter, self._options, self._cost = tools, meter, options, cost
        self.with_agent, self.without = [], []

    def run(self, count):
        for _ in range((count + 1) // 2):
            self.without.append(self._round())
            with Agent(self._tools, self._meter, "1s", options=self._options):
                self.with_agent += [self._round(), self._round()]
            self.without.append(self._round())

    def _round(self):
        time.sleep(0.1)  # what was attached or detached has settled
        return self._cost()

    def ratios(self):
        return [mine / other for mine, other in zip(self.with_agent, self.without)]

    def noise(self):
        """The same of neighbouring rounds that are both without: what the machine alone makes of 1."""
        return [later / former for former, later in zip(self.without[1::2], self.without[2::2])]


def spread(ratios):
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:.4f} ({low:.3f} to {high:.3f})"


def measure_pairs(tools, meter, table, label, program, count, pairs, options=(), least=0, most=None):
    """Adds the cost of one switch or life, and whether the median ratio is within [least, most]."""
    cpu = str(max(os.sched_getaffinity(0)))
    run = Pairs(tools, meter, [BPF, *options], lambda: float(
        subprocess.run([tools.path(program), cpu, str(count)], check=True, capture_output=True, text=True).stdout))
    run.run(pairs)
    ratio = statistics.median(run.ratios())
    budget = "" if most is None else f"{least} to {most}" if least else f"<= {most}"
    print(f"{label}: {len(run.with_agent)} pairs", flush=True)
    table.add(label, f"{median(run.with_agent):.0f} ns", f"{median(run.without):.0f} ns", spread(run.ratios()), budget,
              None if most is None else least <= ratio <= most)
    if len(run.noise()) > 1:
        table.add(f"{label}, without / without", "", "", spread(run.noise()))


def measure_switches(tools, meter, table, options):
    label = "context switch"
    measure_pairs(tools, meter, table, label, "context_switches", SWITCHES, options.pairs, least=0.99, most=1.01)
    measure_pairs(tools, meter, table, f"{label}, software counters", "context_switches", SWITCHES, options.pairs // 2,
                  ["--activity.counters=hardware", "--dev.software-events"])


def measure_lives(tools, meter, table, options):
    measure_pairs(tools, meter, table, "fork + exit + wait", "process_lives", LIVES, options.pairs, most=1.03)


def measure_ticks(tools, meter, table, options):
    for count in options.processes or [1_000, 10_000, 25_000]:
        with Sleepers(tools, count):
            for source in options.source or SOURCES:
                measure_tick(tools, meter, table, source, count, options.rounds)


def measure_tick(tools, meter, table, source, count, rounds):
    """CPU time of the agent's tick by its own metric. The yardstick is taken between any two ticks, half an interval after the
    former: it finds caches as cold as they do."""
    interval = 2 if count >= 10_000 else 1
    totals = ["ticks", "tick_cpu_seconds"] + (["activity_iterator_seconds"] if source == "bpf" else [])
    costs, yardsticks, before = [], [], None
    with Agent(tools, meter, f"{interval}s", options=[f"--activity.source={source}"]) as agent:
        scraper = Scraper(agent.port)
        moments = quiet_moments(agent, interval)
        next(moments)
        next(moments)  # by then every process has been named
        for _, _ in zip(range(rounds + 1), moments):
            text = gzip.decompress(scraper.scrape("gzip")[0]).decode()
            now = [sample(text, f"kepler_{name}_total") for name in totals]
            if before and now[0] > before[0]:
                grown = [later - former for former, later in zip(before, now)]
                costs.append([total / grown[0] for total in grown[1:]])
            before = now
            yardsticks.append(tools.yardstick(1)[0])
    label = f"{count:,} processes: tick, {source}"
    yardstick = median(yardsticks)
    print(f"{label}: {len(costs)} ticks", flush=True)
    tick, *passes = [median(figures) for figures in zip(*costs)]
    table.cost(label, tick, yardstick, TICK_BUDGETS[source] if count == BUDGETED else None)
    for wall in passes:
        table.add(f"{label}: of it the pass over all tasks, wall", f"{wall * 1e3:.2f} ms")


def measure_exits(tools, meter, table, options):
    measure_exit_rate(tools, meter, table, f"{EXITS:,} thread exits a second", EXITS, options.seconds)
    measure_exit_rate(tools, meter, table, "thread exits at full speed", 0, options.seconds)


def measure_exit_rate(tools, meter, table, label, rate, seconds):
    """At the default interval, so that as much piles up between two ticks as it does by default."""
    interval = 5
    with Agent(tools, meter, f"{interval}s", options=[BPF]) as agent:
        scraper = Scraper(agent.port)
        before = scraper.scrape("identity")[0].decode()
        cpu = agent.cpu()
        out = subprocess.run([tools.path("thread_exits"), str(rate), str(seconds)], check=True, capture_output=True,
                             text=True).stdout
        time.sleep(0.5 + interval)  # the kernel hands over the dead some 30 ms late, and the next tick takes them in
        cpu = agent.cpu() - cpu
        after = scraper.scrape("identity")[0].decode()

    def grown(name, labels=""):
        return sample(after, name, labels) - sample(before, name, labels)

    exits, took = (float(word) for word in out.split())
    records = grown("kepler_activity_records_total", 'kind="task"')
    dropped = sum(grown("kepler_activity_dropped_total", f'kind="{kind}"') for kind in ("task", "exec", "cgroup"))
    lost = grown("kepler_activity_lost_seconds_total")
    print(f"{label}: {exits:.0f} in {took:.1f} s", flush=True)
    table.add(f"{label}: reached", f"{exits / took:.0f} /s", budget=f">= {0.95 * rate:.0f} /s" if rate else "",
              ok=exits / took >= 0.95 * rate if rate else None)
    table.add(f"{label}: agent, its ticks included", f"{cpu / took:.2%} of a CPU", "", f"{cpu / exits * 1e6:.2f} us each")
    table.add(f"{label}: records, dropped ones included", f"{records + dropped:.0f}", f"{exits:.0f}",
              f"{(records + dropped) / exits:.4f}", ">= 0.999", records + dropped >= 0.999 * exits)
    table.add(f"{label}: dropped / lost time", f"{dropped:.0f} / {lost:.6f} s", budget="0 / 0 s" if rate else "",
              ok=dropped == 0 and lost == 0 if rate else None)


MEASUREMENTS = {"switches": measure_switches, "lives": measure_lives, "ticks": measure_ticks, "exits": measure_exits}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--only", choices=MEASUREMENTS, action="append", help="measure only this; may be repeated")
    parser.add_argument("--pairs", type=int, default=40, help="rounds with and without the agent")
    parser.add_argument("--processes", type=int, action="append", help="ticks with only this many; may be repeated")
    parser.add_argument("--rounds", type=int, default=12, help="ticks to measure for each number of processes")
    parser.add_argument("--seconds", type=int, default=12, help="how long threads end")
    options = parser.parse_args()
    tools, table = Tools(options.build, "context_switches", "process_lives", "thread_exits"), Table()
    with Meter() as meter:
        for name in options.only or MEASUREMENTS:
            MEASUREMENTS[name](tools, meter, table, options)
    return table.finish(options.strict)


if __name__ == "__main__":
    raise SystemExit(main())
