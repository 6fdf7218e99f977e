"""Clients that behave badly, or are many."""
import base64
import concurrent.futures
import contextlib
import http.client
import os
import resource
import shutil
import socket
import struct
import unittest

from exposition import Exposition, ScrapeChecker, conservation_errors
from harness import Agent, run_tests, scratch_directory, wait_until
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from workloads import Cgroup

FAST = "--monitor.interval=500ms"


def end_of(connection):
    """What comes until the server closes; each byte sent meanwhile keeps the client 'slow' and not 'silent'."""
    received = b""
    connection.settimeout(0.2)
    for _ in range(150):
        try:
            connection.sendall(b"a")
            chunk = connection.recv(4096)
        except TimeoutError:
            continue
        except OSError:
            return received
        if not chunk:
            return received
        received += chunk
    raise AssertionError("the connection is still open after 30 s")


class Clients(unittest.TestCase):
    def test_slow_loris_is_cut_while_others_are_served(self):
        with Agent(FAST) as agent, contextlib.ExitStack() as stack:
            slow = [stack.enter_context(agent.connect()) for _ in range(20)]
            for connection in slow:
                connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: ")
            self.assertEqual(agent.get("/metrics")[0], 200)
            with concurrent.futures.ThreadPoolExecutor(len(slow)) as pool:
                answers = list(pool.map(end_of, slow))
            self.assertTrue(all(b" 200 " not in answer for answer in answers), answers)
            self.assertEqual(agent.get("/metrics")[0], 200)

    def test_200_scrapes_at_once_are_all_answered(self):
        with Agent(FAST, config="monitor:\n  staleness: 0s\n") as agent:
            agent.get("/metrics")
            before = agent.rss_bytes()
            with concurrent.futures.ThreadPoolExecutor(200) as pool:
                answers = list(pool.map(lambda _: agent.get("/metrics"), range(200)))
            self.assertEqual({status for status, _, _ in answers}, {200})
            for body in {body for _, _, body in answers}:
                self.assertEqual(set(conservation_errors(Exposition(body.decode())).values()), {0})
            self.assertLess(agent.rss_bytes() - before, 64 << 20)

    def test_clients_that_disconnect_do_no_harm(self):
        with Agent(FAST) as agent:
            for part in (b"GET /met", b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n") * 50:
                with agent.connect() as connection:
                    connection.sendall(part)
                    # Closing now sends a reset.
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.assertEqual(agent.get("/metrics")[0], 200)

    def test_descriptor_limit_256_with_more_clients_than_that(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
        with PowercapTree(ONE_PACKAGE) as tree, contextlib.ExitStack() as stack:
            agent = stack.enter_context(metered_agent(tree, preexec_fn=limit))
            tree.start()
            reader = http.client.HTTPConnection("127.0.0.1", agent.port, timeout=30)
            stack.callback(reader.close)
            checker = ScrapeChecker()

            def scrape():
                reader.request("GET", "/metrics")
                return checker.check(Exposition(reader.getresponse().read().decode()))
            before = scrape()
            for _ in range(400):
                stack.enter_context(agent.connect())
            goal = before.value("kepler_ticks_total") + 3
            after = wait_until(lambda: (now := scrape()).value("kepler_ticks_total") >= goal and now, "three ticks")
        self.assertEqual(checker.problems, [])
        for family in ("kepler_failed_ticks_total", "kepler_activity_failed_cgroup_reads_total"):
            self.assertEqual(after.value(family), before.value(family))
        self.assertEqual(after.value("kepler_source_failed_reads_total", source="rapl"), 0)


class Passwords(unittest.TestCase):
    # alice: secret
    USERS = "basic_auth_users:\n  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n"

    def test_no_thread_to_check_them_is_a_503_and_the_next_tries_again(self):
        with contextlib.ExitStack() as stack:
            directory = scratch_directory()
            stack.callback(shutil.rmtree, directory)
            web = os.path.join(directory, "web.yaml")
            with open(web, "w", encoding="ascii") as file:
                file.write(self.USERS)
            cgroup = stack.enter_context(Cgroup(f"/kepler-e2e-{os.getpid()}"))
            agent = stack.enter_context(Agent(FAST, f"--web.config-file={web}", ready=False,
                                              command_prefix=cgroup.command_prefix()))
            agent.wait_log("msg=started")
            cgroup.limit_tasks(1)
            for name in ("secret", "wrong", "secret"):
                token = base64.b64encode(f"alice:{name}".encode()).decode()
                self.assertEqual(agent.get("/metrics", {"Authorization": f"Basic {token}"})[0], 503)
            self.assertEqual(agent.log().count("passwords cannot be checked"), 1)
            self.assertIn("start thread passwords: Resource temporarily unavailable", agent.log())
            cgroup.limit_tasks("max")
            login = {"Authorization": "Basic " + base64.b64encode(b"alice:secret").decode()}
            body = wait_until(lambda: (answer := agent.get("/metrics", login))[0] == 200 and answer[2], "a page")
            self.assertGreaterEqual(Exposition(body.decode()).value("kepler_http_requests_denied_total"), 3)


class ProcessCollector(unittest.TestCase):
    def test_network_bytes_are_those_of_the_kernel(self):
        with Agent(FAST, config="exporter:\n  prometheus:\n    debugCollectors: [process]\n") as agent:
            before = agent.scrape()
            after = agent.scrape_after(before.value("kepler_snapshot_timestamp_seconds"))
        for family in ("process_network_receive_bytes_total", "process_network_transmit_bytes_total"):
            # The first page went over the loopback interface, which counts what is sent as received too.
            self.assertGreater(after.value(family) - before.value(family), 1000, family)


if __name__ == "__main__":
    run_tests()
