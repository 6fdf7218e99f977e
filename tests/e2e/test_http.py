"""Clients that behave badly, or are many."""
import base64
import concurrent.futures
import contextlib
import http.client
import os
import re
import resource
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import time
import unittest

from attackers import anybody
from exposition import Exposition, ScrapeChecker, conservation_errors
from harness import Agent, free_port, require, run_tests, run_to_end, scratch_directory, wait_until
from http_double import make_certificate
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
            checker = ScrapeChecker(pids_return=lambda labels: True)

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


class Memory(unittest.TestCase):
    """What a crowd of clients took comes back once they are gone."""

    COUNT = 800
    KEPT = 5 << 20

    def setUp(self):
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, before)
        wanted = 2 * self.COUNT
        require(wanted <= before[1], f"fewer than {wanted} descriptors are allowed")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(wanted, before[0]), before[1]))
        self.directory = scratch_directory()
        self.addCleanup(shutil.rmtree, self.directory)

    def web_file(self):
        (cert, key), web = make_certificate(self.directory), os.path.join(self.directory, "web.yaml")
        with open(web, "w", encoding="ascii") as file:
            file.write(f"tls_server_config:\n  cert_file: {cert}\n  key_file: {key}\n")
        return web

    @contextlib.contextmanager
    def tls_agent(self):
        """Once it has the memory for its first pages: it takes 2 to 3 MB from its start to these."""
        with Agent(FAST, f"--web.config-file={self.web_file()}", ready=False) as agent:
            def pages():
                client = http.client.HTTPSConnection("127.0.0.1", agent.port, timeout=60, context=anybody())
                with contextlib.closing(client), contextlib.suppress(OSError):
                    client.request("GET", "/metrics")
                    return client.getresponse().status == 200
            wait_until(pages, "the first page", 60)
            yield agent

    @staticmethod
    def client_hello():
        context = ssl.create_default_context()
        outgoing = ssl.MemoryBIO()
        with contextlib.suppress(ssl.SSLWantReadError):
            context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost").do_handshake()
        return outgoing.read()

    def crowd(self, agent, words, answered):
        """The growth of the agent while a crowd that has said `words` is there."""
        before = agent.rss_bytes()
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(agent.connect()) for _ in range(self.COUNT)]
            for client in clients:
                client.sendall(words)
            if answered:
                for client in clients:
                    self.assertTrue(client.recv(1))
            during = agent.rss_bytes() - before
        wait_until(lambda: agent.rss_bytes() - before < self.KEPT, f"memory to come back; {during} bytes were taken")
        return during

    def test_half_open_handshakes(self):
        with self.tls_agent() as agent:
            during = self.crowd(agent, self.client_hello(), answered=True)
        self.assertGreater(during, self.KEPT, "the crowd took nothing: the test shows nothing")

    def test_who_says_nothing_to_a_tls_port_costs_little(self):
        with self.tls_agent() as agent:
            self.assertLess(self.crowd(agent, b"", answered=False), self.KEPT)

    def test_idle_connections(self):
        with Agent(FAST) as agent:
            self.crowd(agent, b"GET /-/healthy HTTP/1.1\r\nHost: a\r\n\r\n", answered=True)


class PlainHttp(unittest.TestCase):
    def test_openssl_is_not_started(self):
        """It would read its configuration first, and nobody ever writes into this one. It costs 2 MB."""
        with tempfile.TemporaryDirectory() as directory:
            configuration = os.path.join(directory, "openssl.cnf")
            os.mkfifo(configuration)
            with Agent(FAST, ready=False, env={**os.environ, "OPENSSL_CONF": configuration}) as agent:
                agent.wait_ready(seconds=15)
                self.assertEqual(agent.get("/metrics")[0], 200)


