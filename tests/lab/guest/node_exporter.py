"""An independent reader of the same meters: Debian's prometheus-node-exporter."""
import urllib.request

from exposition import Exposition, microjoules
from harness import wait_until
from lab import equal

URL = "http://127.0.0.1:9100/metrics"


def start(lab):
    lab.start("/lab/bin/node_exporter", "--web.listen-address=127.0.0.1:9100", "--collector.disable-defaults",
              "--collector.rapl", "--collector.hwmon", "--collector.powersupplyclass")


def page():
    def read():
        try:
            with urllib.request.urlopen(URL, timeout=10) as answer:
                return Exposition("".join(line for line in answer.read().decode().splitlines(keepends=True)
                                          if line.startswith("node_") and "NaN" not in line))
        except OSError:
            return None
    return wait_until(read, "node_exporter", 30, period=0.2)


def node_exporter_reads_the_same(lab):
    """RAPL to the microjoule, as its counters are held."""
    seen = page()
    kernel = {f"/sys/class/powercap/{entry}": value for entry, value in lab.counters.raw().items()}
    rapl = {labels["path"]: microjoules(value) for name in seen.families if name.startswith("node_rapl_")
            for labels, value in seen.series(name)}
    equal("µJ by path", rapl, kernel)
    figures = [f"{len(rapl)} RAPL counters equal"]
    for what, family, watts in (("acpi", "node_hwmon_power_average_watt", lab.programme.watts["acpi"]),
                                ("battery", "node_power_supply_power_watt", lab.programme.watts["battery"])):
        found = [float(value) for _, value in seen.series(family)]
        if not any(abs(value - watts) < 0.01 * watts for value in found):
            raise AssertionError(f"{family}: {found}, not {watts}")
        figures.append(f"{what} {found} W")
    return "; ".join(figures)
