"""Faults of a BMC: each costs its own series for as long as it lasts. The other meters go on."""
import contextlib
import os
import time

import platform_meters
from harness import wait_until
from lab import ON_DEMAND, equal, modprobe

# The source waits up to eight periods of a second after failures, plus two polls.
RECOVERY = 10
ANSWERS = ("code-c0", "code-c3", "code-d5", "code-ff", "inactive", "group", "short")


def set_up(lab):
    platform_meters.load(lab)
    lab.start_agent(config=f"{ON_DEMAND}platform:\n  dcmi:\n    interval: 1s\n")
    platform_meters.wait_shown(lab, **lab.programme.watts)


@contextlib.contextmanager
def fault(lab, begin, end):
    """`begin` makes the BMC's series go, `end` brings it back. Gives a list for the seconds of both."""
    seconds = []
    began = time.monotonic()
    begin()
    wait_until(lambda: dcmi_is(lab, None), "no series of the BMC", 30, period=0.2)
    seconds.append(time.monotonic() - began)
    yield seconds
    began = time.monotonic()
    end()
    wait_until(lambda: dcmi_is(lab, lab.programme.watts["dcmi"]), "watts of the BMC", 30, period=0.2)
    seconds.append(time.monotonic() - began)
    if seconds[1] > RECOVERY:
        raise AssertionError(f"the BMC is read {seconds[1]:.1f} s after the fault")


def dcmi_is(lab, watts):
    """Whether the BMC's watts are these, or it has none. The other meters must have theirs in every scrape."""
    lab.scrape()
    found = platform_meters.shown(lab)
    for source in ("acpi", "psu"):
        if not platform_meters.is_near(found.get(source), lab.programme.watts[source]):
            raise RuntimeError(f"{source}: {found.get(source)}")
    return found.get("dcmi") is None if watts is None else platform_meters.is_near(found.get("dcmi"), watts)


def wrong_answers_cost_their_polls(lab):
    figures = []
    for name in ANSWERS:
        with fault(lab, lambda: lab.host.ask("bmc-fault", name),  # pylint: disable=cell-var-from-loop
                   lambda: lab.host.ask("bmc-fault")) as seconds:
            pass
        figures.append(f"{name} {seconds[1]:.1f} s")
    # One line in ten minutes for a series, so the first reason is there.
    if "completion code 0xc0: the BMC is busy" not in lab.agent.log():
        raise AssertionError("the log does not say why the BMC is not read")
    return "watts again after " + ", ".join(figures)


def implausible_power_is_refused(lab):
    figures = []
    for watts in (0, 65535):
        with fault(lab, lambda: lab.host.ask("bmc-watts", watts),  # pylint: disable=cell-var-from-loop
                   lambda: lab.programme.set(dcmi=217)) as seconds:
            pass
        figures.append(f"{watts} W refused, 217 W after {seconds[1]:.1f} s")
    return "; ".join(figures)


def hanging_bmc_delays_nobody(lab):
    """The kernel waits for the BMC, and the agent's thread for the kernel. Every scrape must still be quick."""
    slowest = 0.0

    def gone():
        nonlocal slowest
        began = time.monotonic()
        is_gone = dcmi_is(lab, None)
        slowest = max(slowest, time.monotonic() - began)
        return is_gone
    lab.host.ask("bmc-fault", "hang-9")
    wait_until(gone, "no series of the BMC", 30, period=0.2)
    lab.host.ask("bmc-fault")
    began = time.monotonic()
    wait_until(lambda: dcmi_is(lab, 217), "watts of the BMC", 40, period=0.2)
    if slowest > 3:
        raise AssertionError(f"a scrape took {slowest:.1f} s")
    return f"slowest scrape {slowest:.2f} s; watts again {time.monotonic() - began:.1f} s after the last request"


def driver_is_reloaded_under_the_agent(lab):
    """The agent keeps no descriptor between readings, so the module can go."""
    def unload():
        wait_until(lambda: os.system("rmmod ipmi_si 2>/dev/null") == 0, "ipmi_si unloaded", 10, period=0.1)
        equal("/dev/ipmi0", os.path.exists("/dev/ipmi0"), False)
    with fault(lab, unload, lambda: modprobe("ipmi_si")) as seconds:
        pass
    return f"gone after {seconds[0]:.1f} s, watts again after {seconds[1]:.1f} s"


def restarted_bmc_is_read_again(lab):
    with fault(lab, lambda: lab.host.ask("bmc-stop"), lambda: lab.host.ask("bmc-start")) as seconds:
        pass
    return f"gone after {seconds[0]:.1f} s, watts again after {seconds[1]:.1f} s"


CHECKS = (wrong_answers_cost_their_polls, implausible_power_is_refused, hanging_bmc_delays_nobody,
          restarted_bmc_is_read_again, driver_is_reloaded_under_the_agent)
