"""The machines of tools/guest_demo.py: guests in QEMU, and a meter for their host."""
import collections
import contextlib
import csv
import glob
import os
import random
import re
import socketserver
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests" / "e2e"), str(ROOT / "tests" / "kernels")]
from guest import make_initramfs  # noqa: E402
from harness import Repeater, end, wait_until  # noqa: E402

KINDS = ("cpu", "memory", "calls")
LEVELS = (25, 50, 75, 90)  # percent; the kernel leaves 5 % of each CPU to programs without real-time priority
MODULES = ("virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci", "failover",
           "net_failover", "virtio_net")
IDLE_WATTS, LOAD_WATTS = 14, 30
CPUS = os.cpu_count()


def mean_curve(path):
    """Watts that load adds, as a share of those of full load, by utilisation: the mean of the server types of a table."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = [(row["node_type"], round(float(row["utilisation"]), 1), float(row["platform_watts"]))
                for row in csv.DictReader(line for line in file if not line.startswith("#"))]
    watts = {}
    for kind, utilisation, value in rows:
        watts.setdefault(kind, {}).setdefault(utilisation, []).append(value)
    curves = [{at: sum(values) / len(values) for at, values in levels.items()} for levels in watts.values()]
    curves = [curve for curve in curves if len(curve) == 11]
    return [sum((curve[step / 10] - curve[0]) / (curve[1] - curve[0]) for curve in curves) / len(curves)
            for step in range(11)]


class Host(Repeater):
    """A machine that runs only this demonstration: what /proc/stat shows, and the energy of a package with 14 W at rest and
    30 W more at full load, with noise of 1 %. Needs a /proc of its own."""

    HERTZ, SMOOTH = os.sysconf("SC_CLK_TCK"), 0.5  # window of the mean utilisation, in seconds

    def __init__(self, tree, curve):
        super().__init__(pause=0.02)
        self.tree, self.curve, self.dice = tree, curve, random.Random(1)
        self.seen, self.busy, self.begin = {}, 0, time.monotonic()
        self.past = collections.deque([(self.begin, 0)])
        with open("/proc/stat", encoding="ascii") as file:
            self.rest = "".join(line for line in file if not line.startswith("cpu"))
        self.file = os.open(os.path.join(tree.root, "stat"), os.O_CREAT | os.O_WRONLY, 0o644)
        self.show(self.begin)
        subprocess.run(["mount", "--bind", os.path.join(tree.root, "stat"), "/proc/stat"], check=True)

    def show(self, now):
        idle = int((now - self.begin) * self.HERTZ * CPUS) - self.busy
        text = "".join(f"cpu{name} {self.busy // of:012} 0 0 {max(idle, 0) // of:012} 0 0 0 0 0 0\n"
                       for name, of in [(" ", 1), *((cpu, CPUS) for cpu in range(CPUS))])
        os.pwrite(self.file, (text + self.rest).encode(), 0)

    def count(self):
        for name in os.listdir("/proc"):
            with contextlib.suppress(OSError, ValueError), open(f"/proc/{int(name)}/stat", encoding="ascii") as file:
                fields = file.read().rsplit(")", 1)[1].split()
                ticks = int(fields[11]) + int(fields[12])
                self.busy += ticks - self.seen.get(name, ticks)
                self.seen[name] = ticks

    def step(self):
        self.count()
        now = time.monotonic()
        seconds = now - self.past[-1][0]
        self.past.append((now, self.busy))
        while self.past[1][0] < now - self.SMOOTH:
            self.past.popleft()
        used = (self.busy - self.past[0][1]) / self.HERTZ / (now - self.past[0][0]) / CPUS
        place = 10 * min(used, 1)
        below = min(int(place), 9)
        added = self.curve[below] + (place - below) * (self.curve[below + 1] - self.curve[below])
        self.tree.advance(int((IDLE_WATTS + LOAD_WATTS * added) * self.dice.gauss(1, 0.01) * seconds * 1e6))
        self.show(now)


class Clock(socketserver.ThreadingTCPServer):
    """Tells guests the time, as NTP would."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.sendall(f"{time.time():.6f}\n".encode())

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def make_image(kernel, agent, path):
    """busybox, the agent, the loads, and the modules of the network."""
    load = path + ".load"
    subprocess.run(["gcc", "-O2", "-static", "-Wall", "-o", load, str(HERE / "load.c")], check=True)
    os.makedirs(path + ".d", exist_ok=True)
    programs = [os.path.join(path + ".d", name) for name in ("load", "kepler")]
    for program, source in zip(programs, (load, agent)):
        subprocess.run(["cp", source, program], check=True)
    order = Path(path + ".order")
    order.write_text(" ".join(MODULES))
    modules = {f"/tests/modules/{name}.ko": glob.glob(f"{kernel}/lib/modules/**/{name}.ko", recursive=True)[0]
               for name in MODULES}
    make_initramfs(programs, path, HERE / "run_loads.sh", {**modules, "/tests/modules/order": order})


