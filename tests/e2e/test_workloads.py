"""Processes, containers and pods with something odd about them, on the real kernel."""
import os
import re
import shutil
import subprocess
import unittest

from containers import tasks_program
from exposition import ScrapeChecker
from harness import OPENMETRICS, end, python_child, require, run_tests, scratch_directory, wait_until
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from prometheus import strict_openmetrics
from workloads import BURN, BURNER, BURNER_AT, NAMED_BURNER, Cgroup, Podman, burners

MACHINE_ID = f"7f1d3c52-{os.getpid():x}"
NAMES = {
    b'say "\\n" \\ "x"': 'say "\\n" \\ "x"',
    b"two\nlines": "two\nlines",
    b"caf\xc3": "caf\ufffd",
    b"\xff\xfe{}=,#": "\ufffd\ufffd{}=,#",
    "größe €".encode(): "größe €",
}


class Workloads(unittest.TestCase):
    def setUp(self):
        self.tree = self.enterContext(PowercapTree(ONE_PACKAGE))
        self.checker = ScrapeChecker()

    def tearDown(self):
        self.assertEqual(self.checker.problems, [])

    def start_agent(self, **options):
        agent = self.enterContext(metered_agent(self.tree, interval="300ms", **options))
        self.tree.start()
        return agent

    def burner(self, *args, code=BURNER):
        """A Python that has done its work and now waits: (process, seconds of CPU)."""
        process = python_child(code, *args, stdin=subprocess.PIPE)
        self.addCleanup(end, process)
        line = process.stdout.readline()
        return process, float(line) if line else None

    def look(self, agent):
        return self.checker.check(agent.scrape_after())

    def test_comm_of_any_bytes_is_a_valid_label_in_both_formats(self):
        agent = self.start_agent()
        pids = {str(self.burner(name.hex(), 0.05, code=NAMED_BURNER)[0].pid): label for name, label in NAMES.items()}
        scrape = self.look(agent)
        seen = {labels["pid"]: labels["comm"] for labels, _ in scrape.series("kepler_process_cpu_seconds_total")}
        self.assertEqual({pid: seen.get(pid) for pid in pids}, pids)
        families = {family.name: family for family in strict_openmetrics(agent.text(OPENMETRICS))}
        strict = {s.labels["pid"]: s.labels["comm"] for s in families["kepler_process_cpu_seconds"].samples}
        self.assertEqual({pid: strict.get(pid) for pid in pids}, pids)

    def test_reused_pid_starts_at_zero(self):
        require(os.geteuid() == 0, "only root can choose a pid")
        agent = self.start_agent(config="monitor:\n  minTerminatedEnergyThreshold: 0\n")
        first, used = self.burner(0.6)
        pid = first.pid

        def seconds(exposition):
            return float(exposition.sum("kepler_process_cpu_seconds_total", pid=pid))
        self.assertAlmostEqual(seconds(self.look(agent)), used, delta=0.1)
        end(first)

        def again():
            second, used_again = self.burner(pid, BURNER, 0.05, code=BURNER_AT)
            return (second, used_again) if used_again is not None else None
        _, used_again = wait_until(again, f"pid {pid} to be free", 20)
        scrape = agent.scrape_after()
        # The new process has the labels of the dead one, so this one counter begins again.
        self.assertEqual(len(scrape.series("kepler_process_cpu_seconds_total", pid=pid)), 1)
        self.assertAlmostEqual(seconds(scrape), used_again, delta=0.1)
        self.assertLess(seconds(scrape), used / 2)
        self.checker.previous = None
        self.checker.check(scrape)

    def test_limits_cut_series_and_lose_no_joule(self):
        agent = self.start_agent(config="exporter: {prometheus: {limits: "
                                        "{maxProcesses: 2, kernelThreads: one, maxLabelLength: 16}}}\n")
        # Enough threads that no other process of a busy machine gets as much time.
        burners = [subprocess.Popen([tasks_program(), "burn", "600000", "32"]) for _ in range(2)]
        for burner in burners:
            self.addCleanup(end, burner)
        pids = {str(burner.pid) for burner in burners}

        def listed():
            scrape = self.look(agent)
            watts = scrape.series("kepler_process_cpu_watts", state="running", zone=scrape.zones()[0])
            found = {labels["pid"] for labels, _ in watts}
            self.assertLessEqual(len(found - {"2"}), 2)
            return (scrape, found) if pids <= found else None
        scrape, found = wait_until(listed, "the two that are busy to have the two series", 60)
        self.assertLessEqual(found, pids | {"2"})
        cut = {labels["limit"]: int(value) for labels, value in scrape.series("kepler_cut_series")}
        self.assertEqual(set(cut), {"kernel_threads", "max_processes", "min_watts"})
        self.assertGreater(cut["max_processes"], 0)
        self.assertEqual(cut["min_watts"], 0)
        with open("/proc/2/comm", encoding="utf-8") as comm:  # a sandbox may show none
            visible = comm.read() == "kthreadd\n"
        self.assertEqual((cut["kernel_threads"] > 0, "2" in found), (visible, visible))
        self.assertTrue(all(len(labels["exe"]) <= 16 for labels, _ in scrape.series("kepler_process_cpu_watts")))
        capped = scrape.sum("kepler_node_cpu_unlisted_joules_total", level="process", reason="capped")
        self.assertGreater(capped, 0)

    def test_container_whose_environment_is_unreadable_is_still_listed(self):
        podman = self.enterContext(Podman())
        agent = self.start_agent(user=65534, group=65534, extra_groups=[])
        container = podman.start(burners(1, 1) + "; exec sleep 1000")

        def listed():
            found = self.look(agent).series("kepler_container_cpu_joules_total", container_id=container)
            return [labels for labels, value in found if value > 0]
        labels = wait_until(listed, "the container's energy", 30)
        self.assertEqual([(one["runtime"], one["state"]) for one in labels], [("podman", "running")])

    def test_pod_of_the_kubelet_and_its_container_are_listed(self):
        pod, container = f"1b1d9e4e-0a3c-4f0e-9d3c-{os.getpid():012x}", f"{os.getpid():064x}"
        cgroup = self.enterContext(Cgroup(f"/kubepods/burstable/pod{pod}/{container}"))
        agent = self.start_agent()
        shell = subprocess.Popen(["/bin/sh", "-c", cgroup.enter_script() + f"exec timeout 60 sh -c '{BURN}'"])
        try:
            def listed():
                scrape = self.look(agent)
                values = scrape.series("kepler_container_cpu_joules_total", container_id=container, state="running")
                return scrape if values and values[0][1] > 0 else None
            scrape = wait_until(listed, "the container's energy", 30)
            labels, joules = scrape.series("kepler_container_cpu_joules_total", container_id=container)[0]
            self.assertEqual((labels["runtime"], labels["pod_id"]), ("kubernetes", pod))
            self.assertGreaterEqual(scrape.value("kepler_pod_cpu_joules_total", pod_id=pod), joules)
        finally:
            shell.terminate()
            shell.wait()
        wait_until(lambda: self.look(agent).series("kepler_process_cpu_joules_total", container_id=container,
                                                   state="running") == [], "the burner to be gone")


    def fake_machine(self, name, **options):
        """A shell that calls itself QEMU, with an id that everybody can read, and computes."""
        program = f"{self.tree.root}/qemu-system-x86_64"
        if not os.path.exists(program):
            shutil.copy(shutil.which("dash") or "/bin/sh", program)
        process = subprocess.Popen([program, "-c", "--", BURN, "-uuid", MACHINE_ID, "-name", name], **options)
        self.addCleanup(end, process)
        return process

    def test_another_users_process_with_the_id_of_a_machine_is_a_plain_process(self):
        require(os.geteuid() == 0, "only root can run programs as two users")
        agent = self.start_agent()
        owner = self.fake_machine("web")

        def machine(name):
            scrape = self.look(agent)
            found = scrape.series("kepler_vm_cpu_joules_total", vm_id=MACHINE_ID, state="running")
            self.assertLessEqual(len(found), 1)
            return scrape if [labels["vm_name"] for labels, value in found if value > 0] == [name] else None
        wait_until(lambda: machine("web"), "the machine's energy")
        thief = self.fake_machine("stolen", user=65534, group=65534, extra_groups=[])

        def thief_listed():
            scrape = machine("web")
            found = scrape.series("kepler_process_cpu_joules_total", pid=thief.pid)
            return scrape if found and found[0][1] > 0 else None
        scrape = wait_until(thief_listed, "the thief's own energy")
        labels, _ = scrape.series("kepler_process_cpu_joules_total", pid=thief.pid)[0]
        self.assertEqual((labels["type"], labels["vm_id"]), ("regular", ""))
        self.assertEqual(scrape.sum("kepler_process_cpu_joules_total", vm_id=MACHINE_ID),
                         scrape.value("kepler_vm_cpu_joules_total", vm_id=MACHINE_ID))
        said = rf"vm_id={MACHINE_ID} .*pid={thief.pid} uid=65534 owner_pid={owner.pid} owner_uid=0"
        agent.wait_log(said)
        end(owner)
        wait_until(lambda: machine("stolen"), "the other's machine, once the owner's has ended")
        self.assertEqual(len(re.findall(said, agent.log())), 1)


