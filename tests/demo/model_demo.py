"""From a metered machine to estimates on one without a meter, through a model server, by the shipped programs alone:
stress-ng under an agent with the fake meter -> Prometheus -> kepler-model serve, which trains and publishes -> an agent without
a meter asks the server and uses the model, on loads that the model has not seen. An agent whose settings name the model of
another machine shows the error that it states. Fails if the package of the second agent is more than 5 % off the meter, if a
zone loses a microjoule, or if a plot is not written. Results are in the directory that is the argument."""
import contextlib
import csv
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from exposition import conservation_errors  # noqa: E402
from harness import Agent, wait_until  # noqa: E402
from prometheus import Prometheus  # noqa: E402
from test_model_server import ModelServer  # noqa: E402

PROGRAM = os.environ["KEPLER_MODEL_BIN"]
OUT = pathlib.Path(sys.argv[1]).resolve()  # the agent takes whole paths only
MAX_PERCENT = 5.0
# (stressor, instances, seconds). The first loads train, the others judge: other programs, at other levels.
SEEN = [(None, 0, 20), ("cpu", 1, 20), (None, 0, 5), ("matrix", 2, 20), ("cpu:40", 1, 20), ("stream", 1, 20),
        ("cpu:70", 2, 20), (None, 0, 5), ("switch", 1, 20)]
UNSEEN = [("cpu:25", 1, 14), ("hash", 2, 14), (None, 0, 10), ("cpu:55", 2, 14), ("qsort", 1, 14)]
CONFIG = "monitor: {interval: 1s, staleness: 500ms}\n"
METERED = CONFIG + "cpu: {preferredMeters: [fake]}\n"
# This may be a virtual machine. It stands for a machine whose idle power is its own.
UNMETERED = CONFIG + "cpu: {preferredMeters: []}\nmodel: {%s, cacheDir: '', guestIdle: true}\n"
ANOTHER_NEEDS = 1.25  # times the power of this machine


def say(text):
    print(f"== {text}", flush=True)


def require(condition, otherwise):
    if not condition:
        raise SystemExit(f"FAILED: {otherwise}")


def tool(*arguments):
    ended = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, text=True, timeout=300, check=False)
    if ended.returncode != 0:
        raise SystemExit(f"kepler-model {arguments[0]} ended with {ended.returncode}")
    return ended.stdout


def load(schedule):
    """Runs the loads one after the other; the Unix times between which each was steady."""
    steady = []
    for stressor, instances, seconds in schedule:
        name, _, percent = (stressor or "idle").partition(":")
        print(f"   {name:8} x {instances} {percent and percent + ' %'}", flush=True)
        begin = time.time()
        if stressor is None:
            time.sleep(seconds)
        else:
            command = ["stress-ng", "--quiet", f"--{name}", str(instances), "--timeout", f"{seconds}s"]
            subprocess.run(command + (["--cpu-load", percent] if percent else []), check=True, timeout=seconds + 60)
        steady.append((begin + 2, time.time() - 1))
    return steady


def joules_at(prometheus, port, moment):
    """What the package of an agent had used by then: between the two scrapes next to it."""
    query = f'kepler_node_cpu_joules_total{{instance="127.0.0.1:{port}",zone="package"}}[20s]'
    (series,) = prometheus.ask(query=query, time=moment + 10)
    samples = [(float(at), float(value)) for at, value in series["values"]]
    require(samples[0][0] <= moment < samples[-1][0], f"no scrapes of port {port} around {moment}: {samples}")
    before = max(sample for sample in samples if sample[0] <= moment)
    after = min(sample for sample in samples if sample[0] > moment)
    return before[1] + (after[1] - before[1]) * (moment - before[0]) / (after[0] - before[0])


def watts(prometheus, port, begin, end):
    return (joules_at(prometheus, port, end) - joules_at(prometheus, port, begin)) / (end - begin)


def record(prometheus, port, begin, name):
    """A table of what an agent was seen to do since then."""
    raw, table = OUT / f"{name}.json", OUT / f"{name}.csv"
    tool("query", f"--server=http://127.0.0.1:{prometheus.port}", f"--start={begin:.3f}", "--step=1s",
         f'--match=instance="127.0.0.1:{port}"', f"--output={raw}")
    tool("extract", f"--input={raw}", f"--output={table}")
    return table


def serve(prometheus):
    """A server that trains a model of what Prometheus has, and publishes it."""
    machine = OUT / "machine.json"
    machine.write_text(tool("machine"), encoding="utf-8")
    (OUT / "store").mkdir()
    return ModelServer(OUT / "store", f"--jobs={OUT / 'jobs'}", "--retrain=demo", "--retrain-last=10m",
                       f"--retrain-server=http://127.0.0.1:{prometheus.port}", f"--retrain-machine={machine}",
                       "--retrain-features=bpf_cpu_time_ms", log=OUT / "server.log")


