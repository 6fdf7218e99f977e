"""What every scenario uses: the host, the agent, load, and the checks' results."""
import contextlib
import os
import subprocess
import sys
import traceback

from exposition import ScrapeChecker
from harness import Agent, wait_until

# Every scrape takes a new snapshot, so nothing happens between two of them.
ON_DEMAND = "monitor:\n  interval: 0s\n  staleness: 0s\n"


def text_of(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{value}\n")


def modprobe(*words):
    done = subprocess.run(["modprobe", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"modprobe {' '.join(words)}: {done.stdout}{done.stderr}")


def equal(what, found, expected):
    if found != expected:
        raise AssertionError(f"{what}: {found}, not {expected}")


class Host:
    """The machine that runs QEMU, at the other end of the second serial port: it prints each line, and obeys requests."""

    def __init__(self):
        self.port = open("/dev/ttyS1", "r+b", buffering=0)  # pylint: disable=consider-using-with

    def say(self, line):
        self.port.write(f"{line}\n".encode())

    def ask(self, *words):
        """Returns when the host has obeyed. Requests: tests/lab/desk.py."""
        self.say(" ".join(map(str, ("ASK", *words))))
        answer = b""
        while not answer.endswith(b"\n"):
            answer += self.port.read(1)
        equal(f"the host's answer to {words}", answer.decode().strip(), "ok")


class Lab:
    def __init__(self, host=None):
        self.host = host or Host()
        self.agent = None
        self.checker = None
        self.last = None
        self.children = []
        self.others = {}  # name: Lab of a further agent

    @staticmethod
    def uptime():
        return float(text_of("/proc/uptime").split()[0])

    def run(self, check):
        """A check is a function that returns its figures, or raises AssertionError."""
        name = check.__name__.replace("_", "-")
        try:
            self.host.say(f"CHECK {name} ok {check(self)}")
        except Exception as error:  # pylint: disable=broad-except  # the other checks run
            self.host.say(f"CHECK {name} fail {' '.join(f'{type(error).__name__}: {error}'.split())[:1500]}")
            print(f"{name}\n{traceback.format_exc()}", file=sys.stderr, flush=True)

    def start_agent(self, *words, config=ON_DEMAND, prefix=()):
        """The agent as shipped, on the default paths. prefix: a program that starts it."""
        self.agent = Agent(*words, config=config, ready=False, command_prefix=prefix).__enter__()
        self.checker = ScrapeChecker(pids_return=lambda labels: True)  # the meters are judged, whatever else runs
        wait_until(self.is_up, "the first snapshot", 60)

    def end_agent(self):
        self.host.say(f"LAB: agent log\n{self.agent.log()}")
        self.agent.__exit__(None, None, None)
        self.agent = None

    def is_up(self):
        if self.agent.process.poll() is not None:
            raise AssertionError(f"the agent ended with {self.agent.process.returncode}: {self.agent.log().splitlines()[-1:]}")
        with contextlib.suppress(OSError):
            return self.agent.get("/metrics")[0] == 200

    def scrape(self):
        """A new snapshot, in which every series adds up."""
        self.last = self.checker.check(self.agent.scrape_after())
        equal("what does not add up", self.checker.problems, [])
        return self.last

    def start(self, *command):
        with open(f"/tmp/{os.path.basename(command[0])}.log", "wb") as log:
            self.children.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        return self.children[-1]

    def shut_down(self):
        for child in self.children:
            child.kill()
            child.wait()
        for other in self.others.values():
            other.shut_down()
        if self.agent:
            self.end_agent()


@contextlib.contextmanager
def burners(cpus):
    """A busy process on each CPU, while this lasts."""
    children = [subprocess.Popen(["taskset", "-c", str(cpu), "yes"], stdout=subprocess.DEVNULL) for cpu in cpus]
    try:
        yield
    finally:
        for child in children:
            child.kill()
            child.wait()


def burn(cpus, seconds):
    """Until each of these CPUs has been busy for that long by the kernel's own count: emulated CPUs may get no time."""
    def busy():
        with open("/proc/stat", encoding="ascii") as file:
            lines = dict(line.split(maxsplit=1) for line in file if line.startswith("cpu"))
        return {cpu: sum(map(int, lines[f"cpu{cpu}"].split()[:3])) / os.sysconf("SC_CLK_TCK") for cpu in cpus}
    before = busy()
    with burners(cpus):
        wait_until(lambda: all(now - before[cpu] >= seconds for cpu, now in busy().items()), f"CPUs {cpus} to be busy",
                   60 + 20 * seconds, period=0.1)
