"""Two sockets of Intel with every meter."""
import node_exporter
import platform_meters
import rapl
from lab import ON_DEMAND, equal

ZONES = {"intel-rapl:0": "package-0", "intel-rapl:0:0": "core", "intel-rapl:0:1": "dram", "intel-rapl:1": "psys",
         "intel-rapl:2": "package-1", "intel-rapl:2:0": "core", "intel-rapl:2:1": "dram", "intel-rapl:3": "psys-1"}


def set_up(lab):
    lab.cpus = (0, 1)
    rapl.load(held=1, start_raw=rapl.WRAPS_SOON)
    lab.counters = rapl.Counters()
    platform_meters.load(lab)
    node_exporter.start(lab)
    redfish = platform_meters.add_redfish(lab)
    lab.start_agent("--meter.require", config=f"{ON_DEMAND}platform: {{dcmi: {{interval: 1s}}}}\n{redfish}")


def zones_of_two_sockets(lab):
    equal("powercap entries", lab.counters.names, ZONES)
    lab.scrape()
    equal("zones", sorted(rapl.node(lab)), ["core", "dram", "package", "psys"])
    equal("domains of zone package", rapl.domains(lab), (2, 2))
    return f"{len(ZONES)} entries, zones {', '.join(sorted(rapl.node(lab)))}"


CHECKS = (zones_of_two_sockets, rapl.counters_wrap_exactly, rapl.running_counters_enclose_the_agent,
          rapl.standing_counters_are_zero_watts, rapl.unread_counters_are_caught_up, rapl.driver_reload_is_caught_up,
          rapl.socket_offline_and_online, platform_meters.every_platform_meter_is_read, node_exporter.node_exporter_reads_the_same,
          platform_meters.steps_are_followed, platform_meters.total_is_one_meter, platform_meters.other_energy_is_the_rest,
          platform_meters.faults_cost_their_own_series, platform_meters.implausible_power_is_refused,
          rapl.busy_processes_get_the_active_energy, platform_meters.others_read_the_same)
