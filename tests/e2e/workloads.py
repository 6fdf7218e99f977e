"""Things that use CPU: short processes, burners, cgroups of our own, podman containers."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

from harness import Repeater, end, output_of, require, scratch_directory, wait_until

BURN = "while :; do :; done"
# Uses a fifth of a CPU: enough where a workload only has to use energy, and the tests that run meanwhile keep the rest.
BURN_A_FIFTH = """
import time
while True:
    begin = time.process_time()
    while time.process_time() < begin + 0.01: pass
    time.sleep(0.04)
"""
# Uses CPU for some seconds, prints the exact time, and waits for the end of its input.
BURNER = """
import sys, time
while time.process_time() < float(sys.argv[1]): pass
print(time.process_time(), flush=True)
sys.stdin.read()
"""
# The same as the process with a certain pid, which only the kernel can give: clone3 with set_tid (Linux 5.5).
BURNER_AT = """
import ctypes, os, struct, sys
pid = (ctypes.c_int * 1)(int(sys.argv[1]))
arguments = struct.pack("11Q", 0, 0, 0, 0, 17, 0, 0, 0, ctypes.addressof(pid), 1, 0)
got = ctypes.PyDLL(None, use_errno=True).syscall(435, arguments, len(arguments))
if got == 0:
    os.execv(sys.executable, [sys.executable, "-c", *sys.argv[2:]])
if got < 0:
    sys.exit("clone3: " + os.strerror(ctypes.get_errno()))
os.waitpid(got, 0)
"""
# The same under a name, which comes first, in hexadecimal digits.
NAMED_BURNER = "open('/proc/self/comm', 'wb').write(bytes.fromhex(__import__('sys').argv.pop(1)))" + BURNER
# Makes a machine without processors (KVM_CREATE_VM), reports it, and computes.
MACHINE = """
import fcntl, os
machine = fcntl.ioctl(os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC), 0xAE01, 0)
print(os.readlink(f"/proc/self/fd/{machine}"), flush=True)
while True:
    pass