class Guest:
    """Pinned guests have real-time priority: nothing else takes time from their virtual CPUs."""

    def __init__(self, name, cpus, port, pinned, options):
        self.name, self.cpus, self.pinned = name, cpus, pinned
        self.results, self.console = (os.path.join(options.output, name + end_) for end_ in (".results", ".console"))
        Path(self.results).unlink(missing_ok=True)
        loads = [f"{kind}:{level}" for kind in KINDS for level in LEVELS]
        random.Random(name).shuffle(loads)
        self.patience = 3 * len(loads) * (options.seconds + 2) + 60
        words = (f"console=ttyS0 loglevel=5 panic=-1 nowatchdog rcupdate.rcu_cpu_stall_suppress=1 mitigations=off "
                 f"kepler_cgroups=unified kepler_seconds=0 demo_name={name} demo_clock={options.clock} "
                 f"demo_loads={','.join(loads)} demo_seconds={options.seconds}")
        self.process = subprocess.Popen(
            (["chrt", "--rr", "2"] if pinned else []) +
            ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-machine", "q35",
             "-name", f"guest={name},debug-threads=on", "-m", "512", "-smp", str(cpus), "-accel", "tcg,thread=multi",
             "-cpu", "max", "-serial", f"file:{self.console}", "-serial", f"file:{self.results}",
             "-kernel", glob.glob(f"{options.kernel}/boot/vmlinuz-*")[0], "-initrd", options.image,
             "-netdev", f"user,id=n,hostfwd=tcp:127.0.0.1:{port}-:28282", "-device", "virtio-net-pci,netdev=n",
             "-append", words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def says(self, what):
        if self.process.poll() not in (None, 0):
            sys.exit(f"{self.name}: QEMU ended with {self.process.returncode}; see {self.console}")
        return os.path.exists(self.results) and what in Path(self.results).read_text(errors="replace")

    def run(self):
        try:
            wait_until(lambda: self.says("@@ ready"), f"{self.name} to be ready", 180, period=0.5)
            if self.pinned:
                self.pin()
            wait_until(lambda: self.says("@@ done"), f"the loads of {self.name}", self.patience, period=1)
        finally:
            end(self.process)

    def pin(self):
        """A virtual CPU has a lower priority than QEMU's other threads, which send its timer interrupts."""
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            name = Path(f"/proc/{self.process.pid}/task/{task}/comm").read_text()
            if name.startswith("CPU "):
                os.sched_setaffinity(int(task), {int(name.split()[1].split("/")[0]) % CPUS})
                os.sched_setscheduler(int(task), os.SCHED_RR, os.sched_param(1))

    def loads(self):
        """(kind, level, begin, end) of each load."""
        found = re.findall(r"phase (\w+) (\d+) ([\d.]+) ([\d.]+)", Path(self.results).read_text(errors="replace"))
        return [(kind, int(level), float(begin), float(end_)) for kind, level, begin, end_ in found]
