"""Users and containers that claim to be another's container, pod or virtual machine, on the real kernel."""
import itertools
import os
import shutil
import subprocess
import sys
import unittest

from exposition import ScrapeChecker
from harness import end, python_child, require, run_tests, wait_until
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from workloads import BURN, BURNER, MACHINE, Cgroup, hierarchies

USER = 65534
NUMBERS = itertools.count(1)
# Cgroups of cpuset take no process before they have processors, so those stay where they are.
CLAIMABLE = [top for top in hierarchies() if not os.path.exists(f"{top}/cpuset.cpus")]


def directories_below(directory, top):
    for path, _, _ in os.walk(directory, topdown=False):
        if path != top:
            yield path


class Given(Cgroup):
    """A cgroup that root has given to a user, as systemd gives one to each login: the directory, and who is in it."""

    def __init__(self, path, uid):
        super().__init__(path)
        self.uid = uid

    def __enter__(self):
        super().__enter__()
        for directory in self.directories():
            for name in ("", "cgroup.procs", "tasks", "cgroup.subtree_control", "cgroup.threads"):
                if os.path.exists(path := f"{directory}/{name}"):
                    os.chown(path, self.uid, self.uid)
        return self

    def __exit__(self, *arguments):
        for directory in self.directories():
            for path in directories_below(directory, directory):
                os.rmdir(path)
        super().__exit__(*arguments)

    def burner(self, claim, program="/bin/sh", arguments=()):
        """A process of the user, which moves itself from here into a cgroup that it makes, and computes."""
        into = "".join(f"mkdir -p {top}{self.path}{claim} && echo $$ >{top}{self.path}{claim}/cgroup.procs || exit 1\n"
                       for top in CLAIMABLE)
        process = subprocess.Popen([program, "-c", f"read -r go\n{into}{BURN}", *arguments], stdin=subprocess.PIPE,
                                   user=self.uid, group=self.uid, extra_groups=[])
        for directory in self.directories():
            with open(f"{directory}/cgroup.procs", "w", encoding="ascii") as file:
                file.write(str(process.pid))
        process.stdin.write(b"go\n")
        process.stdin.flush()
        return process


