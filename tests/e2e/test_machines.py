"""Virtual machines of programs that no list knows, and of libvirt in a pod, on the real kernel."""
import os
import shutil
import subprocess
import unittest

from exposition import ScrapeChecker
from harness import end, python_child, require, run_tests, wait_until
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from workloads import BURN, MACHINE, Cgroup

# What a virt-launcher that is not root has: a file system and a pid namespace of its own, the state of its libvirt in /run.
LAUNCHER = """
mount -t tmpfs none /run && mkdir -p /run/libvirt/qemu/run &&
echo "<domstatus state='running' pid='$$'><domain type='kvm'><name>shop_web</name><uuid>{uuid}</uuid></domain>
</domstatus>" >/run/libvirt/qemu/run/shop_web.xml &&
exec {program} -c -- '{burn}' -name guest=shop_web,debug-threads=on
"""
UUID = f"7f1d3c52-0d5b-4c3e-9f0a-{os.getpid():012x}"


class Machines(unittest.TestCase):
    def setUp(self):
        require(os.geteuid() == 0, "only root may see what other users' processes have open")
        self.tree = self.enterContext(PowercapTree(ONE_PACKAGE))
        self.checker = ScrapeChecker()
        self.agent = self.enterContext(metered_agent(self.tree, interval="300ms"))
        self.tree.start()

    def tearDown(self):
        self.assertEqual(self.checker.problems, [])

    def machine(self, **labels):
        """The scrape in which the machine has used something, once there is one."""
        def used():
            scrape = self.checker.check(self.agent.scrape_after())
            found = scrape.series("kepler_vm_cpu_joules_total", **labels)
            return scrape if found and found[0][1] > 0 else None
        return wait_until(used, f"the energy of the machine {labels}", 30)

    def test_a_program_that_nobody_knows_is_a_machine_once_it_holds_one(self):
        if not os.access("/dev/kvm", os.R_OK | os.W_OK):
            self.skipTest("there is no KVM here")
        process = python_child(MACHINE, "-name", "guest=acme", "-uuid", UUID, text=True)
        self.addCleanup(end, process)
        self.assertEqual(process.stdout.readline(), "anon_inode:kvm-vm\n")
        scrape = self.machine(vm_id=UUID, vm_name="acme", hypervisor="kvm")
        labels, joules = scrape.series("kepler_process_cpu_joules_total", pid=process.pid, state="running")[0]
        self.assertEqual((labels["type"], labels["vm_id"]), ("vm", UUID))
        self.assertEqual(scrape.value("kepler_vm_cpu_joules_total", vm_id=UUID), joules)

    def test_machine_of_libvirt_in_a_pod_is_named_by_libvirt_and_stays_in_its_pod(self):
        pod, container = "1b1d9e4e-0a3c-4f0e-9d3c-2f0a6b0c7d5e", f"{os.getpid():064x}"
        cgroup = self.enterContext(Cgroup(f"/kubepods/burstable/pod{pod}/{container}"))
        program = f"{self.tree.root}/qemu-kvm"
        shutil.copy(shutil.which("dash") or "/bin/sh", program)
        inside = LAUNCHER.format(program=program, uuid=UUID, burn=BURN)
        process = subprocess.Popen(["/bin/sh", "-c", cgroup.enter_script() + 'exec unshare -mpf --kill-child sh -c "$0"',
                                    inside])
        self.addCleanup(end, process)
        scrape = self.machine(vm_id=UUID, vm_name="shop_web", hypervisor="kvm")
        used = scrape.value("kepler_vm_cpu_joules_total", vm_id=UUID)
        labels, joules = scrape.series("kepler_process_cpu_joules_total", vm_id=UUID, state="running")[0]
        self.assertEqual((labels["type"], labels["container_id"], joules), ("container", container, used))
        in_container = scrape.value("kepler_container_cpu_joules_total", container_id=container, pod_id=pod)
        self.assertGreaterEqual(in_container, used)
        self.assertEqual(scrape.value("kepler_pod_cpu_joules_total", pod_id=pod), in_container)


if __name__ == "__main__":
    run_tests()
