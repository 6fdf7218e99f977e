"""Starts the shipped agent, waits for it, scrapes it. What every end-to-end test builds on."""
import contextlib
import fcntl
import http.client
import itertools
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from exposition import Exposition

OPENMETRICS = "application/openmetrics-text;version=1.0.0"
SKIPPED = 77  # SKIP_RETURN_CODE of tests/CMakeLists.txt
PATIENCE = float(os.environ.get("KEPLER_E2E_PATIENCE", "1"))  # how many times slower than others this machine may be


def binary():
    path = os.environ.get("KEPLER_BIN", "")
    if not os.access(path, os.X_OK):
        raise RuntimeError(f"KEPLER_BIN={path!r} is no program: set it to the kepler that is to be tested")
    return os.path.abspath(path)


def require(condition, reason):
    """Skips the test, or fails it where LAB_REQUIRED says that this machine must be able to run everything."""
    if condition:
        return
    if os.environ.get("LAB_REQUIRED") == "1":
        raise AssertionError(f"LAB_REQUIRED=1, but {reason}")
    raise unittest.SkipTest(reason)


class NamingResult(unittest.TextTestResult):
    """Names each skipped test on a line of its own, for tools/lib.sh, and with -v says how long each took; knows whether
    any test ran."""

    ran = False

    def startTest(self, test):
        super().startTest(test)
        self.begin = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        if self.showAll:
            self.stream.writeln(f"    {time.monotonic() - self.begin:.1f} s")

    def addSuccess(self, test):
        super().addSuccess(test)
        self.ran = True

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.stream.writeln(f"\nskipped: {test.id().removeprefix('__main__.')}: {reason}")


class NamingRunner(unittest.TextTestRunner):
    resultclass = NamingResult


class ShardLoader(unittest.TestLoader):
    """Loads every SHARDS-th test, from the INDEX-th on, if KEPLER_E2E_SHARD is INDEX/SHARDS (tests/CMakeLists.txt)."""

    def __init__(self, shard=os.environ.get("KEPLER_E2E_SHARD", "1/1")):
        super().__init__()
        index, shards = map(int, shard.split("/"))
        self.is_mine = itertools.cycle(number == index for number in range(1, shards + 1))

    def getTestCaseNames(self, case):  # pylint: disable=invalid-name
        return [name for name in super().getTestCaseNames(case) if next(self.is_mine)]


def run_tests():
    """Runs those of the calling program. Exit code 0, 1 if any failed, SKIPPED if every test was skipped."""
    result = unittest.main(exit=False, testRunner=NamingRunner, testLoader=ShardLoader()).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if result.skipped and not result.ran else 0)


def wait_until(condition, what, seconds=30, period=0.02):
    """The first true value of condition(). Deadlines are wide: the machine may be busy."""
    seconds *= PATIENCE
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds:g} s for {what}")
        time.sleep(period)


def scratch_directory():
    """In memory where that exists: ext4 writes a renamed file to the disk at once, which takes milliseconds."""
    memory = "/dev/shm"
    return tempfile.mkdtemp(prefix="kepler-e2e-", dir=memory if os.access(memory, os.W_OK) else None)


def _reserve(port):
    """Whether no other test has reserved the port, even if nobody listens there. The name of the socket is in use until this
    program ends."""
    with socket.socket(socket.AF_UNIX) as claim, contextlib.suppress(OSError):
        claim.bind(f"\0kepler-e2e-port-{port}")
        fcntl.fcntl(claim, fcntl.F_DUPFD_CLOEXEC, 200)  # stays open; dash passes on descriptors of one digit only
        return True
    return False


def free_port():
    """A port of this program until its end: no test that runs at the same time gets it, nor does the kernel hand it out, if
    possible."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        first, last = map(int, file.read().split())
    others = [port for port in range(10_000, 65_536) if not first <= port <= last]
    for port in random.sample(others if len(others) > 1000 else range(10_000, 65_536), 100):
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind(("127.0.0.1", port))
            if _reserve(port):
                return port
    raise AssertionError("no port is free")


def python_child(code, *args, **options):
    """A Python of our own kind that runs `code`; its stdout is a pipe."""
    return subprocess.Popen([sys.executable, "-c", code, *map(str, args)], stdout=subprocess.PIPE, **options)


def end(process):
    """Ends a child, however it is, and closes its pipes."""
    if process.poll() is None:
        process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            pipe.close()


def what_stands_still(session, count=12):
    """The processes of a session and the youngest of all, a line each: who they are and what they wait for."""
    columns = ["-o", "pid,ppid,stat,wchan:20,args", "--sort=start_time"]
    lines = []
    with contextlib.suppress(OSError):  # no ps
        for who in (["-s", str(session)], ["-e"]):
            listed = subprocess.run(["ps", *who, *columns], check=False, stdout=subprocess.PIPE).stdout
            lines += listed.decode(errors="replace").splitlines()[-count:]
    return "\n".join(line[:200] for line in lines)


def output_of(command, seconds, **popen):
    """What a command prints, once it has ended well. Into a file: a pipe ends only with the last of the children that
    the command leaves behind. Whoever is late is killed, with its process group."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        def said(file):
            file.seek(0)
            return file.read().decode(errors="replace").strip()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
                                   **popen)
        try:
            status = process.wait(seconds)
            if status != 0:
                error = subprocess.CalledProcessError(status, command, said(out), said(err))
                error.add_note(error.stderr[-2000:])
                raise error
        except subprocess.TimeoutExpired as error:
            error.add_note(f"{said(err)[-2000:]}\n{what_stands_still(process.pid)}")
            raise
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return said(out)