class FewDescriptors(unittest.TestCase):
    """What the agent needs for itself comes before clients, however few descriptors there are."""

    FAILURES = ("kepler_failed_ticks_total", "kepler_activity_failed_cgroup_reads_total",
                "kepler_source_failed_reads_total", "kepler_http_accept_errors_total")

    def start(self, stack, limit, source):
        return stack.enter_context(Agent(FAST, f"--activity.source={source}",
                                         command_prefix=["prlimit", f"--nofile={limit}"]))

    def test_idle_connections_take_none_of_the_agents_own(self):
        for source in ("auto", "procfs"):
            with self.subTest(source), contextlib.ExitStack() as stack:
                agent = self.start(stack, 64, source)
                reader = http.client.HTTPConnection("127.0.0.1", agent.port, timeout=30)
                stack.callback(reader.close)

                def scrape(reader=reader):
                    reader.request("GET", "/metrics")
                    return Exposition(reader.getresponse().read().decode())
                before = scrape()
                for _ in range(40):
                    stack.enter_context(agent.connect())
                goal = before.value("kepler_ticks_total") + 3

                def three_ticks_later(scrape=scrape, goal=goal):
                    subprocess.run(["true"], check=True)  # short-lived processes are read too
                    return (now := scrape()).value("kepler_ticks_total") >= goal and now
                after = wait_until(three_ticks_later, "three ticks")
                for family in self.FAILURES:
                    self.assertEqual(after.series(family), before.series(family))
                self.assertIn("the limit of open files is too low", agent.log())

    def test_too_few_end_the_start_with_the_limit_that_would_do(self):
        status, output = run_to_end("--activity.source=procfs", f"--web.listen-address=127.0.0.1:{free_port()}",
                                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24)))
        self.assertEqual(status, 1, output)
        needed = re.search("limit of open files is 24, but this program needs at least ([0-9]+).*LimitNOFILE", output)
        self.assertTrue(needed, output)
        with contextlib.ExitStack() as stack:
            agent = self.start(stack, needed.group(1), "procfs")
            self.assertEqual(agent.get("/metrics")[0], 200)


