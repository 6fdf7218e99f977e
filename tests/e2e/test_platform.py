"""Meters of the whole machine that the kernel shows as files: an ACPI power meter, a power supply, a battery."""
import json
import os
import statistics
import subprocess
import tempfile
import time
import unittest
from decimal import Decimal

from exposition import microjoules
from harness import binary, run_tests, wait_until
from http_double import Double
from powercap import ONE_PACKAGE, PowercapTree, metered_agent

ACPI = "class/hwmon/hwmon0/device"  # the kernel's old registration: the files are in the ACPI device
PSU = "class/hwmon/hwmon1"
BATTERY = "class/power_supply/BAT0"


class Machine(PowercapTree):
    """A package of 50 W, an ACPI power meter, a Corsair power supply and a battery on mains."""

    def __init__(self):
        super().__init__(ONE_PACKAGE)
        self.put(ACPI, name="power_meter", power1_average=210_000_000, power1_oem_info="Server")
        self.put(PSU, name="corsairpsu", power1_label="power total", power1_input=187_500_000,
                 power2_label="power +12v", power2_input=150_000_000)
        self.put(BATTERY, type="Battery", status="Full", power_now=30_000_000)

    def put(self, directory, **files):
        os.makedirs(os.path.join(self.root, directory), exist_ok=True)
        for name, value in files.items():
            path = os.path.join(self.root, directory, name)
            with open(path + ".new", "w", encoding="ascii") as file:
                file.write(f"{value}\n")
            os.rename(path + ".new", path)


def meters(root, *words):
    """({name: what `kepler meters` says of the meter}, its log)"""
    done = subprocess.run([binary(), "meters", "--json", "--host.sysfs", root, *words], capture_output=True,
                          check=True, text=True)
    return {meter["name"]: meter for meter in json.loads(done.stdout)["meters"]}, done.stderr


class WithAgent(unittest.TestCase):
    """One agent for all tests of the class: two readings of a meter are 5 s apart."""

    @classmethod
    def setUpClass(cls):
        cls.machine = cls.enterClassContext(Machine())
        cls.machine.start()
        cls.agent = cls.enterClassContext(metered_agent(cls.machine))

    def setUp(self):
        wait_until(lambda: self.scrape().series("kepler_node_other_joules_total"), "two readings of the ACPI meter")

    def scrape(self):
        self.last = self.agent.scrape_after()
        return self.last

    def watts(self, source, **labels):
        return self.last.value("kepler_platform_watts", source=source, **labels)


class PlatformMeters(WithAgent):
    def test_every_sensor_has_watts_and_one_meter_gives_the_total(self):
        wait_until(lambda: self.scrape().series("kepler_platform_watts", source="psu"), "the power supply")
        self.assertEqual(self.watts("acpi"), 210)
        self.assertEqual(self.watts("psu", source_name="power_total"), 187.5)
        self.assertEqual(self.watts("psu", source_name="power__12v"), 150)
        self.assertEqual(self.last.series("kepler_platform_watts", source="battery"), [], "a battery on mains says nothing")
        self.assertEqual(self.last.value("kepler_node_platform_watts", zone="platform"), 210)
        info = self.last.series("kepler_node_platform_sensor_info")
        self.assertEqual([labels["source"] for labels, _ in info], ["acpi"])
        self.assertEqual(self.last.value("kepler_node_platform_joules_total", zone="platform"),
                         self.last.value("kepler_platform_joules_total", source="acpi"))

    def energies(self):
        """µJ of the machine, and of what is not its package."""
        self.scrape()
        total = microjoules(self.last.value("kepler_node_platform_joules_total", zone="platform"))
        other = microjoules(self.last.value("kepler_node_other_joules_total"))
        debt = microjoules(self.last.value("kepler_node_other_debt_joules"))
        self.assertGreaterEqual(other, 0)
        self.assertGreaterEqual(debt, 0)
        return total, other - debt

    def test_other_is_the_machine_without_its_package(self):
        total, other = self.energies()
        two_readings = 1_500_000_000  # µJ: more than one poll of 5 s at 210 W
        wait_until(lambda: self.energies()[0] - total > two_readings, "two more readings of the ACPI meter")
        total_after, other_after = self.energies()
        self.assertAlmostEqual((other_after - other) / (total_after - total), 160 / 210, delta=0.01)

    def test_the_page_and_the_command_list_the_meters(self):
        page = self.agent.get("/")[-1].decode()
        self.assertRegex(page, "<td[^>]*>acpi</td><td[^>]*>machine</td><td[^>]*>used</td>")
        states = {name: meter["state"] for name, meter in meters(self.machine.root)[0].items()}
        self.assertEqual({name: states[name] for name in ("rapl", "acpi", "psu", "battery")},
                         {"rapl": "used", "acpi": "used", "psu": "ready", "battery": "silent"}, "on mains")
        self.assertIn("<p>redfish: not configured; set experimental.platform.redfish.enabled and configFile</p>", page)


