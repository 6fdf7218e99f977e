"""A scrape as exact decimals, and what must hold in every one of them."""
import functools
import re
from decimal import Decimal

LEVELS = ("process", "container", "vm", "pod")

_SAMPLE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)')
_ESCAPE = re.compile(r"\\(.)")
_UNESCAPED = {"\\": "\\", '"': '"', "n": "\n"}


# Scrapes repeat most labels, and two scrapes of one snapshot repeat most lines. Parsing them again would keep a CPU of the machine
# busy while a test waits.
@functools.lru_cache(maxsize=1 << 16)
def _sample(line):
    """(name, labels as sorted pairs, value)"""
    match = _SAMPLE.match(line)
    if not match:
        raise AssertionError(f"malformed line: {line!r}")
    return match[1], _labels(match[2] or ""), Decimal(match[3])


@functools.lru_cache(maxsize=1 << 16)
def _labels(text):
    pairs, at = [], 0
    while at < len(text):
        match = _LABEL.match(text, at)
        if not match:
            raise AssertionError(f"malformed labels: {text!r}")
        pairs.append((match[1], _ESCAPE.sub(lambda m: _UNESCAPED[m[1]], match[2])))
        at = match.end()
    return tuple(sorted(pairs))


class Exposition:
    """Prometheus text 0.0.4. Refuses malformed lines and duplicate series."""

    def __init__(self, text):
        self.text = text
        self.types = {}
        self.families = {}  # name -> {labels as sorted pairs: Decimal}
        if not text.endswith("\n"):
            raise AssertionError(f"cut short: ends with {text[-80:]!r}")
        for line in text[:-1].split("\n"):
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                self.types[name] = kind
            if line.startswith("#"):
                continue
            name, labels, value = _sample(line)
            family = self.families.setdefault(name, {})
            if labels in family:
                raise AssertionError(f"duplicate series: {line!r}")
            family[labels] = value

    def series(self, name, **wanted):
        """[(labels, value)] of the series of a family that carry the wanted labels."""
        return [(dict(labels), value) for labels, value in self._matching(name, wanted)]

    def _matching(self, name, wanted):
        pairs = {(key, str(value)) for key, value in wanted.items()}
        return (sample for sample in self.families.get(name, {}).items() if pairs.issubset(sample[0]))

    def value(self, name, **wanted):
        """Of the only series that carries the wanted labels."""
        found = self.series(name, **wanted)
        if len(found) != 1:
            raise AssertionError(f"{len(found)} series {name}{wanted}, not one")
        return found[0][1]

    def sum(self, name, **wanted):
        return sum((value for _, value in self._matching(name, wanted)), Decimal(0))

    def zones(self):
        return [labels["zone"] for labels, _ in self.series("kepler_node_cpu_joules_total")]


def unique(pairs):
    """For json.loads(object_pairs_hook=...): each key of an object is there once."""
    if len(dict(pairs)) != len(pairs):
        raise AssertionError(f"a key twice: {pairs}")
    return dict(pairs)


def microjoules(joules):
    """Exact; refuses joules that are not a whole number of them."""
    scaled = joules * 1_000_000
    if scaled != int(scaled):
        raise AssertionError(f"{joules} J is not a whole number of microjoules")
    return int(scaled)


def conservation_errors(exposition):
    """{(zone, level): µJ} from one scrape alone: at level node, node - active - idle; at the others,
    active - listed - unlisted - unnamed - unattributed. All must be 0."""
    errors = {}
    for zone in exposition.zones():
        node, active, idle, unattributed = (
            microjoules(exposition.value(f"kepler_node_cpu_{what}joules_total", zone=zone))
            for what in ("", "active_", "idle_", "unattributed_"))
        errors[zone, "node"] = node - active - idle
        for level in LEVELS:
            listed = microjoules(exposition.sum(f"kepler_{level}_cpu_joules_total", zone=zone))
            unlisted = microjoules(exposition.sum("kepler_node_cpu_unlisted_joules_total", zone=zone, level=level))
            unnamed = microjoules(exposition.sum("kepler_node_cpu_unnamed_joules", zone=zone, level=level))
            errors[zone, level] = active - listed - unlisted - unnamed - unattributed
        errors.update(_idle_errors(exposition, zone, idle))
    return errors


def _idle_errors(exposition, zone, idle):
    """The same of idle energy, where workloads share that: of the levels that do."""
    unattributed = exposition.sum("kepler_node_cpu_idle_unattributed_joules_total", zone=zone)
    shared = {labels["level"] for labels, _ in exposition.series("kepler_node_cpu_idle_unlisted_joules_total", zone=zone)}
    return {(zone, f"{level} idle"): idle - microjoules(
        exposition.sum(f"kepler_{level}_cpu_idle_joules_total", zone=zone) + unattributed
        + exposition.sum("kepler_node_cpu_idle_unnamed_joules", zone=zone, level=level)
        + exposition.sum("kepler_node_cpu_idle_unlisted_joules_total", zone=zone, level=level)) for level in shared}


def negative_series(exposition):
    return [(name, labels) for name, family in exposition.families.items() if name.startswith("kepler_")
            for labels, value in family.items() if value < 0 or value.is_nan()]


def fallen_counters(before, after):
    """The counters that both scrapes have and that read less in the later one: [(name, labels, before, after)]."""
    fallen = []
    for name, family in after.families.items():
        if after.types.get(name) != "counter":
            continue
        earlier = before.families.get(name, {})
        fallen += [(name, labels, earlier[labels], value) for labels, value in family.items()
                   if labels in earlier and value < earlier[labels]]
    return fallen


class ScrapeChecker:
    """Feeds on every scrape of one agent, in order, and remembers the worst.

    pids_return: of processes with such labels one gets the pid of an ended one with the same name every few seconds,
    and its counter begins again, as every new process' does.
    """

    def __init__(self, pids_return=lambda labels: False):
        self.pids_return = pids_return
        self.scrapes = 0
        self.worst_microjoules = 0
        self.problems = []
        self.previous = None

    def check(self, exposition):
        self.scrapes += 1
        for (zone, level), error in conservation_errors(exposition).items():
            self.worst_microjoules = max(self.worst_microjoules, abs(error))
            if error:
                self.problems.append(f"scrape {self.scrapes}: zone {zone}, level {level}: {error} µJ too many")
        for name, labels in negative_series(exposition):
            self.problems.append(f"scrape {self.scrapes}: {name}{dict(labels)} is negative")
        for name, labels, old, new in fallen_counters(self.previous, exposition) if self.previous else ():
            if name.startswith("kepler_process_") and self.pids_return(dict(labels)):
                continue
            self.problems.append(f"scrape {self.scrapes}: {name}{dict(labels)} fell from {old} to {new}")
        self.previous = exposition
        return exposition
