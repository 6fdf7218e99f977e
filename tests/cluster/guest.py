"""Runs the cluster in a guest: user-mode Linux with Debian's systemd, cgroup v2 only, the kubelet with the systemd cgroup
driver. tools/e2e_kubernetes.sh --systemd.

    guest.py [TEST]...     TEST as main.py takes it

The guest's kernel is a program: it needs no virtualization. It reads this machine's files by hostfs. It writes only the logs
and a copy of its disk, which is deleted. It has one CPU, and no BPF type information: the agent reads CPU time from /proc.
"""
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "e2e")]

# pylint: disable=wrong-import-position
import harness
import images
import programs

SUITE = "bookworm"  # this machine's: the agent's libraries are its
PACKAGES = ("systemd-sysv", "dbus", "kmod", "mount", "util-linux", "procps", "iproute2", "openssl", "python3", "libcap2-bin",
            "runc", "containernetworking-plugins")
DISK_MIB = 3072
MEMORY_MIB = 4096
SECONDS = 1500
PLACE = os.path.join(programs.PLACE, "guest")
LOGS = os.path.join(PLACE, "logs")


def disk():
    """The guest's root file system, made once for each list of packages. This machine's files are below /host in it."""
    recipe = hashlib.sha256(repr((SUITE, PACKAGES, DISK_MIB)).encode()).hexdigest()[:12]
    path = os.path.join(PLACE, f"root-{recipe}.ext4")
    if os.path.exists(path):
        return path
    os.makedirs(PLACE, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="kepler-guest-", dir="/var/tmp") as scratch:
        root = os.path.join(scratch, "root")
        subprocess.run([
            "mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(PACKAGES)}",
            "--aptopt=Apt::Install-Recommends \"false\"", "--customize-hook=mkdir \"$1\"/host",
            "--customize-hook=echo none /host hostfs ro,/ 0 0 >\"$1\"/etc/fstab", SUITE, root], check=True)
        subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", root, f"{path}.new", f"{DISK_MIB}M"], check=True)
    os.rename(f"{path}.new", path)
    return path


def boot(scratch, tests):
    """The exit code of main.py in the guest; what it prints is on our stdout."""
    start = f"/host{HERE}/guest_start.sh /host{scratch} {LOGS} {' '.join(tests)}"
    guest = subprocess.Popen([
        "linux.uml", f"mem={MEMORY_MIB}M", f"ubd0={scratch}/root.cow,{disk()}", "root=/dev/ubda", "rw", "quiet",
        "con=null", "con0=null,fd:1", "selinux=0", "systemd.show_status=false", f'systemd.run="{start}"',
        "systemd.run_success_action=poweroff-force", "systemd.run_failure_action=poweroff-force"],
        stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        guest.wait(SECONDS)
    except subprocess.TimeoutExpired:
        print(f"the guest was ended after {SECONDS} s")
    finally:
        # It is several processes: one for each address space of the guest.
        try:
            os.killpg(guest.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        guest.wait()
    try:
        with open(os.path.join(LOGS, "guest.status"), encoding="ascii") as file:
            return int(file.read())
    except FileNotFoundError:
        print("the guest ended without a result\n0 passed, 1 failed")
        return 1


def interrupt(*_):
    raise KeyboardInterrupt


def main(tests):
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    agent = harness.binary()
    shutil.rmtree(LOGS, ignore_errors=True)
    os.makedirs(LOGS)
    os.makedirs(os.path.join(programs.PLACE, "logs"), exist_ok=True)  # where the guest mounts them
    with tempfile.TemporaryDirectory(prefix="kepler-guest-", dir="/var/tmp") as scratch:
        images.write_all(agent, scratch)
        return boot(scratch, tests)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
