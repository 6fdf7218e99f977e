"""Two sockets of Intel with every meter."""
import rapl
from lab import equal

ZONES = {"intel-rapl:0": "package-0", "intel-rapl:0:0": "core", "intel-rapl:0:1": "dram", "intel-rapl:1": "psys",
         "intel-rapl:2": "package-1", "intel-rapl:2:0": "core", "intel-rapl:2:1": "dram", "intel-rapl:3": "psys-1"}


def set_up(lab):
    lab.cpus = (0, 1)
    rapl.load(held=1, start_raw=rapl.WRAPS_SOON)
    lab.counters = rapl.Counters()
    lab.start_agent("--meter.require")


def zones_of_two_sockets(lab):
    equal("powercap entries", lab.counters.names, ZONES)
    lab.scrape()
    equal("zones", sorted(rapl.node(lab)), ["core", "dram", "package", "psys"])
    equal("domains of zone package", rapl.domains(lab), (2, 2))
    return f"{len(ZONES)} entries, zones {', '.join(sorted(rapl.node(lab)))}"


CHECKS = (zones_of_two_sockets, rapl.counters_wrap_exactly, rapl.running_counters_enclose_the_agent,
          rapl.standing_counters_are_zero_watts, rapl.unread_counters_are_caught_up, rapl.driver_reload_is_caught_up,
          rapl.socket_offline_and_online)
