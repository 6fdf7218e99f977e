#!/usr/bin/env python3
"""Trains power models of guests on this machine: real QEMU guests, the agent in each and on the host, one Prometheus.

    tools/guest_demo.py --kernel=DIRECTORY --output=DIRECTORY     DIRECTORY: an unpacked linux-image-cloud-amd64

Guests of one and two virtual CPUs run three kinds of load: cpu, memory, calls. First each guest alone with its virtual
CPUs pinned, then both at once on shared CPUs. A powercap tree stands in for the meter of the host: its power follows the
load as the mean server of data/specpower.csv. Other programs on this machine do not count. Each kind of load is predicted by models that have not seen it, and
each size by the other's. Needs root, tools/setup.sh test kernels, KEPLER_BIN and KEPLER_MODEL_BIN. Takes 15 minutes."""
import argparse
import csv
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "guest_demo"))
from machines import KINDS, ROOT, Clock, Guest, Host, make_image, mean_curve  # noqa: E402
from harness import binary, free_port, wait_until  # noqa: E402
from powercap import ONE_PACKAGE, PowercapTree, metered_agent  # noqa: E402
from prometheus import Prometheus  # noqa: E402

SIZES = (1, 2)


def succeed(*command):
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        sys.exit(f"{' '.join(command)}: {ended.stderr or ended.stdout}")
    return ended.stdout


def label_rows(guest, path):
    """The rows of the table that lie in one load, with its kind and level."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [{**row, "kind": kind, "level": level, "pinned": int(guest.pinned)}
            for before, row in zip(rows, rows[1:]) for kind, level, begin, end in guest.loads()
            if float(before["timestamp"]) >= begin and float(row["timestamp"]) <= end]


def write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return path


def table_of(guest, port, options):
    """What docs/guest-models.md tells a tenant to do, with one Prometheus."""
    raw, table = (os.path.join(options.output, guest.name + end) for end in (".json", ".csv"))
    succeed(options.program, "query", f"--server=http://127.0.0.1:{port}", "--last=1h", "--step=1s",
            f"--node={guest.name}", f"--vm={guest.name}", f"--output={raw}")
    said = json.loads(succeed(options.program, "extract", f"--input={raw}", f"--vm={guest.name}", f"--output={table}",
                              "--json"))
    print(f"{guest.name}: {said['rows']} rows; dropped {said['dropped']}; {said['notes'][0]}", flush=True)
    return label_rows(guest, table)


def set_apart():
    """Runs this program in a /proc of its own, and before the programs of other sessions, which would take time from the
    guests unseen."""
    if os.getpid() != 1:
        os.execvp("unshare", ["unshare", "--pid", "--mount-proc", "--fork", "--kill-child", sys.executable, *sys.argv])
    os.setsid()
    subprocess.run(["umount", "--recursive", "--lazy", "/sys/fs/cgroup"], check=True)  # it has the CPU time of all programs
    with open("/proc/self/autogroup", "w", encoding="ascii") as file:
        file.write("-15")


def measure(options):
    set_apart()
    os.makedirs(options.output, exist_ok=True)
    options.image, options.clock = os.path.join(options.output, "image"), Clock().server_address[1]
    make_image(options.kernel, binary(), options.image)
    names = [(f"guest{size}-{word}", size, word == "pinned") for word in ("pinned", "shared") for size in SIZES]
    ports = {name: free_port() for name, _, _ in names}
    with (PowercapTree(ONE_PACKAGE) as tree, Host(tree, mean_curve(ROOT / "data" / "specpower.csv")),
          metered_agent(tree, "--attribution.split=baseline", "--attribution.idle=by-use", interval="3s",
                        source="procfs") as host,
          Prometheus(host.port, *ports.values()) as prometheus):
        wait_until(lambda: host.scrape().series("kepler_node_cpu_idle_baseline_info", confidence="measured"),
                   "the idle power of the host", 240, period=1)
        guests = []
        for name, size, pinned in names:
            guests.append(Guest(name, size, ports[name], pinned, options))
            if pinned:
                guests[-1].run()
        for guest in guests[len(SIZES):]:
            guest.run()
        rows = [row for guest in guests for row in table_of(guest, prometheus.port, options)]
    write(os.path.join(options.output, "rows.csv"), rows)


def error(name, train, test, options):
    """Prints the figures on `test` of a model of `train`."""
    paths = [write(os.path.join(options.output, f"{name}.{part}.csv"), rows)
             for part, rows in (("train", train), ("test", test))]
    model = os.path.join(options.output, name)
    succeed(options.program, "train", f"--data={paths[0]}", f"--features={options.features}", "--power=DynPower",
            "--per=core", f"--output={model}", *options.train)
    figures = json.loads(succeed(options.program, "evaluate", f"--model={model}", f"--data={paths[1]}", "--json"))
    print(f"{name:24} {len(train):5} {figures['n']:5} {figures['mae']:8.3f} {figures['mape']:8.2f}", flush=True)


def judge(rows, options):
    print(f"{'TEST':24} {'TRAIN':>5} {'ROWS':>5} {'MAE (W)':>8} {'MAPE %':>8}")
    for word in ("pinned", "shared"):
        mine = [row for row in rows if int(row["pinned"]) == (word == "pinned")]
        for kind in KINDS:
            error(f"{word}-without-{kind}", [row for row in mine if row["kind"] != kind],
                  [row for row in mine if row["kind"] == kind], options)
        for size in SIZES:
            error(f"{word}-other-size-{size}", [row for row in mine if float(row["cores"]) != size],
                  [row for row in mine if float(row["cores"]) == size], options)
    error("pinned-for-shared", [row for row in rows if int(row["pinned"])],
          [row for row in rows if not int(row["pinned"])], options)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--seconds", type=int, default=15, help="length of each load")
    parser.add_argument("--features", default="bpf_cpu_time_ms,cores", help="of the models")
    parser.add_argument("--train", action="append", default=[], help="more flags of kepler-model train")
    parser.add_argument("--judge-only", action="store_true", help="use the tables of an earlier run")
    options = parser.parse_args()
    options.program = os.environ["KEPLER_MODEL_BIN"]
    if not options.judge_only:
        measure(options)
    with open(os.path.join(options.output, "rows.csv"), encoding="utf-8", newline="") as file:
        judge(list(csv.DictReader(file)), options)


if __name__ == "__main__":
    main()
