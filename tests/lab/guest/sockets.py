"""Four sockets of Intel: the same faults again and again, in many scrapes."""
import rapl
from lab import equal

ROUNDS = 5


def set_up(lab):
    lab.cpus = (0, 1, 2, 3)
    rapl.load(held=1, start_raw=rapl.WRAPS_SOON)
    lab.counters = rapl.Counters()
    lab.start_agent("--meter.require")


def packages_of_four_sockets(lab):
    lab.scrape()
    equal("domains of zone package", rapl.domains(lab), (4, 4))
    return f"{len(lab.counters.names)} powercap entries"


def reloads_and_sockets_again_and_again(lab):
    for _ in range(ROUNDS):
        rapl.driver_reload_is_caught_up(lab)
        cpu = f"/sys/devices/system/cpu/cpu{lab.cpus[-1]}/online"
        rapl.take_cpu(lab, cpu, (4, 3))
        figures = rapl.bring_cpu(lab, cpu, (4, 4))
    return f"{ROUNDS} rounds; {figures}"


def many_scrapes(lab):
    return rapl.running_counters_enclose_the_agent(lab, scrapes=60)


CHECKS = (packages_of_four_sockets, rapl.counters_wrap_exactly, many_scrapes, reloads_and_sockets_again_and_again)
