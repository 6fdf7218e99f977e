"""The machine's power from a BMC over Redfish: labels, energies, shapes of vendors, logins and faults."""
import os
import subprocess
import sys
import time
import unittest

from harness import binary, run_tests, scratch_directory, wait_until
from kubernetes import make_certificates
from powercap import ONE_PACKAGE, PowercapTree, metered_agent

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lab"))
from redfish_server import LICENCE, RedfishServer  # noqa: E402
from redfish_shapes import CHASSIS  # noqa: E402

NODE = "worker-1"
POWER = f"{CHASSIS}/1/Power"
SUPPLIES = f"{CHASSIS}/1/PowerSubsystem/PowerSupplies"
METRICS = f"{SUPPLIES}/Bay1/Metrics"


class BmcTest(unittest.TestCase):
    """An agent with a powercap tree, and a BMC that is read every second."""
    shape = "modern"
    auth = "basic"
    server = RedfishServer

    @classmethod
    def setUpClass(cls):
        cls.certificates = scratch_directory()
        make_certificates(cls.certificates)

    def setUp(self):
        certificate, key = (os.path.join(self.certificates, f"server.{kind}") for kind in ("crt", "key"))
        self.bmc = self.enterContext(self.server(certificate, key, self.shape))
        self.bmc.login = self.auth
        self.tree = self.enterContext(PowercapTree(ONE_PACKAGE))
        self.tree.start()
        self.directory = scratch_directory()
        self.bmc_file = os.path.join(self.directory, "bmc.yaml")
        self.write_file()

    def write_file(self, password="s3cret", more="", url=None):
        text = (f"nodes:\n  {NODE}: bmc-1\nbmcs:\n  bmc-1:\n    endpoint: {url or self.bmc.url}\n    username: kepler\n"
                f"    password: {password}\n    auth: {self.auth}\n    caFile: {self.certificates}/ca.crt\n{more}")
        with open(self.bmc_file + ".new", "w", encoding="ascii") as file:
            file.write(text)
        os.rename(self.bmc_file + ".new", self.bmc_file)

    def start(self, timeout="2s"):
        config = (f"experimental:\n  platform:\n    redfish: {{enabled: true, nodeName: {NODE}, configFile: {self.bmc_file},"
                  f" httpTimeout: {timeout}, interval: 1s}}\n")
        self.agent = self.enterContext(metered_agent(self.tree, config=config))

    def scrape(self):
        self.last = self.agent.scrape_after()
        return self.last

    def watts(self):
        """{(chassis, type, id): W} of the sensors that answer."""
        return {(labels["chassis_id"], labels["source_type"], labels["source_id"]): float(value)
                for labels, value in self.scrape().series("kepler_platform_watts", source="redfish")}

    def wait_watts(self, wanted, what, seconds=30):
        wait_until(lambda: self.watts() == wanted, what, seconds, period=0.2)

    def total_watts(self):
        return [float(value) for _, value in self.scrape().series("kepler_node_platform_watts", zone="platform")]

    def total(self):
        found = self.scrape().series("kepler_node_platform_joules_total", zone="platform")
        return float(found[0][1]) if found else 0.0


SUPPLY_1, SUPPLY_2 = ("1", "PowerSupply", "Bay1"), ("1", "PowerSupply", "Bay2")