def wait_for_version(server):
    def is_there():
        for job in json.loads(server.get("/jobs")[2])["jobs"]:
            require(job["status"] in ("queued", "running", "done"), server.get(f"/jobs/{job['id']}/log")[2].decode())
        return "demo" in server.names()
    wait_until(is_there, "the first version of the model", 120)
    decision = json.loads((OUT / "store/.versions/demo/decisions.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    print(f"   version {decision['new_version']} of demo is published: {decision['reason']}", flush=True)


def publish_model_of_another_machine(table):
    """Trained on the same loads, on a machine that needs more power."""
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with open(OUT / "another.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        for row in rows:
            writer.writerow({name: float(value) * ANOTHER_NEEDS if name.endswith("_power") and value else value
                             for name, value in row.items()})
    machine = json.loads((OUT / "machine.json").read_text(encoding="utf-8"))
    another = {key: value for key, value in machine.items() if key not in ("cpuid", "is_guest")}
    (OUT / "another.json").write_text(json.dumps(another | {"processor": "another_processor"}), encoding="utf-8")
    tool("train", f"--data={OUT / 'another.csv'}", "--features=bpf_cpu_time_ms", f"--machine={OUT / 'another.json'}",
         "--name=another", f"--output={OUT / 'store/another'}")


def say_choice(server, machine, whose):
    status, headers, body = server.get("/best/model.json?" + urllib.parse.urlencode({"machine": json.dumps(machine)}))
    answer = json.loads(body)["name"] if status == 200 else body.decode().strip()
    print(f"   GET /best/model.json for {whose}: {status}, {answer}", flush=True)
    return answer


def plot(name, table, predictions):
    for kind in ("svg", "png", "html"):
        picture = OUT / f"{name}.{kind}"
        tool("plot", f"--data={table}", f"--predictions={predictions}", f"--title=Loads {name}", f"--output={picture}")
        require(picture.stat().st_size > 1000, f"{picture} is no plot")


def compare(prometheus, metered, estimating, steady):
    """How far an agent is off the meter, in percent, over each load."""
    off = []
    print(f"   {'meter, W':>9} {'model, W':>9} {'off, %':>7}")
    for begin, end in steady:
        truth, estimate = watts(prometheus, metered, begin, end), watts(prometheus, estimating, begin, end)
        off.append(100 * abs(estimate - truth) / truth)
        print(f"   {truth:9.3f} {estimate:9.3f} {off[-1]:7.2f}")
    return statistics.mean(off)


def stated(scrape):
    """Labels of kepler_model_info, and the basis of the stated error with the error in percent."""
    (info, _), = scrape.series("kepler_model_info", zone="package")
    (error, ratio), = scrape.series("kepler_model_error_ratio", zone="package")
    return info, error["basis"], 100 * float(ratio)


def main():
    require(shutil.which("stress-ng"), "stress-ng is not installed")
    OUT.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as running:
        with Agent(config=METERED) as metered, Prometheus(metered.port) as prometheus:
            say("loads to learn from, under the fake meter")
            wait_until(lambda: prometheus.scrapes() >= 3, "Prometheus to scrape the agent")
            begin = time.time()
            load(SEEN)
            say("kepler-model serve trains and publishes")
            server = running.enter_context(serve(prometheus))
            wait_for_version(server)
            publish_model_of_another_machine(record(prometheus, metered.port, begin, "seen"))
            wait_until(lambda: {"demo", "another"} <= set(server.names()), "both models")
        mine = json.loads((OUT / "machine.json").read_text(encoding="utf-8"))
        require(say_choice(server, mine, "this machine") == "demo", "this machine gets another model")
        say_choice(server, {"processor": "some_processor", "cores": 8}, "a machine without a model")
        metered = running.enter_context(Agent(config=METERED))
        asking = running.enter_context(Agent(config=UNMETERED % f"server: '{server.url('')}'"))
        told = running.enter_context(Agent(config=UNMETERED % f"sources: ['{server.url('/models/another/model.json')}']"))
        prometheus = running.enter_context(Prometheus(metered.port, asking.port, told.port))
        say("loads that it has not seen, by a meter and by the models")
        for agent, name in ((asking, "demo"), (told, "another")):
            agent.wait_log(f"loaded power models.*{name} .version")
        wait_until(lambda: prometheus.scrapes() >= 9, "Prometheus to scrape the agents")
        begin = time.time()
        steady = load(UNSEEN)
        time.sleep(12)  # for the scrapes that joules_at() needs
        say("the agent that asked the server for a model")
        mean = compare(prometheus, metered.port, asking.port, steady)
        say("the agent whose settings name the model of another machine")
        other_mean = compare(prometheus, metered.port, told.port, steady)
        unseen = record(prometheus, metered.port, begin, "unseen")
        scrapes = asking.scrape(), told.scrape()
        (OUT / "model").mkdir()
        (OUT / "model/model.json").write_bytes(server.get("/models/demo/model.json")[2])
    say("evaluate, predict, plot")
    figures = json.loads(tool("evaluate", f"--model={OUT / 'model'}", f"--data={unseen}", "--json"))
    for name in ("seen", "unseen"):
        predictions = OUT / f"{name}-predictions.csv"
        tool("predict", f"--model={OUT / 'model'}", f"--data={OUT / name}.csv", f"--output={predictions}")
        plot(name, OUT / f"{name}.csv", predictions)
    (info, basis, percent), (other, other_basis, other_percent) = (stated(scrape) for scrape in scrapes)
    say(f"model of the server: {info['name']} by {info['trainer']}, match={info['match']}: it states {percent:.2f} % "
        f"({basis}); estimated against metered MAPE: {mean:.2f} % over whole loads, {figures['mape']:.2f} % over "
        f"{figures['n']} rows")
    say(f"model of another machine: match={other['match']}: it states {other_percent:.2f} % ({other_basis}, so the error here "
        f"is larger); estimated against metered MAPE: {other_mean:.2f} %")
    say(f"plots: {OUT}/seen.html, {OUT}/unseen.html")
    for scrape in scrapes:
        lost = {key: error for key, error in conservation_errors(scrape).items() if error != 0}
        require(not lost, f"microjoules are lost: {lost}")
    require(info["name"] == "demo" and basis == "same_machine", f"the agent uses {info}")
    require(other["match"] == "named" and other_basis == "training_machine", f"the second agent uses {other}")
    require(other_mean > mean, "the model of another machine is as good as that of this one")
    require(mean < MAX_PERCENT and figures["mape"] < MAX_PERCENT, f"more than {MAX_PERCENT} % off the meter")


main()
