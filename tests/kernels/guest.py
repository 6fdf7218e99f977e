"""Boots a kernel in QEMU with the test programs and this machine's libraries, and returns what it printed.

Emulation (TCG) only: it works where /dev/kvm does not, and is the same everywhere. The guest has no disk and no network;
all it has is an initramfs of a few megabytes: busybox, setpriv, the programs, and the libraries they name.
"""
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
MEMORY_MIB = 1024
BOOT_SECONDS = 120


def _libraries(program):
    """Absolute paths; none for a static program."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    if "not found" in listed.stdout:
        raise RuntimeError(f"{program} lacks a library:\n{listed.stdout}")
    return re.findall(r"(/\S+) \(0x", listed.stdout) if listed.returncode == 0 else []


def _put(root, source, at):
    target = root / at.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    target.chmod(0o755)


def make_initramfs(programs, path, script=HERE / "run_tests.sh", files=None):
    """programs: paths of programs for the script, which init runs. files: more files, by their path in the guest.

    Merged /usr as on Debian: a library keeps the path that the program names."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        root.chmod(0o755)
        for name in ("dev", "proc", "sys", "tmp", "run", "usr/bin", "usr/lib", "usr/lib64"):
            (root / name).mkdir(parents=True)
        for link, to in (("bin", "usr/bin"), ("sbin", "usr/bin"), ("lib", "usr/lib"), ("lib64", "usr/lib64")):
            (root / link).symlink_to(to)
        for name in ("busybox", "setpriv"):
            found = shutil.which(name)
            if not found:
                raise RuntimeError(f"{name} is not installed: tools/setup.sh kernels")
            _put(root, found, f"/usr/bin/{name}")
            for library in _libraries(found):
                _put(root, library, library)
        (root / "usr/bin/sh").symlink_to("busybox")
        for program in programs:
            _put(root, program, f"/tests/bin/{Path(program).name}")
            for library in _libraries(program):
                _put(root, library, library)
        for at, source in (files or {}).items():
            _put(root, source, at)
        _put(root, script, "/tests/run_tests.sh")
        _put(root, HERE / "init", "/init")
        names = sorted(str(p.relative_to(root)) for p in root.rglob("*"))
        with open(path, "wb") as out:
            subprocess.run(["cpio", "--create", "--format=newc", "--quiet", "--owner=0:0"], cwd=root, check=True,
                           input="\n".join(names).encode(), stdout=out)


def boot(kernel, initramfs, cgroups, program_seconds, run_count, logs, cpu="max", cpus=2):
    """Returns (results text, console text, seconds, how QEMU ended: "" when the guest powered off).

    logs: directory that keeps both texts, as NAME.console and NAME.results.
    """
    console, results = logs / f"{cgroups}.console", logs / f"{cgroups}.results"
    for file in (console, results):
        file.write_bytes(b"")
    # Emulated CPUs do not run while the host is busy: the watchdogs would call that a lock-up of the guest.
    words = (f"console=ttyS0 loglevel=5 panic=-1 nowatchdog rcupdate.rcu_cpu_stall_suppress=1 mitigations=off "
             f"kepler_cgroups={cgroups} kepler_seconds={program_seconds}")
    command = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
               "-machine", "q35", "-cpu", cpu, "-accel", "tcg,thread=multi", "-smp", str(cpus), "-m", str(MEMORY_MIB),
               "-serial", f"file:{console}", "-serial", f"file:{results}",
               "-kernel", str(kernel), "-initrd", str(initramfs), "-append", words]
    limit = BOOT_SECONDS + run_count * program_seconds
    started = time.monotonic()
    ended = ""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit,
                              check=False, env={**os.environ, "LC_ALL": "C"})
        if done.returncode != 0:
            ended = f"QEMU ended with {done.returncode}: {done.stderr.strip()}"
    except subprocess.TimeoutExpired:
        ended = f"no end after {limit} s"
    seconds = time.monotonic() - started
    return (*(file.read_text(errors="replace").replace("\r", "") for file in (results, console)), seconds, ended)
