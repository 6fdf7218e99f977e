"""The exporter of JSON lines: the figures of a scrape, in files that rotate, through full disks and missing directories."""
import ctypes
import datetime
import json
import os
import re
import tempfile
import unittest

from exposition import microjoules, unique
from harness import Agent, require, run_tests, wait_until

CONFIG = """
cpu: {preferredMeters: [fake]}
monitor: {interval: 1s}
exporter: {jsonLines: {path: %s, interval: 1s%s}}
"""


def counted(agent, family, **labels):
    return int(agent.scrape().value(family, exporter="json_lines", **labels))


def read(path, is_written=False):
    """The lines of a file. Each must be whole. is_written: an agent may be writing the last one, which is left out."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if is_written:
        text = text[:text.rfind("\n") + 1]
    if text and not text.endswith("\n"):
        raise AssertionError(f"cut: {text[-100:]!r}")
    return [json.loads(line, parse_float=str, object_pairs_hook=unique) for line in text.splitlines()]


def sum_of(lines, zone, **wanted):
    """Exact, in microjoules."""
    found = [line for line in lines if wanted.items() <= line.items()]
    return sum(int(line["joules"].get(zone, "0").replace(".", "")) for line in found)


class JsonLines(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.path = f"{self.folder}/kepler.jsonl"

    def test_a_tick_in_the_file_has_the_figures_of_its_scrape_and_adds_up(self):
        with Agent(config=CONFIG % (self.path, "")) as agent:
            def pair():
                scrape = agent.scrape()
                at = scrape.value("kepler_snapshot_timestamp_seconds")
                when = datetime.datetime.fromtimestamp(int(at * 1000) / 1000, datetime.timezone.utc)
                time = when.strftime("%Y-%m-%dT%H:%M:%S.") + f"{when.microsecond // 1000:03}Z"
                wait_until(lambda: os.path.exists(self.path) and
                           any(line["time"] > time for line in read(self.path, is_written=True)), "the tick after it")
                lines = [line for line in read(self.path, is_written=True) if line["time"] == time]
                return (scrape, lines) if lines else None
            scrape, lines = wait_until(pair, "a scrape and lines of one tick")
        for zone in scrape.zones():
            node, = [line for line in lines if line["level"] == "node" and line["zone"] == zone]
            active = int(node["active_joules"].replace(".", ""))
            self.assertEqual(active, microjoules(scrape.value("kepler_node_cpu_active_joules_total", zone=zone)))
            self.assertEqual(sum_of(lines, zone, level="process"), microjoules(scrape.sum("kepler_process_cpu_joules_total", zone=zone)))
            parts = (sum_of(lines, zone, level="process") + sum_of(lines, zone, level="unlisted", of="process") +
                     sum_of(lines, zone, level="unattributed"))
            self.assertEqual(parts, active, zone)
        own, = [line for line in lines if line["level"] == "process" and line["pid"] == agent.process.pid]
        self.assertEqual((own["comm"], own["state"]), ("kepler", "running"))

    def test_full_files_are_moved(self):
        with open(self.path, "w", encoding="ascii") as file:
            file.write("{}\n" * 330_000)
        with Agent(config=CONFIG % (self.path, ", maxSize: 1000000, maxFiles: 2")) as agent:
            wait_until(lambda: os.path.exists(f"{self.path}.1"), "the first move")
            wait_until(lambda: os.path.exists(self.path) and read(self.path, is_written=True), "new lines")
            self.assertEqual(counted(agent, "kepler_push_failures_total", reason="file"), 0)
        self.assertEqual(sorted(os.listdir(self.folder)), ["kepler.jsonl", "kepler.jsonl.1"])

    def test_a_missing_directory_costs_only_the_file(self):
        path = f"{self.folder}/later/kepler.jsonl"
        with Agent(config=CONFIG % (path, "")) as agent:
            wait_until(lambda: counted(agent, "kepler_push_failures_total", reason="file"), "a failure")
            agent.wait_log("failed to write the JSON lines of a tick.*later/kepler.jsonl: No such file or directory")
            os.mkdir(f"{self.folder}/later")
            wait_until(lambda: os.path.exists(path) and read(path, is_written=True), "lines")
            self.assertGreater(counted(agent, "kepler_push_dropped_points_total", reason="file"), 0)

    def test_a_full_disk_leaves_whole_lines_and_is_counted(self):
        require(os.geteuid() == 0, "only root may mount a small file system")
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"tmpfs", self.folder.encode(), b"tmpfs", 0, b"size=1m") != 0:
            require(False, "no tmpfs can be mounted here")
        self.addCleanup(libc.umount2, self.folder.encode(), 2)
        with Agent(config=CONFIG % (self.path, "")) as agent:
            wait_until(lambda: counted(agent, "kepler_push_failures_total", reason="file"), "the full disk", 180)
            self.assertGreater(len(read(self.path)), 10)
            os.unlink(self.path)
            before = counted(agent, "kepler_push_requests_total")
            wait_until(lambda: counted(agent, "kepler_push_requests_total") > before, "the next tick")

    def test_the_configuration_of_the_page_works(self):
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "json-lines.md"), encoding="utf-8") as file:
            config = re.search(r"^```yaml\n(exporter:.*?)^```", file.read(), re.DOTALL | re.MULTILINE)[1]
        self.assertEqual(config.count("/var/lib/kepler/"), 1)
        with Agent(config=config.replace("/var/lib/kepler", self.folder)):
            wait_until(lambda: any(os.path.getsize(f"{self.folder}/{name}") for name in os.listdir(self.folder)), "lines")


if __name__ == "__main__":
    run_tests()