class Fault(WithAgent):
    def joules(self, source, **labels):
        return self.last.value("kepler_platform_joules_total", source=source, **labels)

    def test_a_fault_costs_only_the_series_of_its_meter(self):
        wait_until(lambda: self.scrape().series("kepler_platform_watts", source="psu"), "the power supply")
        poll = 5  # seconds between two readings of both meters
        supply = {"source": "psu", "source_name": "power_total"}
        self.machine.put(ACPI, power1_average="not a number")
        begin = time.monotonic()
        wait_until(lambda: not self.scrape().series("kepler_platform_watts", source="acpi"), "the fault")
        self.assertGreater(self.last.value("kepler_source_failed_reads_total", source="acpi"), 0)
        frozen = self.joules("acpi"), self.last.value("kepler_node_platform_joules_total", zone="platform")
        package, psu, seen = self.last.value("kepler_node_cpu_joules_total", zone="package"), self.joules(**supply), time.monotonic()
        watts = []
        while time.monotonic() < seen + poll + 2:
            self.scrape()
            watts.append(float(self.last.value("kepler_node_cpu_watts", zone="package")))
            self.assertEqual(self.last.value("kepler_platform_watts", **supply), Decimal("187.5"))
            for source in ("rapl", "psu"):
                self.assertEqual(self.last.value("kepler_source_failed_reads_total", source=source), 0)
            self.assertFalse(self.last.series("kepler_platform_watts", source="acpi"))
            self.assertFalse(self.last.series("kepler_node_platform_watts", zone="platform"))
            self.assertEqual((self.joules("acpi"), self.last.value("kepler_node_platform_joules_total", zone="platform")),
                             frozen, "energy of a meter that does not answer")
        seconds = time.monotonic() - seen
        # On a busy machine the counter of the test moves late: in one interval by less, in the next one by more.
        self.assertAlmostEqual(statistics.mean(watts), 50, delta=15)
        self.assertAlmostEqual(float(self.last.value("kepler_node_cpu_joules_total", zone="package") - package), 50 * seconds,
                               delta=50 * 2)
        self.assertAlmostEqual(float(self.joules(**supply) - psu), 187.5 * seconds, delta=187.5 * (poll + 1))
        self.machine.put(ACPI, power1_average=220_000_000)
        mended = time.monotonic()
        wait_until(lambda: self.scrape().series("kepler_platform_watts", source="acpi"), "the recovery")
        self.assertEqual(self.watts("acpi"), 220)
        gained = float(self.joules("acpi") - frozen[0])
        self.assertGreater(gained, 210 * (mended - begin))
        self.assertLess(gained, 220 * (time.monotonic() - begin + poll + 1))
        total = self.last.value("kepler_node_platform_joules_total", zone="platform")
        self.assertEqual(microjoules(total - frozen[1]), microjoules(self.joules("acpi") - frozen[0]))


class MetersCommand(unittest.TestCase):
    def test_the_command_has_its_own_help(self):
        done = subprocess.run([binary(), "meters", "--help"], capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.startswith("usage: kepler meters [--json]"), done.stderr)
        agent = subprocess.run([binary(), "--help"], capture_output=True, text=True, timeout=30)
        self.assertEqual((agent.returncode, agent.stdout), (0, ""), "kepler --help goes to stderr, as that of Kepler 0.11")
        self.assertTrue(agent.stderr.startswith("usage: kepler [<flags>]\n"), agent.stderr)

    def test_the_command_says_each_error_once(self):
        """The agent logs a refused login as an error; the command says it in its table."""
        with Machine() as machine, tempfile.TemporaryDirectory() as folder, \
                Double(lambda *_: (401, "")) as server:
            with open(f"{folder}/bmc.yaml", "w", encoding="ascii") as file:
                file.write(f"nodes: {{n: b}}\nbmcs: {{b: {{endpoint: '{server.url}', username: u, "
                           "password: p}}\n")
            with open(f"{folder}/config.yaml", "w", encoding="ascii") as file:
                file.write("experimental: {platform: {redfish: {enabled: true, nodeName: n, configFile: "
                           f"{folder}/bmc.yaml}}}}}}\n")
            found, log = meters(machine.root, "--config.file", f"{folder}/config.yaml")
        self.assertEqual(found["redfish"]["state"], "silent")
        self.assertIn("refused the user name or password", found["redfish"]["reason"])
        self.assertEqual(log, "")


if __name__ == "__main__":
    run_tests()
