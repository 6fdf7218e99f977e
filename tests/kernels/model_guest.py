"""Shows which guests use the model of a host: the agent runs in QEMU on this machine's processor, and on another one.

  model_guest.py --kernel VMLINUZ --agent KEPLER --tool KEPLER-MODEL --data CSV --logs DIRECTORY

The host is a server with the vendor, family and model of this machine's processor, and with a size and a name that no guest
here sees. A model is trained for it. Prints one line per guest; exit code 1 if a guest does not find the expected match.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import guest

NAME = "Example Server Processor 9000"
SERVER = {"processor": NAME, "cores": 128, "chips": 2, "memory_gib": 503, "frequency_mhz": 3800}
SECONDS = 120


def host_machine(tool):
    here = json.loads(subprocess.run([tool, "machine"], check=True, capture_output=True, text=True, timeout=30).stdout)
    if "family" not in here.get("cpuid", {}) or here["cpuid"]["vendor"].startswith("0x"):
        raise SystemExit("model_guest: this machine has no x86 processor, so QEMU cannot imitate it")
    return {**SERVER, "cpuid": here["cpuid"]}


def train(tool, data, machine, output):
    subprocess.run([tool, "train", f"--data={data}", "--features=bpf_cpu_time_ms", "--trainer=linear",
                    f"--machine={machine}", f"--output={output}"], check=True, capture_output=True, timeout=120)


def similarity(tool, types, machine, scratch):
    """By the rule for whole machines, which a guest does not meet."""
    path = scratch / "guest.json"
    path.write_text(machine)
    done = subprocess.run([tool, "machine", f"--machine={path}", f"--types={types}"], check=True, capture_output=True,
                          text=True, timeout=30)
    return json.loads(done.stdout)["similarity"]


def cases(cpuid):
    """(title, CPUs, QEMU's words for the processor, the match that the agent must find)."""
    def words(model, name):
        return f"max,vendor={cpuid['vendor']},family={cpuid['family']},model={model},model-id={name}"
    model = cpuid["model"]
    return (("1 CPU, name hidden", 1, words(model, "Virtual CPU"), "same_processor"),
            ("4 CPUs, name hidden", 4, words(model, "Virtual CPU"), "same_processor"),
            ("4 CPUs, name shown", 4, words(model, NAME), "same_processor"),
            ("4 CPUs, another processor with this name", 4, words(model - 1, NAME), "built_in"))


def found(text):
    """(machine, labels of the package's model, lines of the agent's log)."""
    machine = re.search(r"^@@ machine (\{.*\})$", text, re.M)
    info = re.search(r'^@@ metric kepler_model_info\{(.*zone="package")\} 1$', text, re.M)
    if not machine or not info or "\n@@ done" not in text:
        return None
    return machine[1], dict(re.findall(r'(\w+)="([^"]*)"', info[1])), re.findall(r"^@@ log (.*)$", text, re.M)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("kernel", "agent", "tool", "data", "logs"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    options = parser.parse_args()
    options.logs.mkdir(parents=True, exist_ok=True)
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        host = host_machine(options.tool)
        (scratch / "machine.json").write_text(json.dumps(host))
        (scratch / "types.json").write_text(json.dumps({"0": {"attrs": host, "members": ["host"]}}))
        train(options.tool, options.data, scratch / "machine.json", scratch / "host")
        image = scratch / "initramfs"
        guest.make_initramfs([options.agent, options.tool], image, script=guest.HERE / "run_agent.sh",
                             files={"/tests/models/host/model.json": scratch / "host/model.json"})
        for title, cpus, cpu, expected in cases(host["cpuid"]):
            logs = options.logs / title.replace(" ", "-").replace(",", "")
            logs.mkdir(exist_ok=True)
            text, console, seconds, ended = guest.boot(options.kernel, image, "unified", SECONDS, 1, logs, cpu=cpu, cpus=cpus)
            seen = found(text)
            if ended or seen is None:
                failed += 1
                print(f"{title}: FAILED {ended or 'the agent showed no model'}\n{text[-2000:]}\n{console[-1000:]}")
                continue
            machine, labels, log = seen
            wrong = labels["match"] != expected
            failed += wrong
            print(f"{title}: {'FAILED' if wrong else 'ok'}  match={labels['match']} model={labels['name']} "
                  f"mape={labels['mape']} similarity={similarity(options.tool, scratch / 'types.json', machine, scratch):.2f} "
                  f"({seconds:.0f} s)")
            for line in log:
                if "package" in line and ("estimated" in line or "no trained model" in line):
                    print(f"    {line}")
            sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