class Repeater(contextlib.AbstractContextManager):
    """self.step() again and again, in a thread of its own, `pause` seconds before each.

    A step that fails is the last one; its error is raised on leaving, unless there is another on its way.
    """

    def __init__(self, pause=0):
        self.pause = pause
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.error = None

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, value, trace, seconds=100):
        self.stopping.set()
        self.thread.join(seconds)
        if self.thread.is_alive():
            self.error = AssertionError(f"a step of {type(self).__name__} has not ended within {seconds} s")
        if self.error and kind is None:
            raise self.error

    def _run(self):
        try:
            while not self.stopping.wait(self.pause):
                self.step()
        except Exception as error:  # a thread's error belongs to whoever joins it
            self.error = error


class Agent(contextlib.AbstractContextManager):
    """The agent as a child process on a free port of 127.0.0.1.

    config: YAML text, written to `config_path`. program: what to start instead of binary(). Everything in `popen` goes to
    subprocess.Popen. Unless `ready` is False, entering waits for the first complete snapshot; leaving ends the agent and
    demands exit code 0.
    """

    def __init__(self, *args, config=None, ready=True, command_prefix=(), program=None, **popen):
        self.directory = scratch_directory()
        os.chmod(self.directory, 0o755)  # for agents that run as somebody else
        self.port = free_port()
        self.config_path = os.path.join(self.directory, "kepler.yaml")
        self.args = [*command_prefix, program or binary(), f"--web.listen-address=127.0.0.1:{self.port}", *args]
        if config is not None:
            self.write_config(config)
            self.args.append(f"--config.file={self.config_path}")
        self.ready = ready
        self.popen = popen
        self.process = None

    def __enter__(self):
        with open(self.path("stdout"), "wb") as out, open(self.path("stderr"), "wb") as err:
            options = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err, **self.popen}
            self.process = subprocess.Popen(self.args, **options)
        try:
            if self.ready:
                self.wait_ready()
        except BaseException:
            self.abandon()
            raise
        return self

    def __exit__(self, kind, value, trace):
        try:
            status = self.stop()
            if kind is None and status != 0:
                raise AssertionError(f"the agent ended with {status}:\n{self.log()[-2000:]}")
        finally:
            self.abandon()

    def abandon(self):
        end(self.process)
        shutil.rmtree(self.directory, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write_config(self, text):
        with open(self.config_path, "w", encoding="utf-8") as file:
            file.write(text)

    def log(self):
        text = b""
        for name in ("stdout", "stderr"):
            with open(self.path(name), "rb") as file:
                text += file.read()
        return text.decode()

    def stop(self, number=signal.SIGTERM, seconds=30):
        """Sends the signal, unless the agent has ended already; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.wait(seconds)

    def wait(self, seconds=30):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the agent has not ended within {seconds} s:\n{self.log()[-2000:]}") from None

    def wait_ready(self, seconds=60):
        def ready():
            if self.process.poll() is not None:
                raise AssertionError(f"the agent ended with {self.process.returncode}:\n{self.log()[-2000:]}")
            with contextlib.suppress(OSError):
                return self.get("/-/ready")[0] == 200
        wait_until(ready, "the agent to become ready", seconds)

    def wait_log(self, pattern, seconds=30):
        """The match of a regular expression in the log."""
        return wait_until(lambda: re.search(pattern, self.log()), f"{pattern!r} in the log", seconds)

    def connect(self, seconds=30):
        return socket.create_connection(("127.0.0.1", self.port), timeout=seconds)

    def http(self, source="127.0.0.1", seconds=60):
        """A connection from that address of this machine."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds, source_address=(source, 0))

    def get(self, path="/metrics", headers=None, seconds=60):
        """(status, headers, body)"""
        connection = self.http(seconds=seconds)
        try:
            connection.request("GET", path, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def text(self, accept="text/plain"):
        status, _, body = self.get("/metrics", {"Accept": accept})
        if status != 200:
            raise AssertionError(f"/metrics answered {status}: {body[:200]!r}")
        return body.decode()

    def scrape(self):
        return Exposition(self.text())

    def scrape_after(self, moment=None, seconds=60):
        """The first scrape whose figures were taken after a Unix time (default: now)."""
        moment = time.time() if moment is None else moment

        def later():
            text = self.text()
            # Parses only a page with newer figures: most looks find the same snapshot again.
            taken = re.search(r"\nkepler_snapshot_timestamp_seconds(?:{.*})? (\S+)\n", text)
            if not taken:
                raise AssertionError(f"no time of the snapshot in {text[:200]!r}")
            return Exposition(text) if float(taken[1]) > moment else None
        return wait_until(later, "a newer snapshot", seconds, period=0.05)

    def rss_bytes(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def seconds_without_a_cpu(self):
        """The time that its collector could run, but other tasks of the machine had the CPUs (schedstat of the kernel)."""
        tasks = f"/proc/{self.process.pid}/task"
        for task in os.listdir(tasks):
            with open(f"{tasks}/{task}/comm", encoding="ascii") as name, \
                    open(f"{tasks}/{task}/schedstat", encoding="ascii") as times:
                if name.read() == "collector\n":
                    return int(times.read().split()[1]) / 1e9
        raise AssertionError("the agent has no collector")


def run_to_end(*args, seconds=30, **popen):
    """Runs the agent until it ends by itself: (exit code, stdout + stderr)."""
    done = subprocess.run([binary(), *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=seconds, check=False, **popen)
    return done.returncode, done.stdout.decode()
