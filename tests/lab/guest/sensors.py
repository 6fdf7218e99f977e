"""A machine without RAPL, whose BMC has no DCMI: power sensors for a minute, and their order of trust."""
import time

import platform_meters
from exposition import microjoules
from harness import wait_until
from lab import ON_DEMAND, equal

RAMP_SECONDS = 60
SWITCH_SECONDS = 180  # the agent waits for two minutes


def set_up(lab):
    platform_meters.load(lab)
    lab.programme.set(dcmi=240)  # the sensor of the BMC counts in steps of 4 W
    lab.start_agent(config=f"{ON_DEMAND}platform:\n  dcmi:\n    interval: 1s\n")


def sensor_without_dcmi_is_read(lab):
    return platform_meters.wait_shown(lab, **lab.programme.watts)


def joules_of(lab):
    """{source: µJ}, of the sensors that follow the ramp."""
    return {labels["source"]: microjoules(value) for labels, value in lab.last.series("kepler_platform_joules_total")
            if labels["source_name"] in ("power_meter", "power_total", "System Power", "LAB-BAT")}


class Ramp:
    """Every source climbs by 1 % of its power in a second. Knows the energy between two moments of the guest's clock."""

    def __init__(self, lab):
        self.lab, self.began, self.base = lab, time.monotonic(), dict(lab.programme.watts)

    def step(self):
        share = 1 + (time.monotonic() - self.began) / 100
        self.lab.programme.set(**{source: round(watts * share, 3) for source, watts in self.base.items()})

    def joules(self, source, begin, end):
        middle = (begin + end) / 2 - self.began
        return self.base[source] * (1 + middle / 100) * (end - begin)


def minute_of_energy_is_the_integral(lab):
    """From one change of a source's counter to another: between them its energy is known, at a poll as afterwards."""
    ramp, first, last = Ramp(lab), {}, {}
    lab.scrape()
    seen = joules_of(lab)
    equal("sources", sorted(seen), sorted(lab.programme.watts))
    while time.monotonic() < ramp.began + RAMP_SECONDS + 12:
        ramp.step()
        before = time.monotonic()
        lab.scrape()
        for source, joules in joules_of(lab).items():
            if joules != seen[source]:
                last[source] = ((before + time.monotonic()) / 2, joules)
                first.setdefault(source, last[source])
                seen[source] = joules
    lab.programme.set(**ramp.base)
    figures = []
    for source, (end, joules) in last.items():
        begin, joules_before = first[source]
        found, expected = (joules - joules_before) / 1e6, ramp.joules(source, begin, end)
        figures.append(f"{source} {found:.1f} J of {expected:.1f} J in {end - begin:.1f} s")
        if end - begin < RAMP_SECONDS - 12 or abs(found - expected) > 0.01 * expected:
            raise AssertionError("; ".join(figures))
    return "; ".join(figures)


def silent_meter_hands_the_total_over(lab):
    lab.scrape()
    equal("source of the total", platform_meters.total_of(lab)[0], "dcmi")
    before = platform_meters.total_of(lab)[2]
    lab.host.ask("bmc-stop")
    began = time.monotonic()
    wait_until(lambda: lab.scrape() and platform_meters.total_of(lab)[0] == "acpi", "the ACPI meter as the total",
               SWITCH_SECONDS, period=1)
    silent = time.monotonic() - began
    wait_until(lambda: lab.scrape() and platform_meters.total_of(lab)[2] > before, "energy of the ACPI meter", 30, period=1)
    gained, seconds = platform_meters.total_of(lab)[2] - before, time.monotonic() - began
    most = 2 * sum(lab.programme.watts[source] for source in ("dcmi", "acpi")) * (seconds + 15)
    if gained > most:
        raise AssertionError(f"{gained} J in {seconds:.0f} s")
    lab.host.ask("bmc-start")
    wait_until(lambda: lab.scrape() and platform_meters.total_of(lab)[0] == "dcmi", "the BMC as the total", 60, period=1)
    return f"after {silent:.0f} s; {gained} J in {seconds:.0f} s; then back"


CHECKS = (sensor_without_dcmi_is_read, minute_of_energy_is_the_integral, silent_meter_hands_the_total_over)
