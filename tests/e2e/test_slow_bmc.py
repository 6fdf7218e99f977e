"""A BMC that is read seldom and shows a mean, next to RAPL that is read often: one total, and nothing is invented.

Environment: SLOW_BMC=1 reads the BMC every 15 s and RAPL every second, for 90 s. Default: 2 s and 0.2 s, for 6 s.
"""
import os
import random
import threading
import time
import unittest

from exposition import microjoules
from harness import run_tests, scratch_directory, wait_until
from kubernetes import make_certificates
from powercap import PowercapTree, metered_agent
from test_platform import ACPI, PSU, Machine
from test_redfish import NODE, RedfishServer

BMC_PERIOD, RAPL_PERIOD, LOAD_SECONDS = (15, 1, 90) if os.environ.get("SLOW_BMC") else (2, 0.2, 6)
PACKAGE, DRAM = "intel-rapl:0", "intel-rapl:0:0"
BASE = 60  # W of fans and losses


class Load:
    """Watts of the CPUs that change every few hundred milliseconds, as counters, as mean of the BMC, and as files."""

    def __init__(self, machine):
        self.machine = machine
        self.random = random.Random(7)
        self.history = [(time.monotonic(), 0.0)]  # time, J of the machine until then
        self.lock = threading.Lock()
        self.running = threading.Event()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def end(self):
        self.ended.set()
        self.thread.join()

    def joules(self, moment):
        with self.lock:
            before = next((point for point in reversed(self.history) if point[0] <= moment), self.history[0])
        return before[1] + (moment - before[0]) * BASE

    def mean_watts(self):
        """Of the last period, as a BMC that averages."""
        now = time.monotonic()
        begin = max(now - BMC_PERIOD, self.history[0][0])
        return (self.joules(now) - self.joules(begin)) / (now - begin) if now > begin else float(BASE)

    def _run(self):
        watts, change, last = 0, 0.0, time.monotonic()
        while not self.ended.wait(0.02):
            now = time.monotonic()
            if now >= change:
                watts, change = self.random.choice((5, 40, 120, 250)), now + self.random.uniform(0.2, 2 * RAPL_PERIOD + 0.3)
                for directory, name in ((ACPI, "power1_average"), (PSU, "power1_input")):
                    self.machine.put(directory, **{name: (watts + BASE) * 1_000_000})
            if self.running.is_set():
                used = int(watts * (now - last) * 1e6)
                self.machine.advance(used, PACKAGE)
                self.machine.advance(used // 10, DRAM)
            else:
                used = 0
            with self.lock:
                self.history.append((now, self.history[-1][1] + used * 1.1 / 1e6 + BASE * (now - last)))
            last = now


class SlowMachine(Machine):
    """As Machine, with counters that only the test moves."""

    def __init__(self):
        super().__init__()
        PowercapTree.__init__(self, {PACKAGE: ("package-0", 0), DRAM: ("dram", 0)})
        self.put(ACPI, name="power_meter", power1_average=BASE * 1_000_000)
        self.put(PSU, name="corsairpsu", power1_label="power total", power1_input=BASE * 1_000_000)


class SlowBmc(unittest.TestCase):
    def setUp(self):
        directory = scratch_directory()
        make_certificates(directory)
        self.machine = self.enterContext(SlowMachine())
        self.load = Load(self.machine)
        self.addCleanup(self.load.end)
        bmc = self.enterContext(RedfishServer(os.path.join(directory, "server.crt"), os.path.join(directory, "server.key"),
                                              "old", self.load.mean_watts))
        bmc_file = os.path.join(directory, "bmc.yaml")
        with open(bmc_file, "w", encoding="ascii") as file:
            file.write(f"nodes: {{{NODE}: b}}\nbmcs: {{b: {{endpoint: '{bmc.url}', username: kepler, password: s3cret, "
                       f"caFile: {directory}/ca.crt}}}}\n")
        config = (f"experimental: {{platform: {{redfish: {{enabled: true, nodeName: {NODE}, configFile: {bmc_file}, "
                  f"interval: {BMC_PERIOD}s}}}}}}\n")
        self.agent = self.enterContext(metered_agent(self.machine, interval=f"{int(RAPL_PERIOD * 1000)}ms", config=config))

    def scrape(self):
        self.last = self.agent.scrape_after()
        return self.last

    def energy(self, family, **labels):
        return microjoules(self.last.value(family, **labels))

    def energies(self):
        """µJ of the machine, of its parts, and of the rest."""
        parts = sum(self.energy("kepler_node_cpu_joules_total", zone=zone) for zone in ("package", "dram"))
        return (self.energy("kepler_node_platform_joules_total", zone="platform"), parts,
                self.energy("kepler_node_other_joules_total") - self.energy("kepler_node_other_debt_joules"))

    def wait_readings(self, count):
        """Waits for `count` readings of the BMC that show energy."""
        for _ in range(count):
            before = self.energy("kepler_node_platform_joules_total", zone="platform")
            wait_until(lambda: self.scrape() and self.energy("kepler_node_platform_joules_total", zone="platform") > before,
                       "a reading of the BMC", 3 * BMC_PERIOD + 10)

    def check(self, before):
        """What holds in every scrape."""
        self.assertGreaterEqual(self.energy("kepler_node_other_joules_total"), before)
        self.assertGreaterEqual(self.energy("kepler_node_other_debt_joules"), 0)
        for family, labels in (("kepler_node_platform_watts", {"zone": "platform"}),
                               ("kepler_platform_watts", {"source": "redfish"}), ("kepler_platform_watts", {"source": "acpi"}),
                               ("kepler_platform_watts", {"source": "psu"})):
            self.assertGreaterEqual(self.last.value(family, **labels), BASE * 9 // 10, f"a false value of {family} {labels}")
        counted = self.last.series("kepler_node_platform_sensor_info")
        self.assertEqual([labels["source"] for labels, _ in counted], ["redfish"])
        self.assertEqual(sum(value for _, value in self.last.series("kepler_conservation_error_joules")), 0)
        return self.energy("kepler_node_other_joules_total")

    def test_total_is_counted_once_and_the_rest_never_negative(self):
        wait_until(lambda: len(self.scrape().series("kepler_node_platform_sensor_info", source="redfish")) == 1 and
                   len(self.last.series("kepler_platform_watts")) == 3 and self.last.series("kepler_node_other_joules_total"),
                   "all meters", 4 * BMC_PERIOD + 20)
        self.wait_readings(1)
        platform, parts, other = self.energies()
        sensor = self.energy("kepler_platform_joules_total", source="redfish")
        counted = sum(self.machine.zone_microjoules().values())
        truth, highest = self.load.joules(time.monotonic()), self.energy("kepler_node_other_joules_total")
        self.load.running.set()
        end, scrapes = time.monotonic() + LOAD_SECONDS, 0
        while time.monotonic() < end:
            self.scrape()
            highest, scrapes = self.check(highest), scrapes + 1
        self.load.running.clear()
        self.wait_readings(3)  # the BMC's mean is of the idle machine again
        self.check(highest)
        platform_after, parts_after, other_after = self.energies()
        self.assertEqual(parts_after - parts, sum(self.machine.zone_microjoules().values()) - counted)
        self.assertEqual(platform_after - platform, self.energy("kepler_platform_joules_total", source="redfish") - sensor)
        self.assertEqual(platform_after - platform, (parts_after - parts) + (other_after - other), "Σ in µJ")
        truth = (self.load.joules(time.monotonic()) - truth) * 1e6
        self.assertAlmostEqual((platform_after - platform) / truth, 1, delta=0.15)
        self.assertGreater(scrapes, 2)
        print(f"    {scrapes} scrapes, {(platform_after - platform) / truth:.3f} of the energy")


if __name__ == "__main__":
    run_tests()