class ReadBmc(BmcTest):
    def test_labels_and_energies(self):
        self.start()
        self.wait_watts({SUPPLY_1: 150, SUPPLY_2: 150}, "both supplies")
        labels, _ = self.last.series("kepler_platform_watts", source_id="Bay1")[0]
        self.assertEqual(labels["source"], "redfish")
        self.assertEqual(labels["bmc_id"], "bmc-1")
        self.assertEqual(labels["source_name"], "Power Supply Bay 1")
        self.assertIn("node_name", labels)
        wait_until(lambda: self.total() > 600, "energy of two intervals")
        begin, before = time.monotonic(), self.total()
        wait_until(lambda: self.total() > before + 3000, "ten seconds of energy", 60)
        watts = (self.total() - before) / (time.monotonic() - begin)
        self.assertAlmostEqual(watts, 300, delta=60)  # a reading may be a second old at either end
        supplies = [float(value) for _, value in self.last.series("kepler_platform_joules_total", source="redfish")]
        self.assertAlmostEqual(sum(supplies), self.total(), delta=1000)
        self.assertEqual(len(self.last.series("kepler_node_platform_sensor_info", source="redfish")), 2)

    def test_changed_power_is_followed(self):
        self.start()
        self.wait_watts({SUPPLY_1: 150, SUPPLY_2: 150}, "both supplies")
        self.bmc.watts = 500
        self.wait_watts({SUPPLY_1: 250, SUPPLY_2: 250}, "the new watts")

    def test_one_connection_and_no_search_for_each_reading(self):
        self.start()
        self.wait_watts({SUPPLY_1: 150, SUPPLY_2: 150}, "both supplies")

        def wait_readings(count):
            before = self.bmc.count(path=METRICS)
            wait_until(lambda: self.bmc.count(path=METRICS) >= before + count, f"{count} more readings")
        wait_readings(3)  # the meter may search twice at startup
        searches = self.bmc.count(path=CHASSIS)
        wait_readings(4)
        self.assertEqual(self.bmc.count(path=CHASSIS), searches)
        self.assertEqual(self.bmc.connections, 1)

    def test_shapes_of_vendors(self):
        chassis, control = "1", "PowerControl"
        for shape, wanted in (
                ("inline", {("1U", "PowerSupply", "PS1"): 300, ("1U", "PowerSupply", "PS2"): 0}),
                ("old", {(chassis, control, "0"): 300}), ("idrac7", {(chassis, control, "0"): 300}),
                ("xcc", {(chassis, control, "0"): 300, (chassis, control, "1"): 100, (chassis, control, "2"): 30}),
                ("irmc", {(chassis, control, "0"): 300}), ("ilo4", {(chassis, control, "0"): 300}),
                ("text", {(chassis, control, "0"): 300})):
            with self.subTest(shape=shape):
                self.bmc.shape = shape
                self.write_file(more=f"# {shape}\n")
                self.start()
                self.wait_watts(wanted, f"the sensors of {shape}")
                # Parts are not added to the whole.
                wait_until(lambda: self.total_watts() == [300], f"the total of {shape}")
                self.agent.stop()

    def test_node_is_one_blade_of_an_enclosure(self):
        self.bmc.shape = "enclosure"
        self.write_file(more=f"chassis:\n  {NODE}: [Blade2]\n")
        self.start()
        self.wait_watts({("Blade2", "EnvironmentMetrics", "EnvironmentMetrics"): 300}, "the blade")
        wait_until(lambda: self.total_watts() == [300], "the total of the blade")


class CountingServer(RedfishServer):
    """Each supply counts half of the energy of the machine, in steps of 3.6 J. `drawn`: watts of the machine."""
    reset = False

    def __init__(self, *args):
        super().__init__(*args)
        self.drawn, self.joules, self.since = 300.0, 1e9, time.monotonic()

    def draw(self, watts):
        self.joules, self.since, self.drawn = self.energy(), time.monotonic(), watts

    def energy(self):
        return self.joules + (time.monotonic() - self.since) * self.drawn

    def resources(self):
        answers = super().resources()
        kwh = 0 if self.reset else self.energy() / 2 // 3.6 / 1e6
        for uri in answers:
            if uri.endswith("/Metrics"):
                answers[uri]["EnergykWh"] = {"Reading": kwh}
        return answers


