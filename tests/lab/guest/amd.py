"""One socket of AMD: RAPL has no dram and no psys, and its zone core covers a single core, so the agent leaves it out."""
import rapl
from lab import equal


def set_up(lab):
    lab.cpus = (0, 1)
    rapl.load(held=1, amd=1, start_raw=rapl.WRAPS_SOON)
    lab.counters = rapl.Counters()
    lab.start_agent("--meter.require")


def zones_of_amd(lab):
    equal("powercap entries", lab.counters.names, {"intel-rapl:0": "package-0", "intel-rapl:0:0": "core"})
    lab.scrape()
    equal("zones", list(rapl.node(lab)), ["package"])
    return f"package, range {lab.counters.ranges['intel-rapl:0']} µJ"


CHECKS = (zones_of_amd, rapl.counters_wrap_exactly, rapl.running_counters_enclose_the_agent,
          rapl.standing_counters_are_zero_watts, rapl.driver_reload_is_caught_up)
