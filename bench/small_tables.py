"""Draws small tables of measurements from data/ for bench/models_bench.py. The rules are in docs/benchmarks.md; do not change
them after a look at results."""
import collections
import csv
import random
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"
SIZES = [100, 150, 200]
MIN_ROWS, MAX_ROWS = 100, 200
FOLDS = 5
NX12_FEATURES = {
    "BPFIRQ": ["bpf_cpu_time_us", "bpf_block_irq", "bpf_net_rx_irq", "bpf_net_tx_irq"],
    "Basic07": ["bpf_cpu_time_us", "cache_miss", "cpu_cycles", "cpu_instructions"],
}
SERVER_FEATURES = ["utilisation", "cores", "chips", "memory_gib", "frequency_mhz"]
TYPES_PER_TABLE = [4, 8, 16]
DRAWS = 4

# `rows`: dictionaries with the features, the target and the column "fold", and "node" if the table has several machines.
Table = collections.namedtuple("Table", "kind name features target rows")


def read(name):
    with open(DATA / name, newline="") as file:
        return list(csv.DictReader(file))


def in_blocks(rows):
    return [row | {"fold": i * FOLDS // len(rows)} for i, row in enumerate(rows)]


def of_one_recording(seed):
    """Runs of consecutive rows of nx12.csv and random rows of it, both in order of time."""
    rows = read("nx12.csv")
    for size in SIZES:
        for group, features in NX12_FEATURES.items():
            for component in ("package", "dram", "platform"):
                name = f"{size} {group} {component}"
                draw = random.Random(f"{seed} {name}")
                begin = draw.randrange(len(rows) - size + 1)
                some = sorted(draw.sample(range(len(rows)), size))
                target = f"{component}_power"
                yield Table("nx12 run", name, features, target, in_blocks(rows[begin:begin + size]))
                yield Table("nx12 sample", name, features, target, in_blocks([rows[i] for i in some]))


def of_servers(seed):
    """Each server type with 100 to 200 rows; and random server types, tested on types that were left out."""
    types = collections.defaultdict(list)
    for row in read("specpower.csv"):
        types[row["node_type"]].append(row | {"platform_power": row["platform_watts"]})
    for number, rows in types.items():
        if MIN_ROWS <= len(rows) <= MAX_ROWS:
            mixed = random.Random(f"{seed} {number}").sample(rows, len(rows))  # the file is sorted by load
            yield Table("one server type", f"type {number}", SERVER_FEATURES[:1], "platform_power", in_blocks(mixed))
    for count in TYPES_PER_TABLE:
        for number in range(DRAWS):
            name = f"{count} types, draw {number}"
            draw = random.Random(f"{seed} {name}")
            rows = []
            while not MIN_ROWS <= len(rows) <= MAX_ROWS:
                rows = [row | {"fold": i % FOLDS, "node": node} for i, node in enumerate(draw.sample(sorted(types), count))
                        for row in draw.sample(types[node], min(len(types[node]), 160 // count))]
            yield Table("several server types", name, SERVER_FEATURES, "platform_power", rows)


def draw_all(seed):
    return [*of_one_recording(seed), *of_servers(seed)]


def write(table, path):
    columns = [*table.features, table.target, "fold", *(["node"] if "node" in table.rows[0] else [])]
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(table.rows)
