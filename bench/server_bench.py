#!/usr/bin/env python3
"""Measures kepler-model serve: startup with many models, rate and latency of answers, cost of many agents. See tools/bench.sh."""
import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

from measure import cpu_seconds, free_port, memory_bytes

HERE = Path(__file__).resolve().parent
MODELS = 5000
AGENTS, PERIOD, KINDS = 10_000, 600, 100  # PERIOD in seconds; KINDS of machines
BUDGETS = {"startup": 1.0, "memory": 60.0, "p99": 20.0, "agents": 2.0}  # s, MB, ms, % of a core
PYTHON = "/usr/bin/python3"  # with Debian's python3-flask


def spec(number):
    return {"processor": f"intel_xeon_{number % 500}", "cores": 8 + number % 64, "chips": 1 + number % 2,
            "memory": 64 + number % 7, "frequency": 2000 + number % 1000}


def write_store(store):
    """Half upstream's: weights with machines. Half our own."""
    group = store / "v0.7/bench/rapl-sysfs/AbsPower/BPFOnly"
    group.mkdir(parents=True)
    types = {}
    for number in range(MODELS // 2):
        types[str(number)] = {"attrs": spec(number), "members": []}
        weights = {"All_Weights": {"Bias_Weight": 40.0 + number, "Categorical_Variables": {},
                                   "Numerical_Variables": {"bpf_cpu_time_ms": {"scale": 2.0, "weight": 3.0}}}}
        (group / f"SGDRegressorTrainer_{number}.json").write_text(json.dumps({"package": weights}))
    (store / "v0.7/bench/node_type_index.json").write_text(json.dumps(types))
    for number in range(MODELS - MODELS // 2):
        machine = spec(number)
        model = {"kepler_model": 1, "name": f"own-{number}", "version": 1, "output": "AbsPower",
                 "features": ["bpf_cpu_time_ms"], "domain": [[0, 1e6]],
                 "machine": {"processor": machine["processor"], "cores": machine["cores"], "chips": machine["chips"]},
                 "components": [{"component": "package", "trainer": "linear", "label": [0, 500],
                                 "accuracy": {"rows": 9, "mae_watts": 1.5, "mape": 2.5, "r2": 0.5},
                                 "predictor": {"formula": "linear", "bias": 40, "weights": [0.05]}}]}
        (store / f"own/own-{number}").mkdir(parents=True)
        (store / f"own/own-{number}/model.json").write_text(json.dumps(model))


def program(build, name):
    found = [path for path in Path(build).rglob(name) if path.is_file() and "_CPack_Packages" not in path.parts]
    if not found:
        raise SystemExit(f"bench: {build} has no {name}: build that target first")
    return found[0]


class Served:
    def __init__(self, command, port, path):
        self.port, begin = port, time.monotonic()
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            if self.process.poll() is not None:
                raise SystemExit(f"bench: {command[0]} ended")
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
                connection.request("GET", path)
                connection.getresponse().read()
                break
            except OSError:
                time.sleep(0.002)
        self.startup = time.monotonic() - begin

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def scans(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        connection.request("GET", "/metrics")
        page = connection.getresponse().read().decode()
        return int(re.search(r"^kepler_model_server_scans_total (\d+)$", page, re.MULTILINE)[1])

    def memory(self):
        return memory_bytes(self.process.pid) / 1e6


def load(client, served, requests, rate, seconds, connections, kept):
    """(answered, failed, p50, p99, max in ms, CPU of the server in % of a core)"""
    before = cpu_seconds(served.process.pid)
    out = subprocess.run([client, str(served.port), str(rate), str(seconds), str(connections), "keep" if kept else "close"],
                         input=b"\0".join(requests), check=True, stdout=subprocess.PIPE).stdout.split()
    cpu = (cpu_seconds(served.process.pid) - before) / seconds * 100
    answered, failed, p50, p99, longest = map(float, out)
    return int(answered), int(failed), p50 / 1000, p99 / 1000, longest / 1000, cpu


def model_request(number):
    body = json.dumps({"metrics": ["bpf_cpu_time_ms"], "output_type": "AbsPower", "source": "rapl-sysfs", "node_type": 0,
                       "weight": True, "trainer_name": "", "filter": "", "machine_spec": spec(number)})
    return (f"POST /model HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            f"{body}").encode()


def agent_request(number):
    machine = spec(number)
    query = urllib.parse.urlencode({"machine": f"processor={machine['processor']},cores={machine['cores']},chips={machine['chips']}",
                                    "features": "bpf_cpu_time_ms,cpu_cycles"})
    return f"GET /best/model.json?{query} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rate", type=float, default=1000)
    args = parser.parse_args()
    client, misses = program(args.build, "request_rate"), []

    def row(name, value, unit, key=None):
        budget = BUDGETS.get(key)
        verdict = "" if budget is None else f"   (budget < {budget:g}: {'ok' if value < budget else 'OVER'})"
        if budget is not None and value >= budget:
            misses.append(name)
        print(f"{name:58} {value:9.2f} {unit}{verdict}", flush=True)

    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
    with tempfile.TemporaryDirectory(prefix="kepler-bench-") as directory:
        store = Path(directory)
        write_store(store)
        port = free_port()
        command = [program(args.build, "kepler-model"), "serve", f"--store={store}", f"--listen-address=127.0.0.1:{port}",
                   "--config-dir=/nowhere"]
        with Served(command, port, "/healthz") as served:
            row(f"startup with {MODELS:,} models", served.startup, "s", "startup")
            row("RSS after startup", served.memory(), "MB", "memory")
            requests = [model_request(number) for number in range(0, 2000, 20)]
            first = load(client, served, requests, 100, len(requests) / 100, 4, True)
            row("POST /model, first answers, p99", first[3], "ms")
            answer = load(client, served, requests, args.rate, args.seconds, 16, True)
            row(f"POST /model, {answer[0] / args.seconds:.0f} of {args.rate:.0f} a second: failed", answer[1], "")
            row("  p50", answer[2], "ms")
            row("  p99", answer[3], "ms", "p99")
            row("  max", answer[4], "ms")
            row("  CPU", answer[5], "% of a core")
            scans, before = served.scans(), cpu_seconds(served.process.pid)
            time.sleep(2 * args.seconds)
            scan = (cpu_seconds(served.process.pid) - before) / (served.scans() - scans)
            row("without requests: CPU of a scan, every 10 s", 1000 * scan, "ms")
            kinds, rate = [agent_request(n) for n in range(KINDS)], AGENTS / PERIOD
            before = cpu_seconds(served.process.pid)
            first = load(client, served, kinds, 100, KINDS / 100, 4, False)
            row(f"first answers to {KINDS} kinds of agents, p99", first[3], "ms")
            row("  CPU of each", 1000 * (cpu_seconds(served.process.pid) - before) / KINDS, "ms")
            scans = served.scans()
            agents = load(client, served, kinds, rate, 2 * args.seconds, 4, False)
            row(f"{AGENTS:,} agents of {KINDS} kinds, {rate:.1f} connections/s: failed", agents[1], "")
            row("  p99", agents[3], "ms")
            cpu = agents[5] - (served.scans() - scans) * scan / (2 * args.seconds) * 100
            row("  CPU, without that of scans", cpu, "% of a core", "agents")
            row("RSS at the end", served.memory(), "MB", "memory")
        if subprocess.run([PYTHON, "-c", "import flask"], capture_output=True, check=False).returncode:
            print("no Flask server: install python3-flask")
        else:
            weights = store / "v0.7/bench/rapl-sysfs/AbsPower/BPFOnly/SGDRegressorTrainer_0.json"
            port = free_port()
            with Served([PYTHON, HERE / "server_peer.py", str(port), weights], port, "/") as peer:
                answer = load(client, peer, requests, args.rate, args.seconds, 16, True)
                row(f"Flask, POST /model at {args.rate:.0f} a second: failed", answer[1], "")
                row("  p50", answer[2], "ms")
                row("  p99", answer[3], "ms")
                row("  CPU", answer[5], "% of a core")
                row("  RSS", peer.memory(), "MB")
    return 1 if misses and args.strict else 0


if __name__ == "__main__":
    sys.exit(main())
