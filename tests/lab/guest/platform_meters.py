"""The meters of the whole machine: what they show is programmed, by the host or by files of this guest."""
import json
import os
import re
import subprocess
import time
from decimal import Decimal

import rapl
from exposition import microjoules
from harness import wait_until
from lab import equal, modprobe, write
from redfish_server import RedfishServer

PSU_FILE = "/tmp/psu_watts"
TOLERANCE = Decimal("0.01")
# The longest of the agent's periods between two readings is the battery's, 10 s.
PATIENCE = 40
DISCHARGING, CHARGING = 1, 2


class Programme:
    """What each source must show, in watts."""

    def __init__(self, host):
        self.host = host
        self.redfish = None  # the server
        self.watts = {}

    def set(self, **watts):
        self.watts.update(watts)
        for source, value in watts.items():
            getattr(self, f"_{source}")(value)

    def _acpi(self, watts):
        self.host.ask("set", "power_meter", round(1000 * watts))

    def _battery(self, watts):
        self.host.ask("set", "battery", round(1000 * watts))

    def _dcmi(self, watts):
        self.host.ask("bmc-watts", round(watts))  # the sensor of ipmi_sim takes whole numbers only

    def _redfish(self, watts):
        self.redfish.watts = watts

    @staticmethod
    def _psu(watts):
        write(f"{PSU_FILE}.new", watts)
        os.rename(f"{PSU_FILE}.new", PSU_FILE)


def load(lab):
    lab.programme = Programme(lab.host)
    lab.host.ask("set", "battery_state", DISCHARGING)
    lab.programme.set(acpi=123.456, battery=8.5, dcmi=217, psu=187.5)
    for name in ("acpi_power_meter", "battery", "ac", "ipmi_si", "ipmi_devintf", "uhid", "corsair-psu"):
        modprobe(name)
    lab.start("/lab/bin/corsair_psu", PSU_FILE)
    wait_until(lambda: os.path.exists("/dev/ipmi0"), "/dev/ipmi0", 30, period=0.2)


def add_redfish(lab):
    """A BMC with two power supplies, by TLS. Returns the configuration that reads it."""
    lab.programme.redfish = RedfishServer("/lab/server.crt", "/lab/server.key").__enter__()
    lab.programme.set(redfish=260)
    with open("/tmp/bmc.yaml", "w", encoding="ascii") as file:
        file.write(f"nodes:\n  lab: bmc\nbmcs:\n  bmc:\n    endpoint: {lab.programme.redfish.url}\n    username: kepler\n"
                   "    password: s3cret\n    caFile: /lab/ca.crt\n")
    return ("experimental:\n  platform:\n    redfish: {enabled: true, nodeName: lab, configFile: /tmp/bmc.yaml, "
            "httpTimeout: 3s, interval: 1s}\n")


def sums(lab, family):
    """{source: sum of the sensors that make up its total}"""
    found = {}
    for labels, value in lab.last.series(family):
        if labels["source"] != "psu" or labels["source_name"] == "power_total":
            found[labels["source"]] = found.get(labels["source"], 0) + value
    return found


def shown(lab):
    return sums(lab, "kepler_platform_watts")


def is_near(found, programmed):
    return found is not None and abs(found - Decimal(programmed)) <= Decimal(programmed) * TOLERANCE


def wait_shown(lab, **programmed):
    """Until the sources show these watts, or nothing where None is programmed. Returns the figures."""
    def seen():
        lab.scrape()
        found = shown(lab)
        return all(found.get(source) is None if watts is None else is_near(found.get(source), watts)
                   for source, watts in programmed.items())
    try:
        wait_until(seen, f"{programmed}", PATIENCE, period=0.3)
    except AssertionError as error:
        raise AssertionError(f"{error}; shown: {dict(shown(lab))}") from None
    return ", ".join(f"{source} {watts} W: {shown(lab).get(source, 'no series')}" for source, watts in programmed.items())


def total_of(lab):
    """(source of the machine's total, its watts or None, its joules)"""
    labels, _ = lab.last.series("kepler_node_platform_sensor_info")[0]
    watts = [value for _, value in lab.last.series("kepler_node_platform_watts", path="meter")]
    return labels["source"], watts[0] if watts else None, lab.last.value("kepler_node_platform_joules_total", path="meter")


# The checks, in this order.
def every_platform_meter_is_read(lab):
    return wait_shown(lab, **lab.programme.watts)


def steps_are_followed(lab):
    lab.programme.set(acpi=280.125, battery=31.25, dcmi=431, psu=432.0,
                      **({"redfish": 512} if lab.programme.redfish else {}))
    return wait_shown(lab, **lab.programme.watts)


def total_is_one_meter(lab, trusted="redfish"):
    """All meters see the same machine: the total is the most trusted one's, to the microjoule."""
    def both():
        lab.scrape()
        source, _, joules = total_of(lab)
        equal("source of the total", source, trusted)
        return microjoules(joules), microjoules(sums(lab, "kepler_platform_joules_total")[trusted])
    total, sensors = both()
    wait_until(lambda: both()[1] >= sensors + 2_000_000_000, "2 kJ", 60, period=0.5)
    later, sensors_later = both()
    equal("µJ of the total", later - total, sensors_later - sensors)
    if not is_near(total_of(lab)[1], lab.programme.watts[trusted]):
        raise AssertionError(f"the total is {total_of(lab)[1]} W")
    return f"total {later - total} µJ, {trusted} {sensors_later - sensors} µJ; {total_of(lab)[1]} W"