class EnergyCounter(BmcTest):
    server = CountingServer

    def difference(self):
        return [float(value) for _, value in self.scrape().series("kepler_platform_counter_difference_joules")]

    def test_counter_checks_the_power(self):
        self.start()
        wait_until(lambda: self.total() > 1500, "five readings")
        self.assertEqual(len(self.difference()), 2)
        self.assertLess(max(map(abs, self.difference())), 450)  # three seconds of a supply, on a busy machine
        total, truth, difference = self.total(), self.bmc.energy(), sum(self.difference())
        self.bmc.draw(20)
        for path in (*self.bmc.resources(), METRICS):
            self.bmc.faults[path] = "cut"
        time.sleep(10)
        self.bmc.draw(300)
        self.bmc.faults.clear()
        self.wait_watts({SUPPLY_1: 150, SUPPLY_2: 150}, "both supplies", 60)
        wait_until(lambda: self.total() > total, "the energy of the gap")
        # The integral has the watts on either side of the gap, about 3000 J; the counters show the error.
        wait_until(lambda: sum(self.difference()) < difference - 1500, "the difference")
        self.assertAlmostEqual(self.total() - total + sum(self.difference()) - difference, self.bmc.energy() - truth,
                               delta=1200)

    def test_counter_that_is_reset_is_refused(self):
        self.start()
        wait_until(lambda: self.total() > 600, "energy of two intervals")
        self.bmc.reset = True
        refused = "kepler_platform_counter_refused_total"
        wait_until(lambda: [value for _, value in self.scrape().series(refused)] == [1, 1], "the refusal of both")
        total = self.total()
        wait_until(lambda: self.total() > total + 600, "two more intervals")
        self.assertLess(self.total(), 300 * 60)


class Faults(BmcTest):
    """Each costs the series of its sensor for as long as it lasts; RAPL goes on."""

    def setUp(self):
        super().setUp()
        self.start(timeout="3s")
        self.wait_watts({SUPPLY_1: 150, SUPPLY_2: 150}, "both supplies")

    def package(self):
        return float(self.scrape().value("kepler_node_cpu_joules_total", zone="package"))

    def test_one_resource(self):
        faults = {"null": {"InputPowerWatts": {"Reading": None}}, "negative": {"InputPowerWatts": {"Reading": -5}},
                  "no number": {"InputPowerWatts": {"Reading": "n/a"}}, "500": 500, "hang": "hang", "cut": "cut",
                  "huge": "huge", "endless": "endless", "redirect": (308, {"Location": "/elsewhere"}, None)}
        for name, fault in faults.items():
            with self.subTest(fault=name):
                package = self.package()
                self.bmc.faults[METRICS] = fault
                wait_until(lambda: SUPPLY_1 not in self.watts(), "the series to go", 40, period=0.2)
                self.assertGreater(self.package(), package)
                self.assertEqual(self.watts(), {SUPPLY_2: 150})
                self.assertEqual(self.total_watts(), [], "one of two supplies is not the machine")
                self.bmc.faults.clear()
                self.wait_watts({SUPPLY_1: 150, SUPPLY_2: 150}, f"both supplies after {name}", 60)

    def test_supply_without_readings_is_replaced_by_another_sensor(self):
        self.bmc.faults[METRICS] = {}
        self.wait_watts({("1", "EnvironmentMetrics", "EnvironmentMetrics"): 300}, "the sensor of the chassis")
        total = self.total()
        wait_until(lambda: self.total() > total + 600, "more energy of the machine")

    def test_retry_after_is_waited_for(self):
        for path in (*self.bmc.resources(), METRICS):
            self.bmc.faults[path] = (503, {"Retry-After": "4"}, None)
        wait_until(lambda: not self.watts(), "the series to go", 40, period=0.2)
        self.bmc.faults.clear()
        self.wait_watts({SUPPLY_1: 150, SUPPLY_2: 150}, "both supplies", 60)
        times = [moment for moment, _, _ in self.bmc.requests]
        self.assertGreater(max(later - earlier for earlier, later in zip(times, times[1:])), 3.9)

    def test_whole_bmc(self):
        for fault in ("hang", 503, "cut"):
            with self.subTest(fault=fault):
                package = self.package()
                for path in (*self.bmc.resources(), METRICS):
                    self.bmc.faults[path] = fault
                wait_until(lambda: not self.watts(), "the series to go", 40, period=0.2)
                self.assertGreater(self.package(), package)
                self.bmc.faults.clear()
                self.wait_watts({SUPPLY_1: 150, SUPPLY_2: 150}, "both supplies", 60)


