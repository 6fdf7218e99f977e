"""Ends whatever is left of a cluster, by pid: every process in its net namespace or in the kubelet's cgroups, then those
cgroups. What it mounted went with its mount namespace.

    sweep.py NETWORK_NAMESPACE    as `readlink /proc/PID/ns/net` says it
"""
import contextlib
import os
import signal
import sys
import time

CGROUPS = "/sys/fs/cgroup"
KUBELETS = "kubepods"


def kubelet_cgroups():
    """The topmost ones, in every hierarchy."""
    tops = [CGROUPS]
    with contextlib.suppress(OSError):
        tops += [f"{CGROUPS}/{name}" for name in os.listdir(CGROUPS) if not os.path.islink(f"{CGROUPS}/{name}")]
    return [f"{top}/{KUBELETS}" for top in tops if os.path.isdir(f"{top}/{KUBELETS}")]


def processes_in_cgroups():
    pids = set()
    for top in kubelet_cgroups():
        for directory, _, _ in os.walk(top):
            with contextlib.suppress(OSError), open(f"{directory}/cgroup.procs", encoding="ascii") as file:
                pids.update(map(int, file.read().split()))
    return pids


def processes_in_namespace(network):
    pids = set()
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and os.readlink(f"/proc/{name}/ns/net") == network:
                pids.add(int(name))
    return pids


def is_alive(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0] not in "ZX"
    return False


def remove_cgroups():
    for top in kubelet_cgroups():
        for directory, _, _ in os.walk(top, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(directory)


def sweep(network, seconds=20):
    """What could not be ended."""
    if network == os.readlink("/proc/self/ns/net"):
        raise ValueError("that is our own namespace")
    deadline = time.monotonic() + seconds
    while True:
        left = {pid for pid in processes_in_namespace(network) | processes_in_cgroups() if is_alive(pid)} - {os.getpid()}
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        remove_cgroups()
        if not left and not kubelet_cgroups() or time.monotonic() > deadline:
            return [f"process {pid}" for pid in left] + kubelet_cgroups()
        time.sleep(0.05)


if __name__ == "__main__":
    remaining = sweep(sys.argv[1])
    if remaining:
        sys.exit(f"sweep.py: left behind: {', '.join(remaining)}")