class Passwords(unittest.TestCase):
    DEADLINE = 5  # seconds for a request: header_time of the server
    # alice: secret
    USERS = "basic_auth_users:\n  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n"

    @staticmethod
    def agent(stack, text, **options):
        """With that web file."""
        directory = scratch_directory()
        stack.callback(shutil.rmtree, directory)
        web = os.path.join(directory, "web.yaml")
        with open(web, "w", encoding="ascii") as file:
            file.write(text)
        agent = stack.enter_context(Agent(FAST, f"--web.config-file={web}", ready=False, **options))
        agent.wait_log("msg=started")
        return agent

    def test_no_thread_to_check_them_is_a_503_and_the_next_tries_again(self):
        with contextlib.ExitStack() as stack:
            cgroup = stack.enter_context(Cgroup(f"/kepler-e2e-{os.getpid()}"))
            agent = self.agent(stack, self.USERS, command_prefix=cgroup.command_prefix())
            cgroup.limit_tasks(1)
            for name in ("secret", "wrong", "secret"):
                token = base64.b64encode(f"alice:{name}".encode()).decode()
                self.assertEqual(agent.get("/metrics", {"Authorization": f"Basic {token}"})[0], 503)
            agent.wait_log("failed to check passwords")
            self.assertEqual(agent.log().count("failed to check passwords"), 1)
            self.assertIn("start thread passwords: Resource temporarily unavailable", agent.log())
            cgroup.limit_tasks("max")
            login = {"Authorization": "Basic " + base64.b64encode(b"alice:secret").decode()}
            body = wait_until(lambda: (answer := agent.get("/metrics", login))[0] == 200 and answer[2], "a page")
            self.assertGreaterEqual(Exposition(body.decode()).value("kepler_http_requests_denied_total", reason="busy"), 3)

    def test_guessers_lock_nobody_out_and_are_named(self):
        right = {"Authorization": "Basic " + base64.b64encode(b"alice:secret").decode()}
        with contextlib.ExitStack() as stack:
            # Dear enough for a queue; of no password any more.
            agent = self.agent(stack, self.USERS.replace("$04$", "$10$") +
                               self.USERS.splitlines()[1].replace("alice", "bob") + "\n")

            def guess(client):
                """Statuses of one connection's guesses."""
                connection = stack.enter_context(contextlib.closing(agent.http()))
                statuses = []
                for number in range(10):
                    login = base64.b64encode(f"alice:{client}-{number}".encode()).decode()
                    connection.request("GET", "/metrics", headers={"Authorization": "Basic " + login})
                    answer = connection.getresponse()
                    answer.read()
                    statuses.append(answer.status)
                return statuses
            with concurrent.futures.ThreadPoolExecutor(80) as pool:
                guesses = [pool.submit(guess, client) for client in range(80)]
                agent.wait_log("refused a login.*client=127.0.0.1 user=alice")
                login = {"Authorization": "Basic " + base64.b64encode(b"bob:secret").decode()}
                with contextlib.closing(agent.http(source="127.0.0.2")) as elsewhere:
                    elsewhere.request("GET", "/-/healthy", headers=login)
                    self.assertEqual(elsewhere.getresponse().status, 200)
                statuses = [status for guess in guesses for status in guess.result()]
            self.assertLessEqual(set(statuses), {401, 429, 503})
            # Five that were free, four that waited behind them, and what the seconds of this test allow for.
            self.assertLess(statuses.count(401), 20)
            status, _, body = agent.get("/metrics", login)
            self.assertEqual(status, 200)
            denied = Exposition(body.decode())
            for reason, code in (("password", 401), ("backoff", 429), ("busy", 503)):
                self.assertEqual(denied.value("kepler_http_requests_denied_total", reason=reason),
                                 statuses.count(code), reason)
            self.assertLess(agent.log().count("refused a login"), 5)  # one a minute


    def test_first_login_is_served_while_many_local_addresses_guess(self):
        with contextlib.ExitStack() as stack:
            # Dear enough for the queue to stay full for some seconds; of no password any more.
            agent = self.agent(stack, self.USERS.replace("$04$", "$07$") +
                               self.USERS.splitlines()[1].replace("alice", "bob") + "\n")
            guessers = [stack.enter_context(socket.create_connection(("127.0.0.1", agent.port), timeout=30,
                                                                     source_address=(f"127.0.0.{10 + source}", 0)))
                        for source in range(80) for _ in range(4)]
            # All at once: connections that come one by one may be slower than the hashes.
            for number, guesser in enumerate(guessers):
                login = base64.b64encode(f"alice:{number}".encode())
                guesser.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Basic " + login + b"\r\n\r\n")
            login = {"Authorization": "Basic " + base64.b64encode(b"bob:secret").decode()}
            begin = time.monotonic()
            status, _, body = agent.get("/metrics", login)
            if time.monotonic() - begin >= self.DEADLINE and status == 503:
                # A busy machine has no hash in time. The password stays in the queue: a later request has the result.
                body = wait_until(lambda: (answer := agent.get("/metrics", login))[0] == 200 and answer[2], "a login", 60)
            else:
                self.assertEqual(status, 200)
            busy = Exposition(body.decode()).value("kepler_http_requests_denied_total", reason="busy")
            self.assertGreater(busy, 0, "the queue was not full: the test shows nothing")

    def test_rate_limit_is_each_clients_own(self):
        with contextlib.ExitStack() as stack:
            agent = self.agent(stack, self.USERS + "rate_limit: {interval: 1h, burst: 1}\n")
            self.assertEqual([agent.get("/-/healthy")[0] for _ in range(2)], [401, 429])
            with contextlib.closing(agent.http(source="127.0.0.2")) as scraper:
                login = {"Authorization": "Basic " + base64.b64encode(b"alice:secret").decode()}
                scraper.request("GET", "/-/healthy", headers=login)
                self.assertEqual(scraper.getresponse().status, 200)


class ProcessCollector(unittest.TestCase):
    def test_network_bytes_are_those_of_the_kernel(self):
        with Agent(FAST, config="exporter:\n  prometheus:\n    debugCollectors: [process]\n") as agent:
            before = agent.scrape()
            after = agent.scrape_after()
        for family in ("process_network_receive_bytes_total", "process_network_transmit_bytes_total"):
            # The first page went over the loopback interface, which counts what is sent as received too.
            self.assertGreater(after.value(family) - before.value(family), 1000, family)


if __name__ == "__main__":
    run_tests()