class Logins(BmcTest):
    shape = "old"
    wanted = {("1", "PowerControl", "0"): 300}

    def test_wrong_password_is_sent_once_until_the_file_changes(self):
        self.write_file(password="wrong")
        self.start()
        self.agent.wait_log("BMC refused the login")
        time.sleep(5)  # several polls
        self.assertEqual(self.bmc.refused_logins, 1)
        self.write_file()
        self.wait_watts(self.wanted, "the power after the file was corrected", 40)
        self.assertEqual(self.bmc.refused_logins, 1)
        self.assertNotIn("s3cret", self.agent.log())

    def test_licence_that_is_missing_is_logged_once(self):
        self.bmc.faults[POWER] = (403, {}, LICENCE)
        self.start()
        self.agent.wait_log("the BMC needs a licence for it")
        time.sleep(4)
        self.assertEqual(self.bmc.count(path=POWER), 1)
        self.assertEqual(self.agent.log().count("BMC forbids a resource"), 1)

    def test_certificate_of_an_unknown_authority(self):
        self.write_file()
        with open(self.bmc_file, encoding="ascii") as file:
            text = file.read()
        with open(self.bmc_file, "w", encoding="ascii") as file:
            file.write("".join(line for line in text.splitlines(keepends=True) if "caFile" not in line))
        self.start()
        self.agent.wait_log("is not trusted.*set caFile in the BMC file")
        self.assertEqual(self.bmc.count(), 0)

    def test_password_over_plain_http_is_a_warning(self):
        self.bmc.server.tls = None
        self.write_file(url=self.bmc.url.replace("https", "http"))
        self.start()
        self.wait_watts(self.wanted, "the power over plain HTTP")
        warning = "the password for the BMC bmc-1 is sent in plain text; use https in its endpoint"
        self.assertEqual(self.agent.log().count(warning), 1)
        self.assertNotIn("s3cret", self.agent.log())
        check = subprocess.run([binary(), "--config.check", f"--config.file={self.agent.config_path}"],
                               capture_output=True, check=True, text=True)
        self.assertIn(f"warning: {warning}", check.stdout)

    def test_file_without_this_node_is_named(self):
        with open(self.bmc_file, "w", encoding="ascii") as file:
            file.write("nodes: {other: b}\nbmcs: {b: {endpoint: https://127.0.0.1}}\n")
        self.start()
        self.agent.wait_log(r"bmc.yaml:1: nodes: has no entry for this node")
        check = subprocess.run([binary(), "--config.check", f"--config.file={self.agent.config_path}"],
                               capture_output=True, check=False, text=True)
        self.assertEqual(check.returncode, 1)
        self.assertIn("bmc.yaml:1: nodes: has no entry for this node", check.stderr)
        self.write_file()
        self.wait_watts(self.wanted, "the power after the file was corrected", 40)


class Sessions(BmcTest):
    shape = "old"
    auth = "session"
    wanted = {("1", "PowerControl", "0"): 300}

    def test_one_session_that_is_deleted_at_exit(self):
        self.start()
        self.wait_watts(self.wanted, "the power")
        self.assertEqual((len(self.bmc.sessions), self.bmc.sessions_made), (1, 1))
        self.bmc.watts = 400
        self.wait_watts({("1", "PowerControl", "0"): 400}, "the new power")
        self.assertEqual(self.bmc.sessions_made, 1)
        self.agent.stop()
        self.assertEqual(len(self.bmc.sessions), 0)

    def test_expired_session_is_replaced(self):
        self.start()
        self.wait_watts(self.wanted, "the power")
        self.bmc.expire_sessions()
        wait_until(lambda: self.bmc.sessions_made == 2, "another login", 60)
        self.wait_watts(self.wanted, "the power", 60)
        self.assertEqual(self.bmc.max_sessions, 1)

    def test_stop_during_a_slow_login_leaves_no_session(self):
        self.bmc.login_delay = 1.5
        self.start()
        wait_until(lambda: self.bmc.count("POST") == 1, "the login")
        self.agent.stop()
        self.assertEqual((self.bmc.sessions_made, self.bmc.sessions, self.bmc.count("DELETE")), (1, {}, 1))

    def test_session_limit(self):
        self.bmc.session_limit = 0
        self.start()
        wait_until(lambda: self.bmc.count("POST") >= 2, "two attempts")
        self.bmc.session_limit = 1
        self.wait_watts(self.wanted, "the power", 60)


if __name__ == "__main__":
    run_tests()
