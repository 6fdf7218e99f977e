"""From a metered machine to estimates on one without a meter, by the shipped programs alone: stress-ng under an agent with
the fake meter -> Prometheus -> kepler-model query, extract, train, evaluate, export, import -> a second agent that has no
meter, on a schedule of loads that the model has not seen. Fails where its package is more than 5 % off the meter, where any
zone loses a microjoule, or where a picture is not made. What was made lies in the directory that is its argument."""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from exposition import conservation_errors  # noqa: E402
from harness import Agent, wait_until  # noqa: E402
from prometheus import Prometheus  # noqa: E402

PROGRAM = os.environ["KEPLER_MODEL_BIN"]
OUT = pathlib.Path(sys.argv[1]).resolve()  # the agent takes whole paths only
MAX_PERCENT = 5.0
# (stressor, instances, seconds). What is learnt from, and what is judged on: other loads, at other levels.
SEEN = [(None, 0, 12), ("cpu", 1, 12), (None, 0, 4), ("matrix", 2, 12), ("cpu:40", 1, 12), ("stream", 1, 12),
        ("cpu:70", 2, 12), (None, 0, 4), ("switch", 1, 12)]
UNSEEN = [("cpu:25", 1, 14), ("hash", 2, 14), (None, 0, 10), ("cpu:55", 2, 14), ("qsort", 1, 14)]
CONFIG = "monitor: {interval: 1s, staleness: 500ms}\n"
METERED = CONFIG + "cpu: {preferredMeters: [fake]}\n"
# The virtual machine that this may run in stands for one that has the machine to itself: idle power is its own.
UNMETERED = CONFIG + "cpu: {preferredMeters: []}\nmodel: {sources: [%s], guestIdle: true}\n"


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


def train(table):
    """A model of the package, packed as one would share it, and unpacked again."""
    model, archive, copy = OUT / "model", OUT / "model.zip", OUT / "imported"
    machine = OUT / "machine.json"
    machine.write_text(tool("machine"), encoding="utf-8")
    print(tool("train", f"--data={table}", "--features=bpf_cpu_time_ms", f"--machine={machine}", f"--output={model}",
               f"--predictions={OUT / 'seen-predictions.csv'}"), end="")
    print(tool("export", f"--model={model}", f"--output={archive}"), end="")
    print(tool("import", f"--archive={archive}", f"--output={copy}"), end="")
    return copy


def plot(name, table, predictions):
    for kind in ("svg", "png", "html"):
        picture = OUT / f"{name}.{kind}"
        tool("plot", f"--data={table}", f"--predictions={predictions}", f"--title=Loads {name}", f"--output={picture}")
        require(picture.stat().st_size > 1000, f"{picture} is no picture")


def compare(prometheus, metered, estimating, steady):
    """How far the second agent is off the meter, in percent, over each load."""
    off = []
    print(f"   {'meter, W':>9} {'model, W':>9} {'off, %':>7}")
    for begin, end in steady:
        truth, estimate = watts(prometheus, metered, begin, end), watts(prometheus, estimating, begin, end)
        off.append(100 * abs(estimate - truth) / truth)
        print(f"   {truth:9.3f} {estimate:9.3f} {off[-1]:7.2f}")
    return statistics.mean(off)


def main():
    require(shutil.which("stress-ng"), "stress-ng is not installed")
    OUT.mkdir(parents=True, exist_ok=True)
    with Agent(config=METERED) as metered, Prometheus(metered.port) as prometheus:
        say("loads to learn from, under the fake meter")
        wait_until(lambda: prometheus.scrapes() >= 3, "Prometheus to look at it")
        begin = time.time()
        load(SEEN)
        say("query, extract, train, export, import")
        model = train(record(prometheus, metered.port, begin, "seen"))
    with Agent(config=METERED) as metered, Agent(config=UNMETERED % (model / "model.json")) as estimating, \
            Prometheus(metered.port, estimating.port) as prometheus:
        say("loads that it has not seen, by a meter and by the model")
        wait_until(lambda: prometheus.scrapes() >= 6, "Prometheus to look at both")
        begin = time.time()
        steady = load(UNSEEN)
        time.sleep(12)  # for what joules_at() looks at
        mean = compare(prometheus, metered.port, estimating.port, steady)
        unseen = record(prometheus, metered.port, begin, "unseen")
        scrape = estimating.scrape()
        (info, _), = scrape.series("kepler_model_info", zone="package")
        lost = {key: error for key, error in conservation_errors(scrape).items() if error != 0}
    say("evaluate, predict, plot")
    figures = json.loads(tool("evaluate", f"--model={model}", f"--data={unseen}", "--json"))
    predictions = OUT / "unseen-predictions.csv"
    tool("predict", f"--model={model}", f"--data={unseen}", f"--output={predictions}")
    plot("seen", OUT / "seen.csv", OUT / "seen-predictions.csv")
    plot("unseen", unseen, predictions)
    say(f"the second agent's model: {info['name']} by {info['trainer']}, it states {info['mape']} %")
    say(f"on loads that it has not seen: {mean:.2f} % off over whole loads, {figures['mape']:.2f} % over {figures['n']} rows")
    say(f"pictures: {OUT}/seen.html, {OUT}/unseen.html")
    require(not lost, f"microjoules are lost: {lost}")
    require(mean < MAX_PERCENT and figures["mape"] < MAX_PERCENT, f"more than {MAX_PERCENT} % off the meter")


main()
