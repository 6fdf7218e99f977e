"""A virtual machine without any meter: the agent estimates its energy."""
import json
import subprocess

from lab import burn, equal


def set_up(lab):
    lab.cpus = (0, 1)
    lab.start_agent()


def energy_is_estimated(lab):
    lab.scrape()
    burn(lab.cpus, 1)
    lab.scrape()
    paths = {labels["path"] for labels, _ in lab.last.series("kepler_node_cpu_joules_total")}
    equal("paths", paths, {"model"})
    return f"package {lab.last.value('kepler_node_cpu_joules_total', zone='package')} J by the model"


def no_meter_is_found(lab):
    said = subprocess.run(["/lab/bin/kepler", "meters", "--json"], capture_output=True, text=True, timeout=60, check=False)
    meters = json.loads(said.stdout)["meters"]
    found = [meter["name"] for meter in meters if meter["state"] != "missing" and meter["name"] != "model"]
    equal("meters that are there", found, [])
    reason = next(meter["reason"] for meter in meters if meter["name"] == "rapl")
    equal("why perf is not tried", "not tried in a virtual machine; set rapl.perf.force" in reason, True)
    ended = subprocess.run(["/lab/bin/kepler", "--meter.require", "--web.listen-address=127.0.0.1:28283"],
                           capture_output=True, text=True, timeout=60, check=False)
    equal("exit code with --meter.require", ended.returncode, 1)
    return f"{len(meters)} meters named with a remedy; --meter.require ends with {ended.returncode}"


CHECKS = (energy_is_estimated, no_meter_is_found)
