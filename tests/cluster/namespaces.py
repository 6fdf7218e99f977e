"""The net and mount namespaces that the whole cluster lives in: nothing of it is seen outside, and it leaves nothing.

tools/e2e_kubernetes.sh makes them (unshare) and sweeps them; here they are furnished.
"""
import os
import subprocess

NODE_ADDRESS = "10.99.0.1"  # a kubelet refuses a loopback address
API_ADDRESS = "10.96.0.1"  # of the service `kubernetes`; here without a kube-proxy: it is the API server's own
SERVICES = "10.96.0.0/24"
PODS = "10.88.0.0/24"
# What a kubelet wants of a host. It is shown these values; the host's stay as they are.
SYSCTLS = {"vm/overcommit_memory": 1, "vm/panic_on_oom": 0, "kernel/panic": 10, "kernel/panic_on_oops": 1,
           "kernel/keys/root_maxkeys": 1_000_000, "kernel/keys/root_maxbytes": 25_000_000}


def run(*command):
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")


def are_our_own():
    """Not those of who started us."""
    return all(os.readlink(f"/proc/self/ns/{kind}") != os.readlink(f"/proc/{os.getppid()}/ns/{kind}")
               for kind in ("net", "mnt"))


def furnish(directory):
    if not are_our_own():
        raise RuntimeError("a cluster is only started in net and mount namespaces of its own: tools/e2e_kubernetes.sh")
    run("ip", "link", "set", "lo", "up")
    for address in (NODE_ADDRESS, API_ADDRESS):
        run("ip", "address", "add", f"{address}/32", "dev", "lo")
    run("ip", "route", "add", "default", "dev", "lo")
    os.makedirs(directory)
    for name, value in SYSCTLS.items():
        path = os.path.join(directory, name.replace("/", "_"))
        with open(path, "w", encoding="ascii") as file:
            file.write(f"{value}\n")
        run("mount", "--bind", path, f"/proc/sys/{name}")
