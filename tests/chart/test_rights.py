"""The agent with the rights that each profile's manifest gives, no more: what the page promises of it must hold.

No cluster: the same user, capabilities, no_new_privs and namespaces, made with setpriv and unshare. Needs root.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import deploy_page  # noqa: E402
from harness import Agent, binary, end, require, run_tests, wait_until  # noqa: E402
from manifests import manifest  # noqa: E402
from powercap import PowercapTree  # noqa: E402
from rights import ProcessRights, bits, grant  # noqa: E402


def capabilities(context, *more):
    return [*context["capabilities"].get("add", []), *more]


def command_line(context, *more):
    """The command line that leaves what a container's securityContext says, and capabilities more."""
    added = "".join(f",+{name.lower()}" for name in capabilities(context, *more))
    command = ["setpriv", f"--reuid={context['runAsUser']}", f"--regid={context['runAsGroup']}", "--clear-groups",
               "--inh-caps=-all", f"--bounding-set=-all{added}"]
    return command if context["allowPrivilegeEscalation"] else [*command, "--no-new-privs"]


def innermost(pid):
    """The agent itself, whatever was started in front of it."""
    children = True
    while children:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = file.read().split()
        pid = int(children[0]) if children else pid
    return pid


# As a runtime makes them: /proc of the new pid namespace in its place, the host's elsewhere.
IN_A_POD = """
set -e
mount --rbind /proc "$1/proc"
mount -t proc proc /proc
shift
exec "$@"
"""


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Rights(unittest.TestCase):
    def setUp(self):
        self.meter = self.enterContext(PowercapTree({"intel-rapl:0": ("package-0", 50)}))
        # As the kernel has them since 2020; written anew at each step, so the counters are constant here.
        os.chmod(self.meter.path("intel-rapl:0", "energy_uj"), 0o400)
        # The meter's tree, with the machine's cgroups: what is mounted at /host/sys.
        os.makedirs(os.path.join(self.meter.root, "fs"))
        os.symlink("/sys/fs/cgroup", os.path.join(self.meter.root, "fs/cgroup"))

    def start(self, profile, *prefix, program=None, procfs="/proc"):
        rendering = manifest(profile)
        context = rendering.agent["securityContext"]
        config = rendering.config_text.replace("/host/sys", self.meter.root).replace("/host/proc", procfs)
        agent = Agent("--monitor.interval=200ms", "--kube.node-name=node-a", config=config,
                      command_prefix=[*prefix, *command_line(context)], program=program)
        self.enterContext(agent)
        pid = innermost(agent.process.pid)
        self.addCleanup(agent.process.wait, 30)
        self.addCleanup(os.kill, pid, signal.SIGTERM)  # unshare hands no signal on
        scrape = agent.scrape_after()
        self.assertEqual(ProcessRights(pid).capabilities["CapEff"], bits(capabilities(context)))
        return scrape

    def sources(self, scrape):
        def only(family):
            return [labels["source"] for labels, value in scrape.series(family) if value]
        meters = [source for source in only("kepler_node_energy_source_info") if source != "model"]
        return only("kepler_activity_source_info"), meters

    def bpf_works_here(self):
        with Agent() as agent:
            source = self.sources(agent.scrape())[0]
        require(source == ["bpf"], f"root has {source} here")

    def test_exact(self):
        self.bpf_works_here()
        scrape = self.start("exact", "unshare", "--cgroup")
        self.assertEqual(self.sources(scrape), (["bpf"], ["rapl"]))
        # BPF tells exe without SYS_PTRACE.
        self.assertEqual([labels["exe"] for labels, _ in scrape.series(
            "kepler_process_cpu_seconds_total", pid=str(os.getpid()))], [os.readlink("/proc/self/exe")])

    def test_non_root_by_file_capabilities(self):
        self.bpf_works_here()
        folder = tempfile.mkdtemp(dir="/var/tmp")
        self.addCleanup(shutil.rmtree, folder)
        os.chmod(folder, 0o755)
        program = shutil.copy(binary(), folder)
        grant(program)
        scrape = self.start("nonroot", "unshare", "--cgroup", program=program)
        self.assertEqual(self.sources(scrape), (["bpf"], ["rapl"]))

    def test_proc(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        host = os.path.join(folder, "proc")
        os.mkdir(host)
        scrape = self.start("proc", "unshare", "--mount", "--pid", "--fork", "--kill-child", "--cgroup", "sh", "-c",
                            IN_A_POD, "sh", folder, procfs=host)
        self.assertEqual(self.sources(scrape), (["procfs"], ["rapl"]))
        # The machine's processes, not the pod's one.
        self.assertGreater(len(scrape.series("kepler_process_cpu_seconds_total")), 1)

    def test_process_names(self):
        """Another user's process tells its environment and descriptors to root with both capabilities, and not with less."""
        stranger = subprocess.Popen(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "NAME=stranger",
                                     "sleep", "100"])
        self.addCleanup(end, stranger)
        folder = f"/proc/{stranger.pid}"
        wait_until(lambda: pathlib.Path(f"{folder}/comm").read_text() == "sleep\n", "the other user's process")
        both = sorted(deploy_page.process_names())
        self.assertEqual(len(both), 2)
        for profile in ("exact", "proc"):
            context = manifest(profile).agent["securityContext"]
            for more in (both, both[:1], both[1:], []):
                # Some kernels take PERFMON for SYS_PTRACE where memory is read, as for an environment; not for descriptors.
                stands_in = "PERFMON" in capabilities(context) and more == ["DAC_READ_SEARCH"]
                for command in (["grep", "-qz", "^NAME=stranger$", f"{folder}/environ"], ["readlink", f"{folder}/fd/0"]):
                    done = subprocess.run([*command_line(context, *more), *command], capture_output=True, text=True,
                                          check=False, timeout=60)
                    with self.subTest(profile, more=more, command=command):
                        if not (stands_in and command[0] == "grep"):
                            self.assertEqual(done.returncode == 0, more == both, done.stderr)


if __name__ == "__main__":
    run_tests()
