"""A live meter that misbehaves. Ticks come on demand only: every scrape looks at what the test has set up."""
import os
import shutil
import unittest

from exposition import ScrapeChecker, microjoules
from harness import Agent, run_tests, wait_until
from powercap import REAL_RANGE, PowercapTree, metered_agent

PACKAGE, DRAM = "intel-rapl:0", "intel-rapl:0:0"
ENTRIES = {PACKAGE: ("package-0", 0), DRAM: ("dram", 0)}
ON_DEMAND = "monitor:\n  interval: 0s\n  staleness: 0s\n"


class LiveMeter(unittest.TestCase):
    """An agent on a tree that only the test changes; every look() is a tick."""
    entries = ENTRIES
    start_at = 1_000_000

    def setUp(self):
        self.tree = self.enterContext(PowercapTree(self.entries, start_at=self.start_at))
        self.prepare()
        self.agent = self.enterContext(Agent("--host.sysfs", self.tree.root, "--meter.require", config=ON_DEMAND,
                                             ready=False))
        self.checker = ScrapeChecker(pids_return=lambda labels: True)  # the meter is judged, whatever else runs
        wait_until(self.answers, "the first snapshot")
        self.look()

    def prepare(self):
        """What else the tree is to show."""

    def tearDown(self):
        self.assertEqual(self.checker.problems, [])

    def answers(self):
        try:
            return self.agent.get("/metrics")[0] == 200
        except OSError:
            return False

    def look(self):
        self.last = self.checker.check(self.agent.scrape_after())
        return self.last

    def node(self, zone="package"):
        return microjoules(self.last.value("kepler_node_cpu_joules_total", zone=zone))

    def source(self, what):
        return self.last.value(f"kepler_source_{what}", source="rapl")

    def domains(self, zone="package"):
        """(known, read in the last tick)"""
        return tuple(int(self.last.value(f"kepler_source_{name}", source="rapl", zone=zone))
                     for name in ("zone_domains", "zone_domains_read"))

    def has_watts(self, zone="package"):
        return bool(self.last.series("kepler_node_cpu_watts", zone=zone))