class ManyProcesses(unittest.TestCase):
    COUNT = 30_000

    def setUp(self):
        self.root = scratch_directory()
        self.addCleanup(shutil.rmtree, self.root)
        for directory in ("self", "shared"):
            os.mkdir(f"{self.root}/{directory}")
        self.write("self/status", "Name:\tx\nNSpid:\t1\n")
        self.write("self/cgroup", "0::/\n")
        self.write("self/mountinfo", "")
        self.write("shared/cgroup", "0::/\n")
        self.write("cpuinfo", "")
        os.symlink("/bin/task", f"{self.root}/shared/exe")
        self.machine(0)
        for pid in range(1, self.COUNT + 1):
            os.mkdir(f"{self.root}/{pid}")
            self.process(pid, 0)
            for name in ("cgroup", "exe"):
                os.link(f"{self.root}/shared/{name}", f"{self.root}/{pid}/{name}", follow_symlinks=False)

    def write(self, name, text):
        with open(f"{self.root}/{name}", "w", encoding="ascii") as file:
            file.write(text)

    def machine(self, busy_ticks):
        self.write("stat", f"cpu  {busy_ticks} 0 0 {1000 + busy_ticks} 0 0 0 0 0 0\n")

    def process(self, pid, ticks):
        kernel_thread = 0x00200000 if pid == 2 else 0
        self.write(f"{pid}/stat", f"{pid} (task{pid}) S 1 1 1 0 -1 {kernel_thread} 0 0 0 0 "
                                  f"{ticks} 0 0 0 20 0 1 0 {pid} 0 0\n")

    def test_30000_processes_are_all_listed_and_add_up(self):
        checker = ScrapeChecker()
        with PowercapTree(ONE_PACKAGE) as tree, metered_agent(tree, "--host.procfs", self.root, interval="1s") as agent:
            checker.check(agent.scrape())
            tree.start()
            for pid in range(1, self.COUNT + 1, 100):
                self.process(pid, pid % 7 + 1)
            self.machine(100)
            scrape = checker.check(agent.scrape_after())
            listed = scrape.series("kepler_process_cpu_joules_total")
            self.assertEqual(len(listed), self.COUNT)
            self.assertTrue(any(value > 0 for _, value in listed))
            self.assertLess(agent.rss_bytes(), 400 << 20)
        self.assertEqual(checker.problems, [])


if __name__ == "__main__":
    run_tests()
