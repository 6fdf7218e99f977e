"""The meters of the whole machine: what they show is programmed, by the host or by files of this guest."""
import json
import os
import re
import subprocess
import time
from decimal import Decimal

from exposition import microjoules
from harness import wait_until
from lab import equal, modprobe, write

PSU_FILE = "/tmp/psu_watts"
TOLERANCE = Decimal("0.01")
# The longest of the agent's periods between two readings is the battery's, 10 s.
PATIENCE = 40
DISCHARGING, CHARGING = 1, 2


class Programme:
    """What each source must show, in watts."""

    def __init__(self, host):
        self.host = host
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


def shown(lab):
    """{source: watts} of the sensors that are the source's total."""
    return {labels["source"]: value for labels, value in lab.last.series("kepler_platform_watts")
            if labels["source"] != "psu" or labels["source_name"] == "power_total"}


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
    lab.programme.set(acpi=280.125, battery=31.25, dcmi=431, psu=432.0)
    return wait_shown(lab, **lab.programme.watts)


def total_is_one_meter(lab):
    """Four meters see the same machine: the total is the most trusted one's, to the microjoule."""
    def both():
        lab.scrape()
        source, _, joules = total_of(lab)
        return source, microjoules(joules), microjoules(lab.last.value("kepler_platform_joules_total", source="dcmi"))
    source, total, sensor = both()
    equal("source of the total", source, "dcmi")
    wait_until(lambda: both()[2] >= sensor + 2_000_000_000, "2 kJ of the BMC", 60, period=0.5)
    source, later, sensor_later = both()
    equal("source of the total", source, "dcmi")
    equal("µJ of the total", later - total, sensor_later - sensor)
    if not is_near(total_of(lab)[1], lab.programme.watts["dcmi"]):
        raise AssertionError(f"the total is {total_of(lab)[1]} W")
    return f"total {later - total} µJ, dcmi {sensor_later - sensor} µJ; {total_of(lab)[1]} W"


def other_energy_is_the_rest(lab):
    other, debt, platform = (lab.last.value(f"kepler_node_{name}") for name in
                             ("other_joules_total", "other_debt_joules", "platform_joules_total"))
    if other <= 0:
        raise AssertionError(f"other energy is {other} J")
    cpus = sum(lab.last.value("kepler_node_cpu_joules_total", zone=zone) for zone in ("package", "dram"))
    equal("joules of the platform, by its parts", other - debt + cpus, platform)
    return f"platform {platform} J = other {other} J - debt {debt} J + package and dram {cpus} J"


def faults_cost_their_own_series(lab):
    """The power meter cannot be read, the BMC loses its power, the battery is charged: the power supply goes on."""
    lab.host.ask("set", "power_meter", 0xFFFFFFFF)
    lab.host.ask("bmc-stop")
    lab.host.ask("set", "battery_state", CHARGING)
    gone = wait_shown(lab, acpi=None, dcmi=None, battery=None, psu=lab.programme.watts["psu"])
    if not lab.last.series("kepler_node_cpu_watts", zone="package"):
        raise AssertionError("RAPL has no watts")
    lab.host.ask("bmc-start")
    lab.host.ask("set", "battery_state", DISCHARGING)
    lab.programme.set(acpi=123.456)
    began = time.monotonic()
    wait_shown(lab, **lab.programme.watts)
    return f"{gone}; all back within {time.monotonic() - began:.1f} s"


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
    """ipmitool by the kernel's driver, kepler meters, and node_exporter."""
    said = subprocess.run(["ipmitool", "-I", "open", "dcmi", "power", "reading"], capture_output=True, text=True,
                          timeout=30, check=True).stdout
    equal("W of ipmitool", float(re.search(r"Instantaneous power reading: *(\d+) Watts", said)[1]),
          float(lab.programme.watts["dcmi"]))
    meters = json.loads(subprocess.run(["/lab/bin/kepler", "meters", "--json"], capture_output=True, text=True, timeout=60,
                                       check=True).stdout)["meters"]
    states = {meter["name"]: meter["state"] for meter in meters}
    missing = [name for name in ("rapl", *lab.programme.watts) if states.get(name) in (None, "missing")]
    equal("meters that kepler meters does not find", missing, [])
    return f"ipmitool {lab.programme.watts['dcmi']} W; kepler meters: {states}"