class Claims(unittest.TestCase):
    """With both sources of activity."""

    def setUp(self):
        require(os.geteuid() == 0, "only root can give cgroups to users")
        self.tree = self.enterContext(PowercapTree(ONE_PACKAGE))
        self.tree.start()
        self.checker = ScrapeChecker()

    def tearDown(self):
        self.assertEqual(self.checker.problems, [])

    def name_workloads(self):
        """New ones each time: counters of a name that comes back begin again, which another test would call a fault."""
        number = f"{os.getpid():08x}{next(NUMBERS):04x}"
        self.victim, self.outer = number.rjust(64, "a"), number.rjust(64, "d")
        self.pod, self.other_pod = (f"{kind}b1d9e4e-0a3c-4f0e-9d3c-{number}" for kind in (1, 2))

    def each_source(self, test):
        for source in ("bpf", "procfs"):
            with self.subTest(source=source), metered_agent(self.tree, source=source, interval="300ms") as agent:
                self.checker.previous = None
                self.name_workloads()
                test(agent)

    def look(self, agent):
        return self.checker.check(agent.scrape_after())

    def victim_that_waits(self, cgroup):
        """Has used 0.3 seconds of CPU and waits: whatever its container uses from now on is another's."""
        process = subprocess.Popen(cgroup.command_prefix() + [sys.executable, "-c", BURNER, "0.3"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(end, process)
        self.assertTrue(process.stdout.readline())
        return process

    def seconds(self, scrape, **labels):
        return float(scrape.sum("kepler_container_cpu_seconds_total", **labels))

    def check_claim(self, agent, given, victim_cgroup, claim, claimed, runtime, pods=None):
        """The victim has its labels, and uses nothing, while the claimant is a container of its own."""
        victim = self.victim_that_waits(victim_cgroup)

        def listed():
            scrape = self.look(agent)
            return scrape if self.seconds(scrape, container_id=self.victim) >= 0.25 else None
        before = wait_until(listed, "the victim's container")
        labels = [labels for labels, _ in before.series("kepler_container_cpu_joules_total", container_id=self.victim)]
        claimant = given.burner(claim)
        try:
            def counted():
                scrape = self.look(agent)
                self.assertLess(self.seconds(scrape, container_id=self.victim), 0.7, "the victim pays for the claimant")
                return scrape if self.seconds(scrape, container_id=claimed, runtime=runtime) > 0.7 else None
            scrape = wait_until(counted, f"the claimant as {claimed}")
            self.assertEqual([labels for labels, _ in scrape.series("kepler_container_cpu_joules_total",
                                                                    container_id=self.victim)], labels)
            self.assertLess(scrape.sum("kepler_container_cpu_watts", container_id=self.victim), 1)
            self.check_pods(scrape, **(pods or {}))
            refused = {labels["kind"]: value for labels, value in
                       scrape.series("kepler_workload_claims_refused_total")}
            self.assertEqual(refused["container"], 1)
            agent.wait_log(f"kind=container id={self.victim} claimed_by={claimed.split('/')[0]} ")
            self.assertEqual(agent.log().count(" kind=container "), 1)
        finally:
            end(claimant)
            end(victim)

    def check_pods(self, scrape, **pods):
        for pod, containers in pods.items():
            self.assertEqual(scrape.value("kepler_pod_cpu_joules_total", pod_id=pod),
                             sum(scrape.sum("kepler_container_cpu_joules_total", container_id=one)
                                 for one in containers))

    def test_users_cgroup_with_the_name_of_a_container_is_a_container_of_the_user(self):
        def test(agent):
            with Cgroup(f"/docker/{self.victim}") as victim, Given(f"/given-{os.getpid()}", USER) as given:
                self.check_claim(agent, given, victim, f"/docker-{self.victim}.scope", f"uid{USER}/{self.victim}",
                                 "docker")
        self.each_source(test)

    def test_users_cgroup_with_the_id_of_another_runtimes_container_is_a_container_of_the_user(self):
        def test(agent):
            with Cgroup(f"/docker/{self.victim}") as victim, Given(f"/given-{os.getpid()}", USER) as given:
                self.check_claim(agent, given, victim, f"/cri-containerd-{self.victim}.scope",
                                 f"uid{USER}/{self.victim}", "containerd")
        self.each_source(test)

    def test_users_cgroup_with_the_name_of_a_pod_is_a_pod_of_the_user(self):
        def test(agent):
            with Cgroup(f"/kubepods/burstable/pod{self.pod}/{self.victim}") as victim, \
                    Given(f"/given-{os.getpid()}", USER) as given:
                self.check_claim(agent, given, victim, f"/kubepods/burstable/pod{self.pod}/{self.victim}",
                                 f"uid{USER}/{self.victim}", "kubernetes",
                                 {self.pod: [self.victim], f"uid{USER}/{self.pod}": [f"uid{USER}/{self.victim}"]})
        self.each_source(test)

    def test_claim_of_a_container_for_another_pod_leaves_it_in_its_pod(self):
        def test(agent):
            with Cgroup(f"/kubepods/burstable/pod{self.pod}/{self.victim}") as victim, \
                    Given(f"/given-{os.getpid()}", USER) as given:
                claimed = f"uid{USER}/{self.victim}"
                self.check_claim(agent, given, victim, f"/kubepods/pod{self.other_pod}/{self.victim}", claimed,
                                 "kubernetes", {self.pod: [self.victim], f"uid{USER}/{self.other_pod}": [claimed]})
        self.each_source(test)

    def test_root_of_a_container_claims_within_it_only(self):
        def test(agent):
            with Cgroup(f"/docker/{self.victim}") as victim, Given(f"/docker/{self.outer}", 0) as outer:
                self.check_claim(agent, outer, victim, f"/docker/{self.victim}", f"{self.outer[:12]}/{self.victim}",
                                 "docker")
        self.each_source(test)

    def test_pod_within_a_pod_is_a_part_of_it(self):
        def test(agent):
            with Cgroup(f"/kubepods/burstable/pod{self.pod}/{self.victim}") as victim, \
                    Given(f"/kubepods/besteffort/pod{self.other_pod}/{self.outer}", 0) as outer:
                claimed = f"{self.outer[:12]}/{self.victim}"
                self.check_claim(agent, outer, victim, f"/kubepods/burstable/pod{self.pod}/{self.victim}", claimed,
                                 "kubernetes", {self.pod: [self.victim], self.other_pod: [self.outer, claimed]})
        self.each_source(test)

    def test_rootless_container_has_a_series_of_its_own(self):
        def test(agent):
            with Given(f"/user.slice/user-{USER}.slice/user@{USER}.service", USER) as login:
                process = login.burner(f"/user.slice/libpod-{self.victim}.scope/container")
                try:
                    def listed():
                        scrape = self.look(agent)
                        return scrape if self.seconds(scrape, container_id=f"uid{USER}/{self.victim}") > 0.5 else None
                    scrape = wait_until(listed, "the user's container")
                    labels, _ = scrape.series("kepler_process_cpu_joules_total", pid=process.pid, state="running")[0]
                    self.assertEqual((labels["type"], labels["container_id"]),
                                     ("container", f"uid{USER}/{self.victim}"))
                    self.assertEqual(scrape.sum("kepler_workload_claims_refused_total"), 0,
                                     "it claims no other workload's id")
                finally:
                    end(process)
        self.each_source(test)


class Machines(unittest.TestCase):
    def setUp(self):
        require(os.geteuid() == 0, "only root can run programs as two users")
        self.tree = self.enterContext(PowercapTree(ONE_PACKAGE))
        self.tree.start()
        self.checker = ScrapeChecker()
        self.agent = self.enterContext(metered_agent(self.tree, interval="300ms"))
        self.uuid = f"7f1d3c52-0d5b-4c3e-9f0a-{os.getpid():08x}{next(NUMBERS):04x}"
        self.program = f"{self.tree.root}/qemu-system-x86_64"
        shutil.copy(shutil.which("dash") or "/bin/sh", self.program)

    def tearDown(self):
        self.assertEqual(self.checker.problems, [])

    def start(self, name, prefix=(), **options):
        """A shell that calls itself QEMU, with an id that everybody can read, and computes."""
        process = subprocess.Popen([*prefix, self.program, "-c", "--", BURN, "-uuid", self.uuid, "-name", name],
                                   **options)
        self.addCleanup(end, process)
        return process

    def machine(self, name):
        """The scrape in which the machine is called so and has used something, once there is one."""
        def is_it():
            scrape = self.checker.check(self.agent.scrape_after())
            found = scrape.series("kepler_vm_cpu_joules_total", vm_id=self.uuid, state="running")
            self.assertLessEqual(len(found), 1)
            return scrape if [labels["vm_name"] for labels, value in found if value > 0] == [name] else None
        return wait_until(is_it, f"the energy of the machine {name}")

    def check_takeover(self, start, evidence):
        squatter = self.start("stolen", user=USER, group=USER, extra_groups=[])
        before = self.machine("stolen")
        owner = start()
        scrape = self.machine("web")
        for pid, kind, vm in ((owner.pid, "vm", self.uuid), (squatter.pid, "regular", "")):
            labels, _ = scrape.series("kepler_process_cpu_joules_total", pid=pid, state="running")[0]
            self.assertEqual((labels["type"], labels["vm_id"]), (kind, vm))
        self.assertEqual(scrape.value("kepler_vm_cpu_joules_total", vm_id=self.uuid),
                         scrape.value("kepler_process_cpu_joules_total", pid=owner.pid, state="running"))
        departed = scrape.sum("kepler_node_cpu_unlisted_joules_total", level="vm", reason="departed")
        self.assertGreaterEqual(departed, before.value("kepler_vm_cpu_joules_total", vm_id=self.uuid))
        self.agent.wait_log(f"takes over a virtual machine.*vm_id={self.uuid} .*pid={owner.pid} uid=0 "
                            f"evidence={evidence} former_pid={squatter.pid} former_uid={USER} former_evidence=name")
        self.machine("web")
        self.assertEqual(self.agent.log().count("takes over a virtual machine"), 1)
        return scrape.value("kepler_workload_claims_refused_total", kind="vm")

    def test_machine_in_libvirts_scope_takes_over_from_who_was_first(self):
        scope = self.enterContext(Cgroup(f"/machine.slice/machine-qemu-{os.getpid()}-web.scope"))
        self.assertEqual(self.check_takeover(lambda: self.start("web", scope.command_prefix()), "scope"), 1)

    def test_machine_of_kvm_takes_over_from_who_has_none(self):
        if not os.access("/dev/kvm", os.R_OK | os.W_OK):
            self.skipTest("there is no KVM here")

        def start():
            process = python_child(MACHINE, "-name", "guest=web", "-uuid", self.uuid)
            self.addCleanup(end, process)
            return process
        self.check_takeover(start, "kvm")


if __name__ == "__main__":
    run_tests()
