"""The agent among clients that mean it no good: one user has the password and scrapes, everybody else guesses it, or
begins TLS handshakes and leaves them, and whoever should read the log does not."""
import base64
import contextlib
import fcntl
import http.client
import os
import shutil
import statistics
import time

from attackers import USERS, Attackers, anybody
from containers import Container
from exposition import Exposition, ScrapeChecker, microjoules
from harness import Repeater, end, require, scratch_directory, wait_until
from http_double import make_certificate
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from scenarios import Outcome
from workloads import Churn

GUESSERS, HALF_OPEN = 60, 500
USERS_ADDRESS = "127.0.0.1"
PASSWORD = "secret"
HASH = "$2b$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u"  # of the cost that guides recommend
MAX_P99 = 0.1  # seconds
MAX_GROWTH = 0.05
MAX_STOP = 10  # seconds
ROW = 60  # seconds: RSS is compared between medians of so long


class WebFile(contextlib.AbstractContextManager):
    """TLS and one user."""

    def __init__(self):
        self.directory = scratch_directory()

    def __enter__(self):
        require(shutil.which("openssl"), "openssl is not installed")
        cert, key = make_certificate(self.directory)
        with open(self.path(), "w", encoding="ascii") as file:
            file.write(f"tls_server_config: {{cert_file: {cert}, key_file: {key}}}\n"
                       f"basic_auth_users: {{{USERS[0]}: {HASH}}}\n")
        return self

    def path(self):
        return f"{self.directory}/web.yaml"

    def __exit__(self, *_):
        shutil.rmtree(self.directory, ignore_errors=True)


