"""RAPL by the kernel's own drivers, over the counters of rapl_msr_lab.c. README.md says why they can be held."""
import errno
import glob
import os
import subprocess
import time

from exposition import microjoules
from harness import wait_until
from lab import burn, burners, equal, modprobe, text_of, write

POWERCAP = "/sys/class/powercap"
PARAMETERS = "/sys/module/rapl_msr_lab/parameters"
WRAPS_SOON = 0xFFFF0000  # 4 J before the end of a counter of 2^-14 J


def load(**parameters):
    subprocess.run(["insmod", "/lab/rapl_msr_lab.ko", *(f"{name}={value}" for name, value in parameters.items())],
                   check=True)
    for name in ("msr", "intel_rapl_msr"):
        modprobe(name)


def set_parameter(name, value):
    write(f"{PARAMETERS}/{name}", value)


class Counters:
    """The kernel's counters of all powercap entries, read through descriptors that stay open."""

    def __init__(self):
        self.names, self.ranges, self.files = {}, {}, {}
        for path in sorted(glob.glob(f"{POWERCAP}/intel-rapl:*")):
            entry = os.path.basename(path)
            self.names[entry] = text_of(f"{path}/name")
            self.ranges[entry] = int(text_of(f"{path}/max_energy_range_uj"))
            self.files[entry] = os.open(f"{path}/energy_uj", os.O_RDONLY)
        self.last = self.raw()
        self.used = dict.fromkeys(self.names, 0)  # µJ since the start
        self.wraps = dict.fromkeys(self.names, 0)

    def raw(self):
        return {entry: int(os.pread(file, 32, 0)) for entry, file in self.files.items()}

    def reopen(self):
        for entry, file in self.files.items():
            os.close(file)
            self.files[entry] = os.open(f"{POWERCAP}/{entry}/energy_uj", os.O_RDONLY)

    def read(self):
        """{zone: µJ since the start}, sockets summed."""
        zones = {}
        for entry, value in self.raw().items():
            self.wraps[entry] += value < self.last[entry]
            self.used[entry] += (value - self.last[entry]) % (self.ranges[entry] + 1)
            self.last[entry] = value
        for entry, name in self.names.items():
            zone = name.split("-")[0]
            zones[zone] = zones.get(zone, 0) + self.used[entry]
        return zones


def node(lab):
    return {labels["zone"]: microjoules(value)
            for labels, value in lab.last.series("kepler_node_cpu_joules_total")}


def same_zones(lab, zones):
    """The counters of the zones that the agent has."""
    return {zone: value for zone, value in lab.counters.read().items() if zone in zones}


def exactly(lab):
    """The counters are held: agent and kernel agree to the microjoule. Returns the figures."""
    lab.scrape()
    found = node(lab)
    equal("µJ of the agent's zones", found, same_zones(lab, found))
    return ", ".join(f"{zone} {value} µJ" for zone, value in sorted(found.items()))


def use_energy(cpus, seconds):
    set_parameter("held", 0)
    burn(cpus, seconds)
    set_parameter("held", 1)


def source(lab, what):
    return lab.last.value(f"kepler_source_{what}", source="rapl")


def domains(lab, zone="package"):
    """(known, read in the last snapshot)"""
    return tuple(int(lab.last.value(f"kepler_source_{name}", source="rapl", zone=zone))
                 for name in ("zone_domains", "zone_domains_read"))


def has_watts(lab, zone="package"):
    return bool(lab.last.series("kepler_node_cpu_watts", zone=zone))


# The checks, in this order: each leaves the counters held.
def counters_wrap_exactly(lab):
    use_energy(lab.cpus, 1)
    figures = exactly(lab)
    read = [entry for entry, name in lab.counters.names.items() if name.split("-")[0] in node(lab)]
    equal("wraps", {entry: lab.counters.wraps[entry] for entry in read}, dict.fromkeys(read, 1))
    return f"{figures}; each of {len(read)} counters wrapped once"


