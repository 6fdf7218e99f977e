"""A machine without RAPL, whose BMC has no DCMI: power sensors for a minute, and their order of trust."""
import time

import platform_meters
from exposition import microjoules
from harness import Repeater, wait_until
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


class Ramp(Repeater):
    """Every source climbs by 1 % of its power in a second, in steps. Knows the energy between two moments of the guest's
    clock."""

    def __init__(self, lab):
        super().__init__(pause=0.3)
        self.lab, self.began, self.base = lab, time.monotonic(), dict(lab.programme.watts)
        self.steps = {source: [(self.began, watts)] for source, watts in self.base.items()}

    def step(self):
        for source, watts in self.base.items():
            watts = round(watts * (1 + (time.monotonic() - self.began) / 100), 3)
            self.lab.programme.set(**{source: watts})
            self.steps[source].append((time.monotonic(), watts))

    def joules(self, source, begin, end):
        steps = self.steps[source] + [(max(end, self.steps[source][-1][0]), 0)]
        return sum(watts * max(0, min(end, until) - max(begin, since))
                   for (since, watts), (until, _) in zip(steps, steps[1:]))


class Change:
    """A source's counter changed: at a poll between two moments of the guest's clock."""

    def __init__(self, earliest, latest, joules):
        self.earliest, self.latest, self.joules = earliest, latest, joules


def watch(lab, seconds):
    """{source: [first change, last change]}"""
    changes, seen = {}, {}
    end = time.monotonic() + seconds
    earliest = time.monotonic()
    while time.monotonic() < end:
        began = time.monotonic()
        lab.scrape()
        for source, joules in joules_of(lab).items():
            if seen.setdefault(source, joules) != joules:
                change = Change(earliest, time.monotonic(), joules)
                changes[source] = [changes.get(source, [change])[0], change]
                seen[source] = joules
        earliest = began
    return changes


def minute_of_energy_is_the_integral(lab):
    """From one change of a source's counter to another: between them its energy is known. A scrape takes long while the host
    is busy, and a poll may be anywhere in it: that is allowed for in addition to the tolerance."""
    with Ramp(lab) as ramp:
        changes = watch(lab, RAMP_SECONDS + 12)
    lab.programme.set(**ramp.base)
    equal("sources", sorted(changes), sorted(lab.programme.watts))
    figures = []
    for source, (first, last) in changes.items():
        found = (last.joules - first.joules) / 1e6
        least = ramp.joules(source, first.latest, last.earliest)
        most = ramp.joules(source, first.earliest, last.latest)
        figures.append(f"{source} {found:.1f} J of {least:.1f} to {most:.1f} J in {last.latest - first.latest:.1f} s")
        if last.latest - first.latest < RAMP_SECONDS - 12 or not 0.99 * least <= found <= 1.01 * most:
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