class MeterFaults(LiveMeter):
    def test_steady_counter_counts_to_the_microjoule(self):
        for step in (1, 999_999, 12_345_678):
            self.tree.advance(step)
            self.look()
        self.assertEqual(self.node(), 13_345_678)

    def test_reset_is_counted_and_nothing_invented(self):
        self.tree.advance(50_000_000)
        self.look()
        self.tree.write(PACKAGE, "energy_uj", 17)
        self.look()
        self.assertEqual(self.node(), 50_000_000)
        self.assertEqual(self.source("resets_total"), 1)
        self.tree.write(PACKAGE, "energy_uj", 1_000_017)
        self.look()
        self.assertEqual(self.node(), 51_000_000)

    def test_jump_beyond_physics_is_refused_and_counted(self):
        self.tree.write(PACKAGE, "energy_uj", REAL_RANGE // 2)
        self.look()
        self.assertEqual(self.node(), 0)
        self.assertEqual(self.source("rejected_readings_total"), 1)
        self.assertEqual(microjoules(self.source("rejected_joules_total")), REAL_RANGE // 2 - self.start_at)

    def test_frozen_zone_stands_still_and_the_other_goes_on(self):
        self.tree.advance(1_000_000)
        self.look()
        for _ in range(5):
            self.tree.advance(2_000_000, DRAM)
            self.look()
        self.assertEqual((self.node(), self.node("dram")), (1_000_000, 11_000_000))
        self.assertEqual(self.last.value("kepler_node_cpu_watts", zone="package"), 0)
        self.assertEqual(self.source("up"), 1)

    def test_unreadable_counter_is_caught_up_when_it_is_back(self):
        self.tree.advance(1_000_000)
        self.look()
        counter = self.tree.path(PACKAGE, "energy_uj")
        self.tree.hold(PACKAGE)
        os.remove(counter)
        os.mkdir(counter)  # reading it fails, as EIO does, though the name is there
        self.tree.advance(5_000_000)
        self.look()
        self.assertEqual((self.node(), self.node("dram")), (1_000_000, 6_000_000))
        self.assertGreaterEqual(self.source("failed_reads_total"), 1)
        self.assertEqual(self.last.series("kepler_node_cpu_watts", zone="package"), [])
        os.rmdir(counter)
        self.tree.give_back(PACKAGE)
        self.tree.advance(1_000_000)
        self.look()
        self.assertEqual((self.node(), self.node("dram")), (7_000_000, 7_000_000))

    def test_driver_unloaded_and_loaded_again(self):
        self.tree.advance(3_000_000)
        self.look()
        away = os.path.join(self.tree.root, "away")
        powercap = os.path.join(self.tree.root, "class", "powercap")
        shutil.move(powercap, away)
        self.look()
        self.look()
        self.assertEqual(self.source("up"), 0)
        self.assertEqual(self.node(), 3_000_000)
        shutil.move(away, powercap)
        self.tree.advance(4_000_000)
        self.look()
        self.look()
        self.assertEqual(self.source("up"), 1)
        self.assertEqual(self.node(), 7_000_000)


class WrappingMeter(MeterFaults):
    """The same faults with a counter that is about to wrap."""
    start_at = REAL_RANGE - 500_000

    # Falls that begin here would be wraps, and jumps from here end elsewhere.
    test_reset_is_counted_and_nothing_invented = None
    test_jump_beyond_physics_is_refused_and_counted = None


class TwoSockets(LiveMeter):
    entries = {"intel-rapl:0": ("package-0", 0), "intel-rapl:1": ("package-1", 0)}

    def prepare(self):
        self.tree.place_cpus([0, 0, 1, 1])

    def test_a_socket_that_vanishes_takes_the_watts_along_until_it_is_back(self):
        self.tree.advance(1_000_000)
        self.assertEqual((self.look() and self.domains(), self.has_watts()), ((2, 2), True))
        self.tree.take_away("intel-rapl:1")
        failed = self.source("failed_reads_total")
        for step in range(1, 6):
            self.tree.advance(3_000_000)
            self.look()
            self.assertEqual((self.domains(), self.has_watts()), ((2, 1), False))
            self.assertEqual(self.node(), 2_000_000 + step * 3_000_000)
            self.assertGreaterEqual(self.source("failed_reads_total"), failed + step)
        self.assertEqual(self.source("up"), 1)
        self.tree.bring_back("intel-rapl:1")
        wait_until(lambda: self.look() and self.domains() == (2, 2), "the socket to be found again", period=1)
        self.assertEqual(self.node(), 2 * 16_000_000)
        self.assertTrue(self.has_watts())

    def test_a_socket_whose_cpus_are_offline_is_no_part_of_the_zone(self):
        self.tree.place_cpus([0, 0, 1, 1], online=[0, 1])
        self.tree.take_away("intel-rapl:1")
        failed = self.source("failed_reads_total")
        for _ in range(2):
            self.tree.advance(3_000_000, "intel-rapl:0")
            self.look()
            self.assertEqual((self.domains(), self.has_watts()), ((2, 1), True))
        self.assertEqual(self.source("failed_reads_total"), failed)
        self.tree.place_cpus([0, 0, 1, 1])
        self.assertEqual((self.look() and self.domains(), self.has_watts()), ((2, 1), False))


class LaterZones(LiveMeter):
    entries = {"intel-rapl:0": ("package-0", 0)}

    def test_a_zone_that_appears_is_used_and_starts_at_zero(self):
        with PowercapTree({"intel-rapl:0:0": ("dram", 0)}) as other:
            other.advance(77_000_000)
            shutil.copytree(other.path("intel-rapl:0:0"), self.tree.path("intel-rapl:0:0"))
        self.tree.advance(5_000_000)
        wait_until(lambda: self.look().series("kepler_node_cpu_joules_total", zone="dram"), "the zone", period=1)
        self.assertEqual((self.node(), self.node("dram")), (5_000_000, 0))
        self.tree.write("intel-rapl:0:0", "energy_uj", 1_000_000 + 79_000_000)
        self.look()
        self.assertEqual(self.node("dram"), 2_000_000)
        self.agent.wait_log("found a new energy domain.*zone=dram")


class LateLooks(unittest.TestCase):
    def test_interval_above_the_wrap_is_said_at_the_start(self):
        for wraps_at, said in ((30_000_000, True), (REAL_RANGE, False)):  # a socket of 1 kW uses 30 J in 30 ms
            with self.subTest(wraps_at), PowercapTree(ENTRIES, ranges=dict.fromkeys(ENTRIES, wraps_at)) as tree:
                with metered_agent(tree) as agent:
                    self.assertEqual("monitor.interval is longer than the shortest wrap time" in agent.log(), said)
                    self.assertEqual(agent.scrape_after().value("kepler_source_unknown_wraps_total", source="rapl") > 0,
                                     said)


if __name__ == "__main__":
    run_tests()
