"""A container as the agent sees it: a cgroup whose path names one. And tasks.c, to run in it."""
import atexit
import functools
import os
import shutil
import subprocess
import tempfile

from harness import require, wait_until
from workloads import Cgroup, hierarchies


def tasks_program():
    """The built tasks.c."""
    return built("tasks.c", "-pthread")


@functools.cache
def built(name, *flags):
    """The path of the program built from a C source next to this file."""
    compiler = shutil.which("cc")
    require(compiler, "there is no C compiler")
    directory = tempfile.mkdtemp(prefix="kepler-tasks-")  # on a disk: whatever is in memory may be noexec
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    os.chmod(directory, 0o755)
    program = f"{directory}/{name.removesuffix('.c')}"
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    subprocess.run([compiler, "-O2", *flags, source, "-o", program], check=True)
    return program


class Container(Cgroup):
    """Of a pod of the kubelet's."""

    made_so_far = 0

    def __init__(self):
        Container.made_so_far += 1
        self.id = f"{os.getpid():032x}{Container.made_so_far:032x}"
        super().__init__(f"/kubepods/burstable/pod1b1d9e4e-0a3c-4f0e-9d3c-{os.getpid():012x}/{self.id}")

    def popen(self, command, **options):
        """A child that runs in here from its first instruction after a shell's."""
        return subprocess.Popen(["/bin/sh", "-c", self.enter_script() + 'exec "$@"', "sh", *map(str, command)],
                                **options)

    def run_script(self, script, **options):
        """A shell in here, once it is here in every hierarchy."""
        shell = self.popen(["/bin/sh", "-c", script], **options)
        wait_until(lambda: all(self.processes_in(top + self.path) for top in hierarchies()) or shell.poll() is not None,
                   "a shell in its cgroups")
        return shell

    def at_rest(self, look):
        """(what look() gives, CPU time in ns as the kernel says): of a look during which nothing in here ran."""
        def both():
            before = self.usage_ns()
            seen = look()
            return (seen, before) if self.usage_ns() == before else None
        return wait_until(both, f"{self.path} to be idle")

    @staticmethod
    def processes_in(directory):
        with open(f"{directory}/cgroup.procs", encoding="ascii") as file:
            return file.read().split()

    def seconds(self, exposition):
        """CPU time that the agent has on it, running and ended."""
        return float(exposition.sum("kepler_container_cpu_seconds_total", container_id=self.id))
