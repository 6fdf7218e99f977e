"""A powercap tree like the kernel's, whose counters advance at constant watts."""
import contextlib
import os
import shutil
import threading
import time

from harness import Agent, scratch_directory

REAL_RANGE = 262_143_328_850  # µJ, as on most machines

# entry: (name, watts). The twin shows the same counter as package-0 and must not count twice.
SOCKETS = {
    "intel-rapl:0": ("package-0", 37),
    "intel-rapl:0:0": ("core", 21),
    "intel-rapl:0:1": ("dram", 5),
    "intel-rapl:1": ("package-1", 29),
    "intel-rapl:2": ("psys", 83),
    "intel-rapl-mmio:0": ("package-0", 37),
}
ONE_PACKAGE = {"intel-rapl:0": ("package-0", 50)}


class PowercapTree(contextlib.AbstractContextManager):
    """<root>/class/powercap/<entry>/{name,max_energy_range_uj,energy_uj}. Constant before start() and after stop()."""

    PERIOD = 0.02  # seconds between two steps of the counters

    def __init__(self, entries=None, ranges=None, start_at=1_000_000):
        self.root = scratch_directory()
        os.chmod(self.root, 0o755)
        self.entries = entries or SOCKETS
        self.ranges = {entry: (ranges or {}).get(entry, REAL_RANGE) for entry in self.entries}
        self.start_at = start_at
        self.counted = dict.fromkeys(self.entries, 0)  # µJ since the start, not wrapped
        self.held = set()
        self.thread = None
        self.stopping = threading.Event()
        for entry, (name, _) in self.entries.items():
            os.makedirs(self.path(entry))
            self.write(entry, "name", name)
            self.write(entry, "max_energy_range_uj", self.ranges[entry])
            self.show(entry)

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.root, ignore_errors=True)

    def path(self, entry, name=""):
        return os.path.join(self.root, "class", "powercap", entry, name)

    def write(self, entry, name, value):
        """Puts a new file in place, so that a reader sees the old or the new text and never a part of it."""
        temporary = os.path.join(self.root, f"{entry}.{name}.new")
        with open(temporary, "w", encoding="ascii") as file:
            file.write(f"{value}\n")
        os.rename(temporary, self.path(entry, name))

    def show(self, entry):
        self.write(entry, "energy_uj", (self.start_at + self.counted[entry]) % (self.ranges[entry] + 1))

    def advance(self, microjoules, *entries):
        """One step by hand."""
        for entry in entries or self.entries:
            self.counted[entry] += microjoules
            if entry not in self.held:
                self.show(entry)

    def place_cpus(self, sockets, online=None):
        """CPU i is in socket sockets[i]; those of `online` (default: all) are online, as the kernel shows it."""
        root = os.path.join(self.root, "devices", "system", "cpu")
        online = list(range(len(sockets))) if online is None else online
        for cpu, socket in enumerate(sockets):
            topology = os.path.join(root, f"cpu{cpu}", "topology")
            shutil.rmtree(topology, ignore_errors=True)
            if cpu in online:
                os.makedirs(topology)
                with open(os.path.join(topology, "physical_package_id"), "w", encoding="ascii") as file:
                    file.write(f"{socket}\n")
        with open(os.path.join(root, "online"), "w", encoding="ascii") as file:
            file.write(",".join(map(str, online)) + "\n")

    def take_away(self, entry):
        """The directory goes; the energy goes on being counted."""
        self.hold(entry)
        shutil.move(self.path(entry), os.path.join(self.root, f"away.{entry}"))

    def bring_back(self, entry):
        shutil.move(os.path.join(self.root, f"away.{entry}"), self.path(entry))
        self.give_back(entry)
        self.show(entry)

    def start(self):
        self.stopping.clear()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def stop(self):
        """From now on the tree is constant."""
        if self.thread:
            self.stopping.set()
            self.thread.join()
            self.thread = None

    def hold(self, entry):
        """The file is the test's now; the energy goes on being counted."""
        self.held.add(entry)

    def give_back(self, entry):
        self.held.discard(entry)

    def zone_microjoules(self):
        """{zone: µJ since the start}: sockets summed, twins left out."""
        totals = {}
        for entry, (name, _) in self.entries.items():
            if entry.startswith("intel-rapl:"):
                zone = name.split("-")[0]
                totals[zone] = totals.get(zone, 0) + self.counted[entry]
        return totals

    def wraps(self):
        return sum((self.start_at + self.counted[entry]) // (self.ranges[entry] + 1)
                   for entry in self.entries if entry.startswith("intel-rapl:"))

    def _run(self):
        began = time.monotonic_ns()
        before = dict(self.counted)
        while not self.stopping.wait(self.PERIOD):
            elapsed = time.monotonic_ns() - began
            for entry, (_, watts) in self.entries.items():
                self.counted[entry] = before[entry] + watts * elapsed // 1000
                if entry not in self.held:
                    self.show(entry)


def metered_agent(tree, *args, interval="500ms", source=None, **options):
    """An agent whose only meter is the tree. source: of activity; without one the agent chooses."""
    asked = [f"--activity.source={source}"] if source else []
    return Agent("--host.sysfs", tree.root, "--meter.require", f"--monitor.interval={interval}", *asked, *args,
                 **options)