"""
CGROUPS = "/sys/fs/cgroup"


def cpu_cgroup_paths(pid="self"):
    """(path in v1's cpuacct, or None; path in v2)"""
    v1, v2 = None, "/"
    with open(f"/proc/{pid}/cgroup", encoding="ascii") as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            if "cpuacct" in controllers.split(","):
                v1 = path
            elif not controllers:
                v2 = path
    return v1, v2


def cgroup_usage_ns(v1, v2="/"):
    """What the kernel says a cgroup has used: cpuacct.usage on v1, cpu.stat on v2."""
    if v1 is not None:
        with open(f"{CGROUPS}/cpuacct{v1}/cpuacct.usage", encoding="ascii") as file:
            return int(file.read())
    with open(f"{CGROUPS}{v2}/cpu.stat", encoding="ascii") as file:
        return 1000 * int(dict(line.split() for line in file)["usage_usec"])


def process_usage_ns(pid):
    return cgroup_usage_ns(*cpu_cgroup_paths(pid))


def machine_usage_ns():
    return cgroup_usage_ns("/" if os.path.exists(f"{CGROUPS}/cpuacct") else None)


def machine_stat_ns(*columns):
    """What /proc/stat says of all processors: "steal" is what other guests of this machine's host had in their place."""
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    with open("/proc/stat", encoding="ascii") as file:
        ticks = dict(zip(names, map(int, file.readline().split()[1:])))
    return sum(ticks[column] for column in columns) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def in_mounts(*steps):
    """A command prefix: the steps in a mount namespace of its own, then the command."""
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", " && ".join([*steps, 'exec "$@"']), "sh"]


class HalfIdle(Repeater):
    """A /proc/stat of processors that are idle half of the time, whatever runs on this machine."""

    START = 10**9  # ticks: the numbers keep their length, so a reader sees no part of one

    def __init__(self):
        super().__init__(pause=0.02)
        self.directory = scratch_directory()
        self.path = f"{self.directory}/stat"
        self.began = time.monotonic()
        self.step()

    def command_prefix(self):
        """Runs an agent that sees it."""
        return in_mounts(f"mount --bind {self.path} /proc/stat")

    def step(self):
        each, count = round((time.monotonic() - self.began) * os.sysconf("SC_CLK_TCK") / 2), os.cpu_count()
        lines = [f"cpu{name} {busy} 0 0 {busy} 0 0 0 0 0 0\n" for name, busy in
                 [(" ", self.START + each * count), *((number, self.START + each) for number in range(count))]]
        with open(self.path, "r+" if os.path.exists(self.path) else "w", encoding="ascii") as file:
            file.write("".join(lines))

    def __exit__(self, *failure):
        super().__exit__(*failure)
        shutil.rmtree(self.directory, ignore_errors=True)


def hierarchies():
    """The top directories of every cgroup tree of this machine."""
    with open("/proc/self/mountinfo", encoding="ascii") as file:
        mounts = (line.split(" - ") for line in file)
        return [mount.split()[4] for mount, filesystem in mounts if filesystem.split()[0] in ("cgroup", "cgroup2")]


class Cgroup(contextlib.AbstractContextManager):
    """One path in every hierarchy, with everything that lives below it."""

    def __init__(self, path):
        self.path = path
        self.made = []

    def __enter__(self):
        require(os.geteuid() == 0 and hierarchies(), "cgroups can only be made by root where they are mounted")
        try:
            for top in hierarchies():
                self._make(top)
        except OSError as error:
            self.__exit__()
            require(False, f"no cgroup of our own can be made: {error}")
        return self

    def _make(self, top):
        directory = top
        for part in self.path.strip("/").split("/"):
            above, directory = directory, os.path.join(directory, part)
            if not os.path.isdir(directory):
                os.makedirs(directory)  # another test may remove the one above meanwhile
                self.made.append(directory)
            # An empty cpuset takes no process.
            for name in ("cpuset.cpus", "cpuset.mems"):
                if os.path.exists(f"{directory}/{name}") and os.path.exists(f"{above}/{name}"):
                    with open(f"{above}/{name}", encoding="ascii") as source:
                        value = source.read()
                    if value.strip():
                        with open(f"{directory}/{name}", "w", encoding="ascii") as target:
                            target.write(value)

    def directories(self):
        return [top + self.path for top in hierarchies()]

    def set_shares(self, shares):
        for directory in self.directories():
            if os.path.exists(f"{directory}/cpu.shares"):
                with open(f"{directory}/cpu.shares", "w", encoding="ascii") as file:
                    file.write(str(shares))

    def limit_tasks(self, most):
        """`most` is a number or "max"."""
        files = [path for directory in self.directories() if os.path.exists(path := f"{directory}/pids.max")]
        require(files, "no cgroup here limits the number of tasks")
        for path in files:
            with open(path, "w", encoding="ascii") as file:
                file.write(str(most))

    def limit_memory(self, size):
        """False where no cgroup here limits memory."""
        files = [path for directory in self.directories() for name in ("memory.max", "memory.limit_in_bytes")
                 if os.path.exists(path := f"{directory}/{name}")]
        for path in files:
            with open(path, "w", encoding="ascii") as file:
                file.write(str(size))
        return bool(files)

    def enter_script(self):
        """Shell lines by which a shell moves itself here."""
        return "".join(f"echo $$ > {directory}/cgroup.procs\n" for directory in self.directories())

    def command_prefix(self):
        """Runs a command in here, without a task more."""
        return ["sh", "-c", self.enter_script() + 'exec "$@"', "sh"]

    def usage_ns(self):
        v1 = self.path if os.path.exists(f"{CGROUPS}/cpuacct") else None
        return cgroup_usage_ns(v1, self.path)

    def __exit__(self, *_):
        def emptied(directory):
            with contextlib.suppress(OSError):
                os.rmdir(directory)
            return not os.path.isdir(directory)
        for directory in reversed(self.made):
            if directory in self.directories():
                wait_until(lambda d=directory: emptied(d), f"{directory} to become empty")
            else:
                emptied(directory)  # another test may have made a cgroup in it, and removes it then
        self.made.clear()


class Churn(contextlib.AbstractContextManager):
    """`per_second` short processes a second, made by a process of their own: half end at once, half compute a while."""

    def __init__(self, per_second=200):
        self.per_second = per_second
        self.process = None
        self.made = 0

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, __file__, str(self.per_second)], stdout=subprocess.PIPE)
        return self

    def __exit__(self, *_):
        """Afterwards `made` says how many there were."""
        self.process.send_signal(signal.SIGTERM)
        self.made = int(self.process.stdout.read() or 0)
        end(self.process)


