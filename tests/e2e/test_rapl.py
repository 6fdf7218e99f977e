"""RAPL through each of its interfaces: powercap, perf, and msr devices. All of them are files of the test, except perf: the
test shows the kernel's CPU clock as a power PMU that uses 1 W."""
import os
import time
import unittest

from exposition import microjoules
from harness import Agent, free_port, require, run_tests, run_to_end, wait_until
from powercap import PowercapTree
from test_meter_faults import ON_DEMAND

PACKAGE, DRAM = "intel-rapl:0", "intel-rapl:0:0"
ENTRIES = {PACKAGE: ("package-0", 0), DRAM: ("dram", 0)}
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}
SKYLAKE_SERVER = "cpu:type:x86,ven0000fam0006mod0055:feature:,0000\n"
# Registers (Intel SDM volume 4). The DRAM counter of this processor counts 2^-16 J, whatever the unit register says.
UNIT, PACKAGE_ENERGY, DRAM_ENERGY = 0x606, 0x611, 0x619
UNIT_14 = 0xA0E03  # 2^-14 J
SOFTWARE, CPU_CLOCK = 1, 0  # linux/perf_event.h: counts nanoseconds
AGREEMENT = 0.005


class Machine(PowercapTree):
    """Two CPUs of one package, and <root>/dev/cpu/NUMBER/msr with the same energy as powercap."""

    def __init__(self):
        super().__init__(ENTRIES)
        self.place_cpus([0, 0])
        self.put("devices/system/cpu/modalias", SKYLAKE_SERVER)
        for cpu in range(2):
            self.put(f"dev/cpu/{cpu}/msr", "")
            os.truncate(os.path.join(self.root, f"dev/cpu/{cpu}/msr"), 0x1000)
        self.set_register(UNIT, UNIT_14)
        self.show_registers()

    def put(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)

    def set_register(self, address, value):
        for cpu in range(2):
            file = os.open(os.path.join(self.root, f"dev/cpu/{cpu}/msr"), os.O_WRONLY)
            os.pwrite(file, value.to_bytes(8, "little"), address)
            os.close(file)

    def show_registers(self):
        for entry, address, bits in ((PACKAGE, PACKAGE_ENERGY, 14), (DRAM, DRAM_ENERGY, 16)):
            joules = self.start_at + self.counted[entry]
            self.set_register(address, (joules * 2**bits // 1_000_000) % 2**32)

    def use(self, microjoules_used):
        self.advance(microjoules_used)
        self.show_registers()

    def deny_powercap(self):
        for entry in ENTRIES:
            os.chmod(self.path(entry, "energy_uj"), 0o400)

    def show_clock_as_pmu(self):
        pmu = "bus/event_source/devices/power"
        self.put(f"{pmu}/type", f"{SOFTWARE}\n")
        self.put(f"{pmu}/cpumask", "0\n")
        self.put(f"{pmu}/events/energy-pkg", f"event=0x{CPU_CLOCK:02x}\n")
        self.put(f"{pmu}/events/energy-pkg.scale", "1e-9\n")
        self.put(f"{pmu}/events/energy-pkg.unit", "Joules\n")

    def agent(self, rapl="", **options):
        """Each scrape is a tick."""
        return Agent("--host.sysfs", self.root, "--meter.require", "--activity.source=procfs",
                     config=f"{ON_DEMAND}rapl:{{{rapl}}}\n".replace("rapl:{", "rapl: {"), ready=False, **options)

    def msr(self, force=True):
        return f"msr: {{enabled: true, force: {str(force).lower()}, devicePath: {self.root}/dev/cpu}}"


class Interfaces(unittest.TestCase):
    def setUp(self):
        self.machine = self.enterContext(Machine())

    def start(self, rapl="", **options):
        agent = self.enterContext(self.machine.agent(rapl, **options))
        agent.wait_ready()
        return agent

    def interface(self, page):
        rows = page.series("kepler_source_interface_info", source="rapl")
        self.assertEqual(len(rows), 1)
        return rows[0][0]["interface"]

    def joules(self, page, zone="package"):
        """In µJ, under the path that powercap has."""
        entry = PACKAGE if zone == "package" else DRAM
        return microjoules(page.value("kepler_node_cpu_joules_total", zone=zone, path=self.machine.path(entry)[:-1]))

    def test_powercap_is_used_where_it_works(self):
        page = self.start(self.machine.msr(force=False)).scrape_after()
        self.assertEqual(self.interface(page), "powercap")

    def test_denied_powercap_is_an_error_with_the_remedy_of_each_interface(self):
        self.machine.deny_powercap()
        status, output = run_to_end("--host.sysfs", self.machine.root, "--meter.require",
                                    f"--web.listen-address=127.0.0.1:{free_port()}", **NOBODY)
        self.assertNotEqual(status, 0, output)
        for remedy in ("powercap: ", "CAP_DAC_READ_SEARCH", "perf: ", "msr: not enabled; set rapl.msr.enabled"):
            self.assertIn(remedy, output)

    def test_msr_counts_where_powercap_is_denied_and_the_risk_is_in_the_log(self):
        self.machine.deny_powercap()
        agent = self.start(self.machine.msr(), **NOBODY)
        before = agent.scrape_after()
        self.machine.use(50_000_000)
        page = agent.scrape_after()
        self.assertEqual(self.interface(page), "msr")
        self.assertAlmostEqual(self.joules(page) - self.joules(before), 50_000_000, delta=62)
        self.assertAlmostEqual(self.joules(page, "dram") - self.joules(before, "dram"), 50_000_000, delta=16)
        agent.wait_log("RAPL interface has a security risk.*CVE-2020-8694")

    def test_registers_that_never_move_are_left_for_powercap(self):
        agent = self.start(self.machine.msr())
        self.assertEqual(self.interface(agent.scrape_after()), "msr")
        for _ in range(6):
            self.machine.advance(10_000_000)
            page = agent.scrape_after()
        self.assertEqual(self.interface(page), "powercap")
        counted = self.joules(page)
        self.assertGreater(counted, 0)
        self.machine.advance(10_000_000)
        self.assertEqual(self.joules(agent.scrape_after()), counted + 10_000_000)
        agent.wait_log("the counters of msr have never moved")

    def test_powercap_and_msr_agree(self):
        agents = [self.start(), self.start(self.machine.msr())]
        before = [agent.scrape_after() for agent in agents]
        for step in (1_000_000, 12_345_678, 250_000_000):
            self.machine.use(step)
            pages = [agent.scrape_after() for agent in agents]
        self.assertEqual([self.interface(page) for page in pages], ["powercap", "msr"])
        for zone in ("package", "dram"):
            powercap, msr = (self.joules(page, zone) - self.joules(old, zone) for old, page in zip(before, pages))
            self.assertEqual(powercap, 263_345_678)
            self.assertAlmostEqual(msr, powercap, delta=powercap * AGREEMENT)

    def test_perf_counts_what_the_kernel_counts(self):
        self.machine.show_clock_as_pmu()
        agent = self.enterContext(self.machine.agent("perf: {force: true}"))
        agent.wait_ready()
        page = agent.scrape_after()
        require(self.interface(page) == "perf" or "perf event" not in agent.log(), "perf events are not permitted here")

        def look():
            began = time.monotonic()
            return self.joules(agent.scrape_after()), began, time.monotonic()
        first, first_began, first_ended = look()
        wait_until(lambda: self.joules(agent.scrape_after()) > first + 2_000_000, "two joules of a clock")
        last, last_began, last_ended = look()
        self.assertGreater((last - first) / 1e6, (last_began - first_ended) * (1 - AGREEMENT))
        self.assertLess((last - first) / 1e6, (last_ended - first_began) * (1 + AGREEMENT))


if __name__ == "__main__":
    run_tests()