def settled(lab, changes=3):
    """(platform, other without debt, CPUs) in J, after readings of the platform that began when RAPL was held already."""
    seen = set()

    def figures():
        lab.scrape()
        platform = lab.last.value("kepler_node_platform_joules_total", path="meter")
        seen.add(platform)
        return platform
    wait_until(lambda: figures() and len(seen) > changes, "readings of the platform", 60, period=0.2)
    return (figures(), lab.last.value("kepler_node_other_joules_total") - lab.last.value("kepler_node_other_debt_joules"),
            sum(lab.last.value("kepler_node_cpu_joules_total", zone=zone) for zone in ("package", "dram")))


def other_energy_is_the_rest(lab):
    before = settled(lab)
    rapl.use_energy(lab.cpus, 0.5)
    platform, other, cpus = (late - early for early, late in zip(before, settled(lab)))
    equal("µJ of the platform less its parts", microjoules(platform - other - cpus), 0)
    if min(platform, other, cpus) <= 0:
        raise AssertionError(f"platform {platform} J, other {other} J, CPUs {cpus} J")
    return f"platform {platform} J = other {other} J + package and dram {cpus} J"


def faults_cost_their_own_series(lab):
    """The power meter cannot be read, IPMI's BMC loses its power, Redfish's does not answer, the battery is charged: the
    power supply goes on, and so does RAPL."""
    watts = dict(lab.programme.watts)
    lab.host.ask("set", "power_meter", 0xFFFFFFFF)
    lab.host.ask("bmc-stop")
    lab.host.ask("set", "battery_state", CHARGING)
    metrics = "/redfish/v1/Chassis/1/PowerSubsystem/PowerSupplies/Bay{}/Metrics"
    lab.programme.redfish.faults = {metrics.format(bay): "hang" for bay in (1, 2)}
    gone = wait_shown(lab, acpi=None, dcmi=None, redfish=None, battery=None, psu=watts["psu"])
    if not lab.last.series("kepler_node_cpu_watts", zone="package"):
        raise AssertionError("RAPL has no watts")
    lab.host.ask("bmc-start")
    lab.host.ask("set", "battery_state", DISCHARGING)
    lab.programme.redfish.faults = {}
    lab.programme.set(acpi=watts["acpi"])
    began = time.monotonic()
    back = {}

    def seen():
        lab.scrape()
        for source, power in lab.programme.watts.items():
            if source not in back and is_near(shown(lab).get(source), power):
                back[source] = time.monotonic() - began
        return len(back) == len(lab.programme.watts)
    wait_until(seen, "every meter again", PATIENCE, period=0.3)
    return f"{gone}; back: " + ", ".join(f"{source} {seconds:.1f} s" for source, seconds in back.items())


def implausible_power_is_refused(lab):
    """4.29 MW: what a meter gives whose driver takes -1 mW for a number without a sign."""
    before = lab.last.value("kepler_platform_joules_total", source="acpi")
    lab.host.ask("set", "power_meter", 0xFFFFFFFE)
    refused = wait_shown(lab, acpi=None)
    lab.programme.set(acpi=123.456)
    wait_shown(lab, acpi=123.456)
    gained = lab.last.value("kepler_platform_joules_total", source="acpi") - before
    if gained > 124 * 2 * PATIENCE:
        raise AssertionError(f"{gained} J more")
    return f"{refused}; {gained} J more"


def others_read_the_same(lab):
    """ipmitool and freeipmi by the kernel's driver, and kepler meters."""
    said = subprocess.run(["ipmitool", "-I", "open", "dcmi", "power", "reading"], capture_output=True, text=True,
                          timeout=30, check=True).stdout
    equal("W of ipmitool", float(re.search(r"Instantaneous power reading: *(\d+) Watts", said)[1]),
          float(lab.programme.watts["dcmi"]))
    said = subprocess.run(["ipmi-dcmi", "--driver-type=OPENIPMI", "--get-system-power-statistics"], capture_output=True,
                          text=True, timeout=30, check=True).stdout
    equal("W of freeipmi", float(re.search(r"Current Power *: *(\d+) Watts", said)[1]), float(lab.programme.watts["dcmi"]))
    rapl.set_parameter("held", 0)  # counters that never move would be a fault
    listed = subprocess.run(["/lab/bin/kepler", "meters", "--json", f"--config.file={lab.agent.config_path}"],
                            capture_output=True, text=True, timeout=60, check=True).stdout
    rapl.set_parameter("held", 1)
    meters = json.loads(listed)["meters"]
    states = {meter["name"]: meter["state"] for meter in meters}
    equal("states by kepler meters", {name: states.get(name) for name in ("rapl", *lab.programme.watts)},
          {"rapl": "used", "redfish": "used", **dict.fromkeys(("dcmi", "acpi", "psu", "battery"), "ready")})
    return f"ipmitool and freeipmi {lab.programme.watts['dcmi']} W; kepler meters: {states}"
