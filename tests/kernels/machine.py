"""Boots a kernel in QEMU: the boot tool of tools/kernels.sh and of tests/lab.

Emulation (TCG) only: it works where /dev/kvm does not, and is the same everywhere. The guest has no disk and no network;
all it has is an initramfs: busybox, the programs with the libraries they name, modules and files.
"""
import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

# Emulated CPUs do not run while the host is busy: the watchdogs would call that a lock-up of the guest, and the check of the timer at
# boot would call it a broken IO-APIC.
WORDS = "console=ttyS0 loglevel=5 panic=-1 nowatchdog no_timer_check rcupdate.rcu_cpu_stall_suppress=1 mitigations=off"
COMPLAINTS = re.compile(r"WARNING: CPU|BUG: |Oops|Kernel panic|general protection fault|possible circular locking")


def libraries(program):
    """Absolute paths; none for a static program."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    if "not found" in listed.stdout:
        raise RuntimeError(f"{program} lacks a library:\n{listed.stdout}")
    return re.findall(r"(/\S+) \(0x", listed.stdout) if listed.returncode == 0 else []


class Image(contextlib.AbstractContextManager):
    """An initramfs in the making. Merged /usr as on Debian: a library keeps the path that the program names."""

    def __init__(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.root = Path(self.scratch.name)
        self.root.chmod(0o755)
        for name in ("dev", "proc", "sys", "tmp", "run", "usr/bin", "usr/lib", "usr/lib64"):
            (self.root / name).mkdir(parents=True)
        for link, to in (("bin", "usr/bin"), ("sbin", "usr/bin"), ("lib", "usr/lib"), ("lib64", "usr/lib64")):
            (self.root / link).symlink_to(to)
        self.install("busybox")
        (self.root / "usr/bin/sh").symlink_to("busybox")

    def __exit__(self, *_):
        self.scratch.cleanup()

    def put(self, source, at):
        target = self.root / str(at).lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
        target.chmod(0o755)

    def program(self, source, at):
        """A file with the libraries that it names."""
        self.put(source, at)
        for library in libraries(source):
            self.put(library, library)

    def install(self, name, group="kernels"):
        """A program of this machine."""
        found = shutil.which(name)
        if not found:
            raise RuntimeError(f"{name} is not installed: tools/setup.sh {group}")
        self.program(found, f"/usr/bin/{name}")

    def modules(self, room, release, names):
        """Modules of a kernel unpacked in `room`, with those they need, for modprobe."""
        tree = Path("lib/modules") / release
        for name in names:
            shown = subprocess.run(["modprobe", "-d", room, "-S", release, "--show-depends", name], check=True,
                                   capture_output=True, text=True).stdout
            for path in re.findall(r"^insmod (\S+)", shown, re.M):
                self.put(path, tree / Path(path).relative_to(room / tree))
        for name in ("order", "builtin", "builtin.modinfo"):
            self.put(room / tree / f"modules.{name}", tree / f"modules.{name}")
        subprocess.run(["depmod", "-b", self.root, release], check=True)

    def write(self, path):
        names = sorted(str(p.relative_to(self.root)) for p in self.root.rglob("*"))
        with open(path, "wb") as out:
            subprocess.run(["cpio", "--create", "--format=newc", "--quiet", "--owner=0:0"], cwd=self.root, check=True,
                           input="\n".join(names).encode(), stdout=out)


def command(kernel, image, console, words, *more, cpu="max", cpus="2", memory_mib=1024):
    """QEMU's command line. more: further arguments; words: of the kernel, behind WORDS."""
    return ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-machine", "q35",
            "-cpu", cpu, "-accel", "tcg,thread=multi", "-smp", str(cpus), "-m", str(memory_mib),
            "-serial", f"file:{console}", "-kernel", str(kernel), "-initrd", str(image), "-append", f"{WORDS} {words}",
            *map(str, more)]


def run(arguments, limit):
    """(seconds, how QEMU ended: "" when the guest powered off)."""
    started = time.monotonic()
    ended = ""
    try:
        done = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit,
                              check=False, env={**os.environ, "LC_ALL": "C"})
        if done.returncode != 0:
            ended = f"QEMU ended with {done.returncode}: {done.stderr.strip()}"
    except subprocess.TimeoutExpired:
        ended = f"no end after {limit} s"
    return time.monotonic() - started, ended


def text_of(file):
    return Path(file).read_text(errors="replace").replace("\r", "")