class StalledReader(contextlib.AbstractContextManager):
    """A pipe that is full already and that nobody reads."""

    def __enter__(self):
        self.read_end, self.write_end = os.pipe()
        fcntl.fcntl(self.write_end, fcntl.F_SETPIPE_SZ, 4096)
        os.set_blocking(self.write_end, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(self.write_end, b"x")
        os.set_blocking(self.write_end, True)
        return self

    def __exit__(self, *_):
        os.close(self.write_end)
        os.close(self.read_end)


class User(contextlib.AbstractContextManager):
    """Scrapes in turns on a connection that it keeps, as Prometheus does, and on a new one."""

    def __init__(self, port):
        self.port = port
        token = base64.b64encode(f"{USERS[0]}:{PASSWORD}".encode()).decode()
        self.headers = {"Authorization": f"Basic {token}", "Accept": "text/plain"}
        self.tls = anybody()
        self.kept = None
        self.seconds = []

    def connect(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30, context=self.tls,
                                           source_address=(USERS_ADDRESS, 0))

    def scrape(self):
        """(HTTP status, body); its time to the last byte goes to `seconds`."""
        begin = time.monotonic()
        new = len(self.seconds) % 2 == 1
        if new:
            connection = self.connect()
        else:
            connection = self.kept = self.kept or self.connect()
        try:
            connection.request("GET", "/metrics", headers=self.headers)
            answer = connection.getresponse()
            body = answer.read()
            if answer.will_close and not new:
                self.forget()
        finally:
            if new:
                connection.close()
        self.seconds.append(time.monotonic() - begin)
        return answer.status, body

    def forget(self):
        """The next scrape in turn begins a new connection."""
        if self.kept:
            self.kept.close()
        self.kept = None

    def __exit__(self, *_):
        self.forget()

    def wait_ready(self):
        def ready():
            with contextlib.suppress(OSError, http.client.HTTPException):
                return self.scrape()[0] == 200
            self.forget()
            return False
        wait_until(ready, "the first scrape", 60, period=0.1)
        self.seconds.clear()


class CgroupChurn(Repeater):
    """One container after the other, of processes that end at once."""

    def __init__(self):
        super().__init__(pause=0.5)
        self.started = 0

    def step(self):
        with Container() as container:
            shell = container.run_script("for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done")
            shell.wait()
            end(shell)
        self.started += 1


class Watch:
    """Judges each scrape of the user."""

    def __init__(self, agent, user):
        self.agent, self.user = agent, user
        # A new process has the pid and the name of a dead one now and then: its counter begins anew.
        self.checker = ScrapeChecker(pids_return=lambda labels: True)
        self.failed, self.rows = [], []

    def scrape(self):
        try:
            status, body = self.user.scrape()
            if status != 200:
                raise ValueError(f"{status}: {body[:80]!r}")
        except (OSError, ValueError, http.client.HTTPException) as error:
            self.failed.append(f"scrape {len(self.user.seconds)}: {error!r}")
            self.user.forget()
            return None
        exposition = self.checker.check(Exposition(body.decode()))
        own = [value for _, value in exposition.series("kepler_conservation_error_joules")]
        if not own or any(own):
            self.checker.problems.append(f"kepler_conservation_error_joules: {own}")
        return exposition

    def row(self, seconds):
        """A scrape a second for so long; the median of the RSS meanwhile."""
        begin, rss = time.monotonic(), []
        while time.monotonic() - begin < seconds:
            self.scrape()
            rss.append(self.agent.rss_bytes())
            time.sleep(max(0, begin + len(rss) - time.monotonic()))
        self.rows.append(statistics.median(rss))

    def wait_connections(self, count):
        """Scrapes until the agent has had `count` connections: the attackers begin one by one, and each needs memory."""
        def made():
            scrape = self.scrape()
            return scrape is not None and float(scrape.value("kepler_http_connections_total")) >= count
        wait_until(made, f"{count} connections", 60, period=0.2)

    def growth(self):
        """Of the RSS, from the second row on."""
        return max(self.rows[1:]) / self.rows[1] - 1

    def latency(self):
        """(median, 99th percentile, maximum) in seconds"""
        ordered = sorted(self.user.seconds)
        return statistics.median(ordered), ordered[int(0.99 * (len(ordered) - 1))], ordered[-1]


def siege(rows, row_seconds=ROW, half_open=HALF_OPEN, growth=MAX_GROWTH, max_p99=MAX_P99, source=None,
          from_users_address=False, show=print):
    """The user's scrapes are answered in time and add up, the agent does not grow, and it ends on SIGTERM.
    The attackers have many addresses, or all of them the user's own."""
    with contextlib.ExitStack() as stack:
        tree = stack.enter_context(PowercapTree(ONE_PACKAGE))
        web = stack.enter_context(WebFile())
        log = stack.enter_context(StalledReader())
        agent = stack.enter_context(metered_agent(
            tree, f"--web.config-file={web.path()}", interval="1s", source=source, ready=False, stdout=log.write_end,
            stderr=log.write_end))
        user = stack.enter_context(User(agent.port))
        user.wait_ready()
        tree.start()
        watch = Watch(agent, user)
        containers, churn = CgroupChurn(), Churn(40)
        attackers = Attackers(agent.port, GUESSERS, half_open, USERS_ADDRESS if from_users_address else "")
        with attackers:
            with churn, containers:
                watch.wait_connections(GUESSERS + half_open)
                for number in range(1, rows + 1):
                    watch.row(row_seconds)
                    show(f"   {number * row_seconds:5.0f} s: RSS {watch.rows[-1] / 2**20:6.2f} MiB, slowest scrape so "
                         f"far {1e3 * watch.latency()[2]:.0f} ms, {len(watch.failed)} failed; attackers' CPU "
                         f"{attackers.cpu_seconds() / (number * row_seconds):.2f}", flush=True)
            tree.stop()
            watch.scrape()
            time.sleep(1.5)  # a tick that finds the tree at rest
            last = watch.scrape()
            begin = time.monotonic()
            agent.stop(seconds=MAX_STOP)
            stopped = time.monotonic() - begin
    return judged(watch, attackers, tree, last, growth, max_p99,
                  f"{stopped:.1f} s to the end; {churn.made} short processes, {containers.started} containers; "
                  f"attackers from {'the address of the user' if from_users_address else 'many addresses'}")


def judged(watch, attackers, tree, last, growth, max_p99, also):
    middle, p99, slowest = watch.latency()
    answers = attackers.answers
    used = tree.zone_microjoules()["package"]
    node_error = None if last is None else (
        microjoules(last.value("kepler_node_cpu_joules_total", zone="package")) - used)
    problems = watch.failed + watch.checker.problems
    problems += [f"p99 of {1e3 * p99:.1f} ms"] if p99 >= max_p99 else []
    problems += [f"RSS {[round(rss / 2**20, 2) for rss in watch.rows]} MiB"] if watch.growth() > growth else []
    problems += [f"node − tree = {node_error} µJ"] if node_error else []
    problems += [f"a guess was right: {answers}"] if answers.get("200") else []
    denied = sum(count for status, count in answers.items() if status.isdigit())
    problems += [f"the attackers did not attack: {answers}"] if denied < 10 or not answers.get("half-open") else []
    return Outcome(
        f"siege: {len(watch.user.seconds)} scrapes, {len(watch.failed)} failed, p50 {1e3 * middle:.1f} p99 "
        f"{1e3 * p99:.1f} max {1e3 * slowest:.1f} ms; RSS {watch.rows[1] / 2**20:.2f} MiB "
        f"{100 * watch.growth():+.1f} %; worst sum {watch.checker.worst_microjoules} µJ off, node − tree ΔE "
        f"{node_error} µJ over {used / 1e6:.0f} J; guesses and handshakes {answers}; {also}", problems)
