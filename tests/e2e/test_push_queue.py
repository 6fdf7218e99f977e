"""The queues of the exporters that push in directories: requests outlive a killed agent, damaged files and full disks."""
import contextlib
import ctypes
import os
import re
import signal
import tempfile
import threading
import unittest

from exposition import microjoules
from harness import Agent, free_port, require, run_tests, wait_until
from otlp import OtlpServer
from otlp_grpc import OtlpGrpcServer
from prometheus import replace_once
from push_server import check_refused
from remote_write import RemoteWriteServer
from remote_write import microjoules as written

CONFIG = """
cpu: {preferredMeters: [fake]}
monitor: {interval: 1s, staleness: 10s}
exporter:
  %s:
    enabled: true
    %s: %s
    interval: 1s
    queueDirectory: %s
"""
MS_RDONLY = 1
SUMS = ("kepler_process_cpu_joules_total", "kepler_node_cpu_active_joules_total", "kepler_node_cpu_unattributed_joules_total")


class Otlp:
    """What the tests need of an exporter and its server."""
    exporter, key, url, path, server = "otlp", "otlp", "endpoint", "", OtlpServer

    @staticmethod
    def times(server):
        """In milliseconds since the epoch, of each request in the order in which they came."""
        return [round(push.time / 10**6) for push in server.pushes]

    @staticmethod
    def sums(server, time):
        """{name: microjoules} of a push."""
        pushes = [push for push in server.pushes if round(push.time / 10**6) == time]
        return {name: sum(push.microjoules(name.removesuffix("_total")) for push in pushes) for name in SUMS}


class RemoteWrite:
    exporter, key, url, path, server = "remote_write", "remoteWrite", "url", "/api/v1/write", RemoteWriteServer

    @staticmethod
    def times(server):
        return list(server.times)

    @staticmethod
    def sums(server, time):
        return {name: written(server.pushes[time], name) for name in SUMS}


def starts(server):
    """{time of a push: start of its counters of the node}, of OTLP."""
    return {push.time: push.of("hw.energy")[0].start for push in server.pushes}


