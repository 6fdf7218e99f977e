"""RAPL by powercap, by the PMU "power" and by the registers: three agents at once, on the same counters."""
import contextlib

import rapl
from exposition import microjoules
from lab import ON_DEMAND, Lab, equal, modprobe, text_of, write

CONFIGS = {"powercap": "", "perf": "rapl: {perf: {force: true}}\n", "msr": "rapl: {msr: {enabled: true, force: true}}\n"}
# The PMU has no psys on servers. Its unit of dram is 2^-16 J, powercap's is 15.3 uJ: 0.27 % more.
SHARED_ZONES = ("core", "dram", "package")
TOLERANCE = 0.005
UNPRIVILEGED = ("/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                *(f"--{name}=-all,+bpf,+perfmon" for name in ("inh-caps", "ambient-caps", "bounding-set")))


def set_up(lab):
    lab.cpus = (0, 1)
    rapl.load(held=1, start_raw=rapl.WRAPS_SOON)
    modprobe("rapl")
    lab.counters = rapl.Counters()
    for name, config in CONFIGS.items():
        lab.others[name] = Lab(lab.host)
        lab.others[name].start_agent("--meter.require", config=ON_DEMAND + config)


def scrape_all(lab):
    for other in lab.others.values():
        other.scrape()


def interface_of(lab):
    return lab.last.series("kepler_source_interface_info", source="rapl")[0][0]["interface"]


def each_agent_has_its_interface(lab):
    scrape_all(lab)
    equal("interfaces", {name: interface_of(other) for name, other in lab.others.items()}, {name: name for name in CONFIGS})
    zones = {name: {labels["zone"]: labels["path"] for labels, _ in other.last.series("kepler_node_cpu_joules_total")}
             for name, other in lab.others.items()}
    for name, found in zones.items():
        for zone in SHARED_ZONES:
            equal(f"path of {zone} by {name}", found.get(zone), zones["powercap"][zone])
    return "; ".join(f"{name}: {', '.join(sorted(found))}" for name, found in zones.items())


def interfaces_agree(lab):
    """After a wrap of every counter."""
    rapl.use_energy(lab.cpus, 2)
    scrape_all(lab)
    found = {name: rapl.node(other) for name, other in lab.others.items()}
    kernel = lab.counters.read()
    equal("uJ by powercap", {zone: found["powercap"][zone] for zone in SHARED_ZONES},
          {zone: kernel[zone] for zone in SHARED_ZONES})
    figures = []
    for zone in SHARED_ZONES:
        values = [zones[zone] for zones in found.values()]
        spread = (max(values) - min(values)) / min(values)
        figures.append(f"{zone} {' '.join(map(str, values))} uJ, {100 * spread:.3f} % apart")
        if spread > TOLERANCE:
            raise AssertionError("; ".join(figures))
    return f"{', '.join(found)}: {'; '.join(figures)}"


@contextlib.contextmanager
def started(lab, **options):
    """A further agent, which ends with the block."""
    other = Lab(lab.host)
    other.start_agent("--meter.require", **options)
    try:
        other.scrape()
        yield other
    finally:
        other.agent.__exit__(None, None, None)


def perf_is_used_where_powercap_may_not_be_read(lab):
    """The files of powercap are root's (CVE-2020-8694); the PMU wants CAP_PERFMON. Debian's kernel has a level 3 of
    perf_event_paranoid, which is its default: perf is then root's, too."""
    paranoid = "/proc/sys/kernel/perf_event_paranoid"
    equal("Debian's level", text_of(paranoid), "3")
    write(paranoid, 2)
    with started(lab, prefix=UNPRIVILEGED) as other:
        equal("interface", interface_of(other), "perf")
        before = lab.counters.read()["package"]
        rapl.use_energy(lab.cpus, 0.5)
        other.scrape()
        found, expected = rapl.node(other)["package"], lab.counters.read()["package"] - before
        if abs(found - expected) > TOLERANCE * expected:
            raise AssertionError(f"{found} uJ of {expected} uJ")
    return f"as uid 65534, perf_event_paranoid 2: {found} uJ of {expected} uJ"


def perf_is_used_without_powercap(lab):
    modprobe("-r", "intel_rapl_msr")
    try:
        with started(lab) as other:
            equal("interface", interface_of(other), "perf")
            rapl.use_energy(lab.cpus, 0.3)
            other.scrape()
            found = microjoules(other.last.value("kepler_node_cpu_joules_total", zone="package"))
            if found <= 0:
                raise AssertionError("no energy")
    finally:
        modprobe("intel_rapl_msr")
    return f"{found} uJ"


CHECKS = (each_agent_has_its_interface, interfaces_agree, perf_is_used_where_powercap_may_not_be_read,
          perf_is_used_without_powercap)
