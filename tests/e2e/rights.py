"""What a process may do, as the kernel tells it, and what deploy/Dockerfile's target `nonroot` gives to a program."""
import functools
import os
import re
import shutil
import subprocess
import tempfile

from harness import require

# linux/capability.h
NUMBERS = {"DAC_READ_SEARCH": 2, "SYS_PTRACE": 19, "PERFMON": 38, "BPF": 39}
SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def bits(names):
    return sum(1 << NUMBERS[name] for name in names)


class ProcessRights:
    """Of a process that lives."""

    def __init__(self, pid):
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        self.uids = {int(uid) for uid in status["Uid"].split()}
        self.no_new_privileges = status["NoNewPrivs"] == "1"
        self.seccomp = status.get("Seccomp", "0").strip() == "2"  # a filter is in force
        self.capabilities = {name: int(status[name], 16) for name in SETS}

    def __str__(self):
        return (f"uid {', '.join(map(str, self.uids))}, capabilities {self.capabilities['CapEff']:x}, "
                f"{'no' if self.no_new_privileges else 'with a'} way to more, {'a' if self.seccomp else 'no'} seccomp filter")


@functools.cache
def _dockerfile():
    with open(os.path.join(ROOT, "deploy", "Dockerfile"), encoding="utf-8") as file:
        found = re.search(r" setcap (\S+) /image/nonroot/usr/bin/kepler$.*?^FROM libraries AS nonroot$.*?^USER (\S+)$",
                          file.read(), re.MULTILINE | re.DOTALL)
    return found.groups()


def image_user():
    return _dockerfile()[1]


def grant(program):
    """To a file, what that image's program has. Its file system must keep such attributes: /tmp may not."""
    setcap = shutil.which("setcap", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    require(setcap, "setcap is not installed")
    subprocess.run([setcap, _dockerfile()[0], program], check=True, timeout=60)


def granted(program):
    """The same as the attribute's bytes, for whoever packs the file; the file itself stays as it is."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        copy = shutil.copy(program, folder)
        grant(copy)
        return os.getxattr(copy, "security.capability")