def churn(per_second):
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    batch = max(1, per_second // 20)
    made, began = 0, time.monotonic()
    while not stop.is_set():
        pids = []
        for i in range(batch):
            command = ["/bin/true"] if i % 2 else ["/bin/sh", "-c", "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done"]
            pids.append(os.posix_spawn(command[0], command, os.environ))
        for pid in pids:
            os.waitpid(pid, 0)
        made += batch
        # At most a second is made up for.
        behind = time.monotonic() - began - made / per_second
        began += max(behind - 1, 0)
        stop.wait(max(-behind, 0))
    print(made)


class Podman(contextlib.AbstractContextManager):
    """podman with storage, locks and an image (busybox) of its own: needs no registry and no network."""

    def __init__(self):
        self.directory = None
        self.ids = []

    def __enter__(self):
        require(os.geteuid() == 0, "podman's containers need root here")
        require(shutil.which("podman") and shutil.which("runc"), "podman or runc is not installed")
        require(shutil.which("busybox"), "busybox (static) is not installed")
        self.directory = tempfile.mkdtemp(prefix="kepler-podman-", dir="/var/tmp")  # overlayfs wants a disk below it
        try:
            self._write_image()
            self.run("import", f"{self.directory}/image.tar", "localhost/e2e:1")
        except subprocess.CalledProcessError as error:
            self.__exit__()
            require(False, f"podman cannot run here: {error.stderr[-300:]}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def _write_image(self):
        rootfs = f"{self.directory}/rootfs"
        for name in ("bin", "dev", "etc", "proc", "sys", "tmp"):
            os.makedirs(f"{rootfs}/{name}")
        shutil.copy(os.path.realpath(shutil.which("busybox")), f"{rootfs}/bin/busybox")
        for applet in ("sh", "sleep", "timeout", "true"):
            os.symlink("busybox", f"{rootfs}/bin/{applet}")
        with tarfile.open(f"{self.directory}/image.tar", "w") as tar:
            tar.add(rootfs, arcname=".")
        with open(f"{self.directory}/containers.conf", "w", encoding="ascii") as file:
            # Limits that a root without CAP_SYS_RESOURCE may set; crun refuses hybrid cgroups.
            file.write('[containers]\ndefault_ulimits = ["nofile=1024:4096", "nproc=4096:4096"]\n'
                       '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "none"\n'
                       # Else it shares locks with every other podman of this user, those that were killed included.
                       f'tmp_dir = "{self.directory}/tmp"\nlock_type = "file"\n')

    def command(self, *args):
        """What to run, in environment()."""
        return ["podman", "--root", f"{self.directory}/root", "--runroot", f"{self.directory}/runroot",
                "--storage-driver", "overlay", *args]

    def environment(self):
        return {**os.environ, "CONTAINERS_CONF": f"{self.directory}/containers.conf"}

    def run(self, *args):
        return output_of(self.command(*args), 60, env=self.environment())

    def start(self, script, *options):
        """A container that runs a shell script; its id."""
        container = self.run("run", "-d", "--network", "none", *options, "localhost/e2e:1", "/bin/sh", "-c", script)
        self.ids.append(container)
        return container

    def pid(self, container):
        return int(self.run("inspect", "--format", "{{.State.Pid}}", container))

    def remove(self, *containers):
        self.run("rm", "-t", "0", "-f", *containers)

    def __exit__(self, *_):
        with contextlib.suppress(subprocess.SubprocessError):
            self.run("rm", "-t", "0", "-a", "-f")
        # podman leaves its storage mounted on itself: twice, where two of its commands came at the same time.
        for _ in range(4):
            subprocess.run(["umount", "--lazy", f"{self.directory}/root/overlay"], check=False,
                           stderr=subprocess.DEVNULL)
        shutil.rmtree(self.directory, ignore_errors=True)


class ContainerChurn(Repeater):
    """One container after the other, each with a burner for about a second."""

    def __init__(self, podman):
        super().__init__()
        self.podman = podman
        self.started = 0

    def step(self):
        container = self.podman.start(burners(1, 1))
        self.started += 1
        self.podman.run("wait", container)
        self.podman.remove(container)


class Gate(contextlib.AbstractContextManager):
    """A directory by which scripts, inside of containers too, wait for a start and tell their end. Uses no CPU."""

    def __init__(self):
        self.directory = scratch_directory()
        self.names = []

    def script(self, name, body, inside=None):
        """`body` between the start and the end; then the script sleeps, so that its cgroup can still be read."""
        os.mkfifo(f"{self.directory}/{name}.start")
        self.names.append(name)
        here = inside or self.directory
        return f"read x < {here}/{name}.start\n{body}\n: > {here}/{name}.end\nexec sleep 1000"

    def open(self):
        for name in self.names:
            with open(f"{self.directory}/{name}.start", "w", encoding="ascii") as fifo:
                fifo.write("go\n")

    def wait_ended(self, seconds):
        for name in self.names:
            wait_until(lambda n=name: os.path.exists(f"{self.directory}/{n}.end"), f"the end of {name}", seconds)

    def __exit__(self, *_):
        shutil.rmtree(self.directory, ignore_errors=True)


def burners(count, seconds):
    """A shell command. The shell stays: what is process 1 of a container does not hear timeout's signal."""
    return f"for i in {' '.join(map(str, range(count)))}; do timeout {seconds} sh -c '{BURN}' & done; wait"


if __name__ == "__main__":
    churn(int(sys.argv[1]))
