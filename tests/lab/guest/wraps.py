"""Counters that wrap every 6.8 s of a busy CPU, after 1024 J: by perf, an agent may look less often. The kernel looks itself,
as often as a package of 200 W needs: more watts would lose wraps."""
import rapl
from harness import wait_until
from lab import ON_DEMAND, burners, modprobe

WRAPS = 2
TOLERANCE = 0.005  # powercap rounds the unit to whole nJ: 0.18 % less


def set_up(lab):
    lab.cpus = (0, 1)
    rapl.load(held=1, start_raw=rapl.WRAPS_SOON, unit_shift=22, busy_mw=130_000)
    modprobe("rapl")
    lab.counters = rapl.Counters()
    lab.start_agent("--meter.require", config=f"{ON_DEMAND}rapl: {{perf: {{force: true}}}}\n")


def perf_sees_every_wrap_between_two_scrapes(lab):
    lab.scrape()
    rapl.set_parameter("held", 0)
    with burners(lab.cpus):  # the counters are read all the time, the agent is not
        wait_until(lambda: lab.counters.read() and min(lab.counters.wraps[entry] for entry in ("intel-rapl:0", "intel-rapl:2"))
                   > WRAPS, "the packages to wrap", 120, period=0.1)
    rapl.set_parameter("held", 1)
    kernel = lab.counters.read()["package"]
    lab.scrape()
    found = rapl.node(lab)["package"]
    if abs(found - kernel) > TOLERANCE * kernel:
        raise AssertionError(f"{found} µJ of {kernel} µJ")
    return f"{found} µJ of {kernel} µJ, {100 * (found / kernel - 1):.3f} %; wraps {lab.counters.wraps}"


CHECKS = (perf_sees_every_wrap_between_two_scrapes,)