def running_counters_enclose_the_agent(lab, scrapes=5):
    widest = 0
    set_parameter("held", 0)
    for _ in range(scrapes):
        before = lab.counters.read()
        lab.scrape()
        after = lab.counters.read()
        for zone, value in node(lab).items():
            widest = max(widest, after[zone] - before[zone])
            if not before[zone] <= value <= after[zone]:
                raise AssertionError(f"{zone}: {value} µJ is not within {before[zone]} and {after[zone]}")
    set_parameter("held", 1)
    return f"{scrapes} scrapes, each between two readings at most {widest} µJ apart; then {exactly(lab)}"


def standing_counters_are_zero_watts(lab, scrapes=3):
    lab.scrape()
    for _ in range(scrapes):
        lab.scrape()
        equal("watts", lab.last.value("kepler_node_cpu_watts", zone="package"), 0)
    equal("up", source(lab, "up"), 1)
    return exactly(lab)


def unread_counters_are_caught_up(lab):
    failed = source(lab, "failed_reads_total")
    set_parameter("broken", 1)
    use_energy(lab.cpus, 0.3)
    lab.scrape()
    equal("watts while the counters cannot be read", has_watts(lab), False)
    failed = source(lab, "failed_reads_total") - failed
    if failed <= 0:
        raise AssertionError("no failed read is counted")
    set_parameter("broken", 0)
    wait_until(lambda: lab.scrape() and has_watts(lab), "watts", 30, period=0.5)
    return f"{failed} failed reads; then {exactly(lab)}"


def driver_reload_is_caught_up(lab):
    held = lab.counters.files["intel-rapl:0"]
    modprobe("-r", "intel_rapl_msr")
    use_energy(lab.cpus, 0.3)
    wait_until(lambda: lab.scrape() and source(lab, "up") == 0, "the loss to be seen", 30, period=0.5)
    modprobe("intel_rapl_msr")
    try:
        os.pread(held, 32, 0)
        raise AssertionError("a descriptor from before still works: this check proves nothing")
    except OSError as error:
        equal("error of a descriptor from before", errno.errorcode[error.errno], "ENODEV")
    lab.counters.reopen()
    began = time.monotonic()
    wait_until(lambda: lab.scrape() and source(lab, "up") == 1 and has_watts(lab), "the driver to be found again", 60,
               period=0.5)
    return f"back within {time.monotonic() - began:.1f} s; {exactly(lab)}"


def take_cpu(lab, cpu, expected):
    """Takes the only CPU of a socket offline. cpu: its file `online`."""
    write(cpu, 0)
    for _ in range(3):
        lab.scrape()
        equal("domains known and read, watts", (domains(lab), has_watts(lab)), (expected, True))


def bring_cpu(lab, cpu, expected):
    write(cpu, 1)
    lab.counters.reopen()
    wait_until(lambda: lab.scrape() and domains(lab) == expected and has_watts(lab), "the socket to be found again", 60,
               period=0.5)
    use_energy(lab.cpus, 0.3)
    return exactly(lab)


def socket_offline_and_online(lab):
    cpu = f"/sys/devices/system/cpu/cpu{lab.cpus[-1]}/online"
    entry = next(entry for entry, name in lab.counters.names.items() if name == "package-1")
    take_cpu(lab, cpu, (2, 1))
    equal("entry of the socket", os.path.exists(f"{POWERCAP}/{entry}"), False)
    return bring_cpu(lab, cpu, (2, 2))


def busy_processes_get_the_active_energy(lab, share=0.6):
    """Σ of all processes is checked in every scrape: here, who they are."""
    def joules():
        lab.scrape()
        busy = lab.last.sum("kepler_process_cpu_joules_total", zone="package", comm="yes")
        return busy, lab.last.value("kepler_node_cpu_active_joules_total", zone="package")
    before = joules()
    set_parameter("held", 0)
    with burners(lab.cpus):
        lab.scrape()
        burn(lab.cpus, 2)
        after = joules()
    set_parameter("held", 1)
    got, active = (late - early for early, late in zip(before, after))
    if not share * float(active) <= got <= active:
        raise AssertionError(f"the busy processes got {got} J of {active} J")
    return f"{got} J of {active} J"
