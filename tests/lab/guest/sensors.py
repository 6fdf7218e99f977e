"""A machine without RAPL, whose BMC has no DCMI: power sensors for a minute, and their order of trust."""
import time

import platform_meters
from exposition import microjoules
from harness import Repeater, wait_until
from lab import ON_DEMAND, equal

RAMP_SECONDS = 60
TOLERANCE = 0.01
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


def programmed(source, watts):
    """The sensor of the BMC counts in steps of 4 W."""
    return 4 * round(watts / 4) if source == "dcmi" else round(watts, 3)


class Ramp(Repeater):
    """Every source climbs by 1 % of its power in a second, in steps. Knows the energy between two moments of the guest's
    clock."""

    def __init__(self, lab):
        super().__init__(pause=0.2)
        self.lab, self.began, self.base = lab, time.time(), dict(lab.programme.watts)
        self.steps = {source: [(0, watts)] for source, watts in self.base.items()}

    def step(self):
        for source, watts in self.base.items():
            watts = programmed(source, watts * (1 + (time.time() - self.began) / 100))
            self.lab.programme.set(**{source: watts})
            self.steps[source].append((time.time(), watts))

    def joules(self, source, begin, end):
        steps = self.steps[source] + [(max(end, self.steps[source][-1][0]), 0)]
        return sum(watts * max(0, min(end, until) - max(begin, since))
                   for (since, watts), (until, _) in zip(steps, steps[1:]))


def watch(lab, seconds):
    """{source: [first, last (time of the agent's reading by the guest's clock, its µJ)]}"""
    seen = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        lab.scrape()
        for source, joules in joules_of(lab).items():
            at = float(lab.last.value("kepler_source_last_success_timestamp_seconds", source=source))
            seen[source] = [seen.get(source, [(at, joules)])[0], (at, joules)]
        time.sleep(0.5)
    return seen


def minute_of_energy_is_the_integral(lab):
    """Between two readings, whose times the agent states, its energy is the programmed one to 1 %: drivers and the BMC may keep
    a value for up to a second, by which the ramp climbs 1 %, and a mean of the ends of a step is not its integral."""
    with Ramp(lab) as ramp:
        wait_until(lambda: all(len(steps) > 2 for steps in ramp.steps.values()), "the ramp", 30, period=0.2)
        readings = watch(lab, RAMP_SECONDS + 12)
    lab.programme.set(**ramp.base)
    equal("sources", sorted(readings), sorted(lab.programme.watts))
    figures, worst = [], 0
    for source, ((begin, before), (end, after)) in readings.items():
        found, expected = (after - before) / 1e6, ramp.joules(source, begin, end)
        error = found / expected - 1
        figures.append(f"{source} {found:.1f} J of {expected:.1f} J in {end - begin:.1f} s, {100 * error:+.2f} %")
        worst = max(worst, abs(error) if end - begin >= RAMP_SECONDS - 2 else 1)
    if worst > TOLERANCE:
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
