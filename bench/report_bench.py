#!/usr/bin/env python3
"""kepler report from a file of a day in which all pods run all day, compared with Python's json, which reads the same lines, and with
wc -l, which only finds them. See tools/bench.sh."""
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path

from measure import Table, parser_of

SECONDS_BUDGET = 2  # wall time
ZONES = ("package", "dram")
IDLE = 1_000_000  # microjoules a minute
BEGIN = datetime.datetime(2026, 11, 27)
PEER = "--peer"


def time_text(minute):
    return (BEGIN + datetime.timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def joules(microjoules):
    return f"{microjoules // 1_000_000}.{microjoules % 1_000_000:06d}"


def by_zone(text):
    return "{" + ",".join(f'"{zone}":{text}' for zone in ZONES) + "}"


def write_day(path, pods, minutes):
    """The lines that an agent writes for `pods` pods (docs/json-lines.md). Returns the microjoules of the pods and of the zone."""
    start = time_text(0)
    parts = [f',"level":"pod","pod_id":"{i:08x}-1b1d-4e0a-9d3c-000071950000","pod_name":"web-{i % 40}-{i:05x}","pod_namespace":'
             f'"team{i % 25}","state":"running","start":"{start}","cpu_seconds":' for i in range(pods)]
    sums = [37 * (i + 1) for i in range(pods)]  # microjoules a minute
    with open(path, "w", encoding="ascii", buffering=1 << 20) as file:
        for minute in range(minutes + 1):
            begin = f'{{"version":1,"time":"{time_text(minute)}","node":"n1"'
            active, idle, cpu = minute * sum(sums), minute * IDLE, f"{minute * 0.37:.2f}"
            for zone in ZONES:
                file.write(f'{begin},"level":"node","zone":"{zone}","path":"/sys/class/powercap/intel-rapl:0","origin":"measured",'
                           f'"start":"{start}","joules":{joules(active + idle)},"active_joules":{joules(active)},'
                           f'"idle_joules":{joules(idle)},"watts":50,"active_watts":40,"idle_watts":10}}\n')
            file.writelines(f'{begin}{part}{cpu},"joules":{by_zone(joules(minute * each))},"watts":{by_zone(0.25)}}}\n'
                            for part, each in zip(parts, sums))
            file.write(f'{begin},"level":"unattributed","joules":{by_zone("0.000000")}}}\n')
            for reason in ("departed", "capped", "unseen", "outside", "unnamed"):
                file.write(f'{begin},"level":"unlisted","of":"pod","reason":"{reason}","joules":{by_zone("0.000000")}}}\n')
    return minutes * sum(sums), minutes * (sum(sums) + IDLE)


def peer(path):
    """Joules of each pod at the last tick, as a script would read them."""
    seen = Counter()
    with open(path, encoding="utf-8") as file:
        for text in file:
            line = json.loads(text)
            if line["level"] == "pod":
                seen[f"{line['pod_namespace']}/{line['pod_name']}"] = line["joules"]["package"]
    print(sum(seen.values()))


def run(command):
    """Output, wall and CPU seconds of a program."""
    with tempfile.TemporaryFile() as out:
        begin = time.monotonic()
        with subprocess.Popen(command, stdout=out) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - begin
        if process.returncode != 0:
            raise SystemExit(f"bench: {command[0]}: exit code {process.returncode}")
        out.seek(0)
        return out.read().decode(), wall, usage.ru_utime + usage.ru_stime


def measure(kepler, path, options, table):
    pods, node = write_day(path, options.pods, options.minutes)
    size = f"{options.pods:,} pods, {options.minutes:,} minutes, {path.stat().st_size / 1e6:.0f} MB"
    report = [str(kepler), "report", "--by=pod", "--format=json", str(path)]
    runs = [run(report) for _ in range(options.rounds)]
    lines = json.loads(runs[0][0], parse_float=Decimal)["lines"]
    rows = sum(line["joules"] for line in lines if line["kind"] == "pod")
    total, = (line["joules"] for line in lines if line["kind"] == "total")
    table.add(f"{size}: sums", f"{rows} + idle = {total} J", budget="exact",
              ok=(rows, total) == (Decimal(pods) / 1_000_000, Decimal(node) / 1_000_000))
    wall, cpu = (statistics.median(column) for column in list(zip(*runs))[1:])
    table.add("kepler report, wall time", f"{wall:.2f} s", budget=f"< {SECONDS_BUDGET} s", ok=wall < SECONDS_BUDGET)
    table.add("kepler report, CPU time", f"{cpu:.2f} s")
    for name, command in (("Python's json", [sys.executable, __file__, PEER, str(path)]), ("wc -l", ["wc", "-l", str(path)])):
        _, its_wall, its_cpu = run(command)
        table.add(f"{name}, wall / CPU time", f"{its_wall:.2f} / {its_cpu:.2f} s")


def main():
    if sys.argv[1:2] == [PEER]:
        return peer(sys.argv[2])
    parser = parser_of(__doc__, with_source=False)
    parser.add_argument("--pods", type=int, default=2_000)
    parser.add_argument("--minutes", type=int, default=1_440)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    table = Table()
    with tempfile.TemporaryDirectory(prefix="kepler-bench-") as folder:
        measure(Path(options.build) / "src/apps/kepler/kepler", Path(folder) / "day.jsonl", options, table)
    return table.finish(options.strict)


if __name__ == "__main__":
    raise SystemExit(main())
