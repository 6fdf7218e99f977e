"""Powercap in user space, at its default path: counters that are programmed, and faults that no driver can be asked for. The
agent is started without any option of its own."""
import os
import subprocess
import time

import rapl
from harness import wait_until
from lab import equal

CONTROL = "/tmp/powercap"
MOUNTED = "/sys/class/powercap"
RANGES = {"package-0": 262143328850, "dram": 65712999613}
ENTRIES = {"package-0": "intel-rapl:0", "dram": "intel-rapl:0:0"}
ZONES = {"package-0": "package", "dram": "dram"}
STEP = {"package-0": 700_000, "dram": 90_001}  # uJ


class Programme:
    """The counters, and what the agent must show of them."""

    def __init__(self):
        self.counters = {name: limit - 1_000_000 for name, limit in RANGES.items()}  # they wrap in the second step
        self.used = dict.fromkeys(RANGES, 0)

    def show(self, fault=""):
        lines = [f"{ENTRIES[name]} {name} {RANGES[name]} {value}" for name, value in self.counters.items()]
        with open(f"{CONTROL}.new", "w", encoding="ascii") as file:
            file.write("\n".join([*lines, fault, ""]))
        os.rename(f"{CONTROL}.new", CONTROL)

    def step(self):
        for name, energy in STEP.items():
            self.counters[name] = (self.counters[name] + energy) % (RANGES[name] + 1)
            self.used[name] += energy


def exactly(lab):
    lab.scrape()
    equal("uJ of the zones", rapl.node(lab), {ZONES[name]: value for name, value in lab.powercap.used.items()})
    return ", ".join(f"{name} {value} uJ" for name, value in lab.powercap.used.items())


def counters_at_the_default_path_are_exact(lab):
    """Through a wrap of both counters."""
    lab.end_agent()
    lab.powercap = Programme()
    lab.powercap.show()
    lab.start("/lab/bin/fuse_powercap", CONTROL, MOUNTED)
    wait_until(lambda: os.path.exists(f"{MOUNTED}/intel-rapl:0/name"), "the mount", 10, period=0.1)
    lab.start_agent("--meter.require")
    exactly(lab)
    for _ in range(30):
        lab.powercap.step()
        lab.powercap.show()
        lab.scrape()
    figures = exactly(lab)
    listed = subprocess.run(["/lab/bin/kepler", "meters"], capture_output=True, text=True, timeout=60, check=True).stdout
    equal("kepler meters names the path", f"{MOUNTED}/intel-rapl:0" in listed, True)
    return figures


def unreadable_counters_are_caught_up(lab):
    lab.powercap.step()
    lab.powercap.show("eio")
    lab.scrape()
    equal("watts", rapl.has_watts(lab), False)
    lab.powercap.show("gone")
    for _ in range(2):
        lab.scrape()
    equal("up", rapl.source(lab, "up"), 0)
    lab.powercap.step()
    lab.powercap.show()
    wait_until(lambda: lab.scrape() and rapl.source(lab, "up") == 1, "the zones to be found again", 30, period=0.3)
    return f"{rapl.source(lab, 'failed_reads_total')} failed reads; then {exactly(lab)}"


def slow_counters_cost_time_but_no_energy(lab, seconds=1):
    """Each of the two files takes a second. A scrape that waits for no longer gets the snapshot before."""
    lab.powercap.step()
    lab.powercap.show(f"freeze {seconds}")
    began = time.monotonic()
    lab.agent.get("/metrics")
    waited = time.monotonic() - began
    lab.powercap.show()
    wait_until(lambda: lab.scrape() and rapl.has_watts(lab), "watts", 30, period=0.3)
    return f"a scrape took {waited:.1f} s; then {exactly(lab)}"


CHECKS = (counters_at_the_default_path_are_exact, unreadable_counters_are_caught_up, slow_counters_cost_time_but_no_energy)