class PushQueue(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.directory = f"{self.folder}/queue"
        self.port = free_port()

    def agent(self, kind=Otlp, extra=""):
        self.kind = kind
        url = f"http://127.0.0.1:{self.port}{kind.path}"
        return Agent(config=CONFIG % (kind.key, kind.url, url, self.directory) + extra)

    def mount(self, options, flags=0):
        require(os.geteuid() == 0, "only root may mount a small file system")
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"tmpfs", self.folder.encode(), b"tmpfs", flags, options) != 0:
            require(False, "no tmpfs can be mounted here")
        self.addCleanup(libc.umount2, self.folder.encode(), 2)

    @contextlib.contextmanager
    def to_be_killed(self, kind=Otlp):
        agent = self.agent(kind)
        agent.__enter__()
        try:
            yield agent
            self.assertEqual(agent.stop(signal.SIGKILL), -signal.SIGKILL)
        finally:
            agent.abandon()

    def files(self):
        if not os.path.isdir(self.directory):
            return []
        return sorted(name for name in os.listdir(self.directory) if name.endswith(".request"))

    def counted(self, agent, family, **labels):
        return int(agent.scrape().value(family, exporter=self.kind.exporter, **labels))

    def drained(self, agent):
        wait_until(lambda: self.counted(agent, "kepler_push_queue_requests") == 0, "the end of the queue", 60)

    def killed(self, kind, count):
        """Kills an agent once `count` requests wait; {time: scrape} of meanwhile."""
        scrapes = {}

        def waiting():
            scrape = agent.scrape()
            scrapes.setdefault(scrape.value("kepler_snapshot_timestamp_seconds") * 1000, scrape)
            return len(self.files()) >= count and len(scrapes) > count
        with self.to_be_killed(kind) as agent:
            wait_until(waiting, "requests in the directory", 60, period=0.2)
        return scrapes

    def check_each_once(self, server):
        """Of OTLP. A push of many processes has several requests."""
        self.assertEqual(len({(push.time, str(push.points[0])) for push in server.pushes}), len(server.pushes))

    def check_restart(self, kind):
        scrapes = self.killed(kind, 4)
        queued = len(self.files())
        self.assertEqual(os.stat(self.directory).st_mode & 0o777, 0o700)
        with self.agent(kind) as agent:
            agent.wait_log(f"sending the queued requests of an earlier run.*requests={queued}")
            wait_until(lambda: self.counted(agent, "kepler_push_queue_requests") >= queued + 2, "requests of both runs")
            with kind.server(port=self.port) as server:
                self.drained(agent)
                times = kind.times(server)
                self.assertEqual(times, sorted(times), "in order")
                compared = 0
                for at, scrape in scrapes.items():
                    for time in {time for time in times if abs(time - at) <= 1}:  # rounded in different ways
                        compared += 1
                        self.assertEqual(kind.sums(server, time), {name: microjoules(scrape.sum(name)) for name in SUMS}, at)
                print(f"{kind.exporter}: {queued} requests outlived the agent, {compared} compared with scrapes", flush=True)
                self.assertGreaterEqual(compared, 3)
                self.assertGreaterEqual(len(times), queued + 2)
                for reason in ("queue_full", "refused", "partial", "file"):
                    self.assertEqual(self.counted(agent, "kepler_push_dropped_points_total", reason=reason), 0)
                return server

    def test_requests_outlive_a_killed_agent_by_otlp(self):
        server = self.check_restart(Otlp)
        self.check_each_once(server)
        begins = list(starts(server).values())
        self.assertEqual(begins, sorted(begins))
        self.assertEqual(len(set(begins)), 2, "the start times of each run")

    def test_requests_outlive_a_killed_agent_by_remote_write(self):
        self.check_restart(RemoteWrite)

    def test_requests_that_waited_for_http_are_sent_by_grpc(self):
        self.killed(Otlp, 2)
        waiting = len(self.files())
        with OtlpGrpcServer(port=self.port) as server, self.agent(extra="    protocol: grpc\n") as agent:
            server.wait(waiting + 1)
            self.drained(agent)
            self.check_each_once(server)
            begins = list(starts(server).values())
            self.assertEqual(begins, sorted(begins))
            self.assertEqual(begins.count(begins[0]), waiting)
            self.assertEqual(self.counted(agent, "kepler_push_dropped_points_total", reason="file"), 0)

    def test_a_request_without_an_answer_is_sent_again(self):
        hold = threading.Event()
        self.addCleanup(hold.set)

        def answer(handler, number):
            if number == 1:
                hold.wait(60)
            else:
                handler.say(200)
            return True

        with OtlpServer(answer, port=self.port) as server:
            with self.to_be_killed():
                wait_until(lambda: server.requests, "the first request")
            hold.set()
            first = server.wait()
            with self.agent():
                wait_until(lambda: Otlp.times(server).count(round(first.time / 10**6)) == 2, "the first request again")
                wait_until(lambda: len(set(starts(server).values())) == 2, "a push of the second run")
            for push in server.pushes:
                if push.time == first.time:
                    self.assertEqual(list(map(str, push.points)), list(map(str, first.points)))

    def test_damaged_files_are_skipped_counted_and_removed(self):
        self.killed(Otlp, 4)
        names = self.files()
        with open(f"{self.directory}/{names[0]}", "r+b") as file:
            file.seek(-1, os.SEEK_END)
            last = file.read(1)[0]
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last ^ 1]))
        os.truncate(f"{self.directory}/{names[1]}", 20)
        with open(f"{self.directory}/notes.txt", "w", encoding="ascii") as file:
            file.write("not of the agent")
        with OtlpServer(port=self.port) as server, self.agent() as agent:
            server.wait(len(names))
            self.drained(agent)
            # The cut one is found first; the log has one of ten minutes.
            agent.wait_log(f"failed to read a queued request, skipping it.*queue/{names[1]}: ")
            self.assertEqual(agent.log().count("failed to read a queued request"), 1)
            self.assertEqual(self.counted(agent, "kepler_push_failures_total", reason="file"), 2)
            self.assertGreater(self.counted(agent, "kepler_push_dropped_points_total", reason="file"), 10)
            first = min(starts(server).values())
            self.assertEqual(list(starts(server).values()).count(first), len(names) - 2, "the others of the earlier run")
        self.assertEqual(set(os.listdir(self.directory)) - set(self.files()), {"lock", "notes.txt"})

    def test_a_full_disk_costs_nothing_that_fits_into_memory(self):
        self.mount(b"size=160k")  # a request of a machine with many processes takes more than 64 kB
        with self.agent() as agent:
            wait_until(lambda: self.counted(agent, "kepler_push_failures_total", reason="file") >= 2, "the full disk", 60)
            self.assertGreater(self.counted(agent, "kepler_push_queue_requests"), len(self.files()))
            self.assertGreater(len(self.files()), 0)
            with OtlpServer(port=self.port) as server:
                self.drained(agent)
                times = Otlp.times(server)
                self.assertEqual(times, sorted(times), "in order")
                self.check_each_once(server)
                for reason in ("queue_full", "file"):
                    self.assertEqual(self.counted(agent, "kepler_push_dropped_points_total", reason=reason), 0)
                before = self.counted(agent, "kepler_push_failures_total", reason="file")
                server.wait(len(times) + 2)
                self.assertEqual(self.counted(agent, "kepler_push_failures_total", reason="file"), before)
            self.assertEqual(agent.log().count("failed to write a request to the queue directory"), 1)

    def test_a_read_only_disk_costs_only_the_directory(self):
        self.mount(b"size=64k", MS_RDONLY)
        with OtlpServer(port=self.port) as server, self.agent() as agent:
            server.wait(3)
            agent.wait_log("the queue directory is unavailable, queueing requests in memory.*queue: Read-only file system")
            self.assertEqual(agent.log().count("the queue directory is unavailable"), 1)
            self.assertGreater(self.counted(agent, "kepler_push_failures_total", reason="file"), 1)

    def test_a_second_agent_does_not_take_the_directory(self):
        with OtlpServer(port=self.port) as server:
            with self.agent() as first:
                server.wait()
                with self.agent() as second:
                    second.wait_log("queueing requests in memory.*queue is in use by another agent or exporter")
                    server.wait(len(server.pushes) + 3)
                    self.assertEqual(self.counted(first, "kepler_push_failures_total", reason="file"), 0)

    def test_the_configuration_of_the_page_works(self):
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "push-queue.md"), encoding="utf-8") as file:
            config = re.search(r"^```yaml\n(exporter:.*?)^```", file.read(), re.DOTALL | re.MULTILINE)[1]
        config = replace_once(config, "/var/lib/kepler/otlp-queue", self.directory)
        config = replace_once(config, "http://localhost:4318", f"http://127.0.0.1:{self.port}")
        with Agent(config=config):
            wait_until(self.files, "a request in the directory")

    def test_bad_settings_are_refused_by_the_check_too(self):
        check_refused(self, "otlp", "maxQueue: 2000000000", "maxQueue")
        os.mkdir(self.directory)
        os.chmod(self.directory, 0o777)
        for path in ("queue", __file__, self.directory):
            check_refused(self, "otlp", f"queueDirectory: {path}", "queueDirectory")
        self.assertEqual(os.listdir(self.directory), [])


if __name__ == "__main__":
    run_tests()
